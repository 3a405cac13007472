import type { Order, Wish } from './order';

export interface Match {
	order: Order;
	by: 'request' | 'key' | 'source';
}

/**
 * Finds each wish of a run among known orders. Pure.
 *
 * It is found by what would be ordered: the same request in any run, or its Order Key. The time of day, chance or a model
 * can change a prompt from try to try, so the rest is found by its source in the same run. Nothing else is guessed.
 */
export function match(wishes: readonly Wish[], known: readonly Order[]): Map<Wish, Match> {
	const pairs = new Map<Wish, Match>();
	const left = new Set([...known].sort((one, other) => one.run - other.run));
	const pairBy = (by: Match['by'], nameOf: (order: Wish | Order) => string | undefined) => {
		const byName = new Map<string | undefined, Order[]>();
		for (const order of left) {
			const name = nameOf(order);
			const same = byName.get(name);
			if (same) same.push(order);
			else byName.set(name, [order]);
		}
		for (const wish of wishes) {
			const name = nameOf(wish);
			if (name === undefined || pairs.has(wish)) continue;
			const order = byName.get(name)?.shift();
			if (order === undefined) continue;
			pairs.set(wish, { order, by });
			left.delete(order);
		}
	};
	pairBy('request', ({ id }) => id);
	pairBy('request', ({ request }) => request);
	pairBy('key', ({ key }) => key);
	pairBy('source', (order) => (isReworded(order) ? `${order.run} ${order.source}` : undefined));
	return pairs;
}

/**
 * The known orders that may be one of the wishes that {@link match} has left: of the same run, or of the same item in
 * another run of a loop, whose list may have changed. Pure.
 */
export function unmatchedOf(
	lines: ReadonlyArray<{ wish: Wish; found?: Match }>,
	journal: { open: readonly Order[]; isOfTool: boolean; isUnderWay(order: Order): boolean },
): Order[] {
	const [first] = lines;
	if (!first) return [];
	const { parameters, run } = first.wish;
	const matched = new Set(lines.map(({ found }) => found?.order));
	const sources = new Set(lines.flatMap(({ wish, found }) => (found ? [] : wish.source)));
	return journal.open.filter((order) => {
		// Each call of a tool is a run, and one after an unknown outcome may repeat it.
		const mayRepeat = journal.isOfTool && order.state !== 'answered' && !journal.isUnderWay(order);
		const isOfRun = order.run === run || mayRepeat;
		const mayBeOne = isOfRun || sources.has(order.source);
		return mayBeOne && isReworded(order) && order.parameters === parameters && !matched.has(order);
	});
}

/** Whether it may be found by its source: with a key it is found by that alone, and with parts by its request. */
const isReworded = (order: Wish | Order) =>
	order.key === undefined && !('state' in order && order.state === 'new');
