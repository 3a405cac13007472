import type { Known, Order } from './order';

/** What is known of an order, and by what it is told to be the same. */
export interface Match {
	known: Known;
	by: 'request' | 'key' | 'item' | Guess;
}

/** What does not tell for sure which order it is. */
type Guess = 'equalItem' | 'place' | 'number';

/**
 * Pairs the orders of a run with those that are known of its other tries. Pure.
 *
 * The same request is the same order, in whatever run. What is left then was worded anew by the time of day, by chance
 * or by a model, unless somebody has changed the node. It is told by its Order Key, or by its input item, where that is
 * the only one of its kind or was stored with the execution. Else it is a guess: an order for an equal item, one at
 * its place, or one of as many as there are in the run.
 */
export function match(orders: readonly Order[], known: readonly Known[]): Map<Order, Match> {
	const pairs = new Map<Order, Match>();
	const left = new Set([...known].sort((one, other) => runOf(one) - runOf(other)));
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
	// Of equal items, n8n's database knows how many of them were ordered.
	pairBy('item', (order) =>
		order.state === undefined || isMark(order)
			? ifWritten(order, order.item, order.itemCount)
			: undefined,
	);
	const isOnly = onlyItems(orders, known);
	pairBy('item', (order) => (isOnly(order) ? ifWritten(order, order.item) : undefined));
	pairBy('equalItem', (order) => ifWritten(order, order.item, order.run, order.place));
	pairBy('equalItem', (order) => ifWritten(order, order.item));
	pairBy('place', placed);
	pairBy('number', (order) => ifWritten(order, order.run));
	return pairs;
}

/** Whether it may be another order: its result is not delivered, and it is not sent again either. */
export const isGuess = ({ by }: Pick<Match, 'by'>): boolean =>
	by === 'equalItem' || by === 'place' || by === 'number';

/** Whether n8n's database knows no more than that something was sent. */
const isMark = ({ state, id }: Partial<Known>) => state === 'sent' && id === undefined;

/**
 * Tells whether an input item is the only one of its kind, so that what is known of such an item is this one's. Later
 * runs count only where no run so far has ordered for such an item.
 */
function onlyItems(
	orders: readonly Order[],
	known: readonly Known[],
): (order: Partial<Known>) => boolean {
	const [{ run } = { run: 0 }] = orders;
	const wanted = countItems(orders);
	const soFar = countItems(known.filter((entry) => runOf(entry) <= run));
	const later = countItems(known.filter((entry) => runOf(entry) > run));
	return ({ item = '' }) => wanted.get(item) === 1 && (soFar.get(item) ?? later.get(item)) === 1;
}

function countItems(entries: ReadonlyArray<Partial<Known>>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { item = '' } of entries) counts.set(item, (counts.get(item) ?? 0) + 1);
	return counts;
}

const runOf = ({ run = 0 }: Partial<Known>) => run;
