import type { Known, Order } from './order';

/** What is known of an order, and by what it is told to be the same. */
export interface Match {
	known: Known;
	by: 'request' | 'key' | 'item' | 'place' | 'number';
}

/**
 * Pairs the orders of a run with those that are known of its other tries. Pure.
 *
 * The same request is the same order, in whatever run. What is left then was worded anew by the time of day, by chance
 * or by a model, unless somebody has changed the node. It is told by its Order Key, or by its input item, where that is
 * the only one of its kind or was stored with the execution; else by its place, or by how many there are in the run,
 * which do not tell for sure which one it is.
 */
export function match(orders: readonly Order[], known: readonly Known[]): Map<Order, Match> {
	const pairs = new Map<Order, Match>();
	const left = new Set(known);
	const pairBy = (by: Match['by'], mark: (order: Partial<Known>) => unknown) => {
		if (left.size === 0) return;
		const byMark = new Map<unknown, Known[]>();
		for (const entry of left) {
			const same = byMark.get(mark(entry));
			if (same) same.push(entry);
			else byMark.set(mark(entry), [entry]);
		}
		for (const order of orders) {
			const own = mark(order);
			if (own === undefined || pairs.has(order)) continue;
			const entry = byMark.get(own)?.shift();
			if (entry === undefined) continue;
			pairs.set(order, { known: entry, by });
			left.delete(entry);
		}
	};
	pairBy('request', ({ id }) => id);
	pairBy('request', ({ request }) => request);
	pairBy('key', ({ key }) => key);
	// What has a key is told by that alone, and parts belong to their request.
	const written = ({ key, state, ...order }: Partial<Known>) =>
		key === undefined && state !== 'new' ? order.written : undefined;
	const ifWritten = (order: Partial<Known>, ...marks: unknown[]) =>
		written(order) === undefined || marks.includes(undefined)
			? undefined
			: [written(order), ...marks].join(' ');
	const placed = (order: Partial<Known>) => ifWritten(order, order.run, order.place);
	// Of what n8n has stored with the execution, the items are the same as well, and at the same places.
	pairBy('item', (order) => (order.isRecalled || isMark(order) ? undefined : placed(order)));
	const [orderItems, knownItems] = [orders, known].map(countItems);
	const isOnly = ({ item = '' }: Partial<Known>) =>
		orderItems.get(item) === 1 && knownItems.get(item) === 1;
	pairBy('item', (order) => (isOnly(order) ? ifWritten(order, order.item) : undefined));
	pairBy('place', placed);
	pairBy('number', (order) => ifWritten(order, order.run));
	return pairs;
}

/** Whether it may be another order: its result is not delivered, and it is not sent again either. */
export const isGuess = ({ by }: Pick<Match, 'by'>) => by === 'place' || by === 'number';

/** Whether n8n's database knows no more than that something was sent. */
const isMark = ({ state, id }: Partial<Known>) => state === 'sent' && id === undefined;

function countItems(entries: ReadonlyArray<Partial<Known>>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { item = '' } of entries) counts.set(item, (counts.get(item) ?? 0) + 1);
	return counts;
}
