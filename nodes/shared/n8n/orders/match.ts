import type { Entry } from './entry';
import type { Order } from './identity';

/** What is known of an order, and what shows that it is the same order. */
export interface Match {
	entry: Entry;
	by: 'request' | 'key' | 'item';
}

/**
 * Pairs the orders of a run with known orders of its other tries. Pure.
 *
 * The same request is the same order, in any run. A request that is left then may still be a known order in other
 * words: the time of day, chance or a model can change a prompt from try to try. Such an order is found by its Order
 * Key, or by its input item if that was stored with the execution or is unique. Where the node was edited, only the
 * request and the key count.
 */
export function match(orders: readonly Order[], known: readonly Entry[]): Map<Order, Match> {
	const pairs = new Map<Order, Match>();
	const left = new Set([...known].sort((one, other) => one.run - other.run));
	const pairBy = (by: Match['by'], nameOf: (order: Order | Entry) => string | undefined) => {
		const byName = new Map<string | undefined, Entry[]>();
		for (const entry of left) {
			const name = nameOf(entry);
			const same = byName.get(name);
			if (same) same.push(entry);
			else byName.set(name, [entry]);
		}
		for (const order of orders) {
			const name = nameOf(order);
			if (name === undefined || pairs.has(order)) continue;
			const entry = byName.get(name)?.shift();
			if (entry === undefined) continue;
			pairs.set(order, { entry, by });
			left.delete(entry);
		}
	};
	pairBy('request', ({ id }) => id);
	pairBy('request', ({ request }) => request);
	pairBy('key', ({ key }) => key);
	// n8n stored the items in this order, so the item at the same index is the same.
	pairBy('item', (order) =>
		isReworded(order) && !('isRecalled' in order && order.isRecalled)
			? `${order.parameters} ${order.run} ${order.index}`
			: undefined,
	);
	const isUnique = uniqueItemTest(orders, known);
	pairBy('item', (order) =>
		isReworded(order) && isUnique(order) ? `${order.parameters} ${order.item}` : undefined,
	);
	return pairs;
}

/**
 * The known orders that may be one of the orders which {@link match} has left: they are of the same run, and nothing
 * tells which they are. Pure.
 * @param isOfTool whether each call of an agent is a run: a call after one with an unknown outcome may repeat it
 */
export function unmatchedOf(
	{ parameters, run }: Pick<Order, 'parameters' | 'run'>,
	{
		known,
		pairs,
		isOfTool,
	}: { known: readonly Entry[]; pairs: Iterable<Match>; isOfTool: boolean },
): Entry[] {
	const matched = new Set([...pairs].map(({ entry }) => entry));
	return known.filter((entry) => {
		const isUnclear = entry.state !== 'answered' && entry.isUnderWay === undefined;
		const isOfRun = entry.run === run || (isOfTool && isUnclear);
		return isOfRun && isReworded(entry) && entry.parameters === parameters && !matched.has(entry);
	});
}

/** Whether an order can be found in other words: one with a key is found by that alone, and parts are of their request. */
const isReworded = (order: Order | Entry) =>
	order.key === undefined && !('state' in order && order.state === 'new');

/**
 * Whether an input item is unique, so that what is known of an equal item is about this one. Later runs count only
 * where no run so far has ordered for an equal item.
 */
function uniqueItemTest(
	orders: readonly Order[],
	known: readonly Entry[],
): (order: Order) => boolean {
	const [{ run } = { run: 0 }] = orders;
	const own = countItems(orders);
	const soFar = countItems(known.filter((entry) => entry.run <= run));
	const later = countItems(known.filter((entry) => entry.run > run));
	return ({ item = '' }) => own.get(item) === 1 && (soFar.get(item) ?? later.get(item)) === 1;
}

function countItems(orders: readonly Order[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { item = '' } of orders) counts.set(item, (counts.get(item) ?? 0) + 1);
	return counts;
}
