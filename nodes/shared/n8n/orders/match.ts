import type { Known, Order } from './order';

/** What is known of an order, and what shows that it is the same order. */
export interface Match {
	known: Known;
	by: 'request' | 'key' | 'item' | Guess;
}

/** Marks that do not prove that it is the same order. */
type Guess = 'equalItem' | 'place' | 'number';

/**
 * Pairs the orders of a run with known orders of its other tries. Pure.
 *
 * The same request is the same order, in any run. A request that is left then may still be a known order in other
 * words: the time of day, chance or a model can change a prompt from try to try. Such an order is found by its Order
 * Key, or by its input item if that is unique or was stored with the execution. Otherwise the pair is a guess: by an
 * equal item, by its place, or by the number of orders in the run. When the node was edited, only the request and the
 * key count.
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
	// An order with a key is found by that alone, and parts belong to their request.
	const written = ({ key, state, ...order }: Partial<Known>) =>
		key === undefined && state !== 'new' ? order.written : undefined;
	const ifWritten = (order: Partial<Known>, ...marks: unknown[]) =>
		written(order) === undefined || marks.includes(undefined)
			? undefined
			: [written(order), ...marks].join(' ');
	const placed = (order: Partial<Known>) => ifWritten(order, order.run, order.place);
	// What n8n stored with the execution has the same items at the same places.
	pairBy('item', (order) => (order.isRecalled || isMark(order) ? undefined : placed(order)));
	// n8n's database knows how many of several equal items were ordered.
	pairBy('item', (order) =>
		order.state === undefined || isMark(order)
			? ifWritten(order, order.item, order.itemCount)
			: undefined,
	);
	const isUnique = uniqueItemTest(orders, known);
	pairBy('item', (order) => (isUnique(order) ? ifWritten(order, order.item) : undefined));
	pairBy('equalItem', (order) => ifWritten(order, order.item, order.run, order.place));
	pairBy('equalItem', (order) => ifWritten(order, order.item));
	pairBy('place', placed);
	pairBy('number', (order) => ifWritten(order, order.run));
	return pairs;
}

/** Whether it may be another order. Its result is then not delivered, and it is not sent again either. */
export const isGuess = ({ by }: Pick<Match, 'by'>): boolean =>
	by === 'equalItem' || by === 'place' || by === 'number';

/** Whether it is a mark in n8n's database, which only says that something was sent for an item or a place. */
const isMark = ({ state, id }: Partial<Known>) => state === 'sent' && id === undefined;

/**
 * Whether an input item is unique, so that what is known of an equal item is about this one. Later runs count only
 * where no run so far has ordered for an equal item.
 */
function uniqueItemTest(
	orders: readonly Order[],
	known: readonly Known[],
): (order: Partial<Known>) => boolean {
	const [{ run } = { run: 0 }] = orders;
	const own = countItems(orders);
	const soFar = countItems(known.filter((entry) => runOf(entry) <= run));
	const later = countItems(known.filter((entry) => runOf(entry) > run));
	return ({ item = '' }) => own.get(item) === 1 && (soFar.get(item) ?? later.get(item)) === 1;
}

function countItems(entries: ReadonlyArray<Partial<Known>>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { item = '' } of entries) counts.set(item, (counts.get(item) ?? 0) + 1);
	return counts;
}

const runOf = ({ run = 0 }: Partial<Known>) => run;
