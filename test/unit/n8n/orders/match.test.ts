import { match, unmatchedOf } from '../../../../nodes/shared/n8n/orders/match';
import type { Order, Wish } from '../../../../nodes/shared/n8n/orders/order';

/** A wish for this request, of an item with this name. */
const wish = (request: string, item: string, more: Partial<Wish> = {}): Wish => ({
	id: `id of ${request}`,
	request,
	count: 0,
	run: 0,
	parameters: 'node',
	source: `source ${item}`,
	...more,
});
const sent = (known: Wish): Order => ({ ...known, state: 'sent', timesSent: 1 });

const matched = (wishes: Wish[], known: Order[]) => {
	const pairs = match(wishes, known);
	return wishes.map((one) => {
		const found = pairs.get(one);
		return found && `${found.by}: ${found.order.request}`;
	});
};

describe('finding the wishes of a run among known orders', () => {
	it('tells equal requests apart by their IDs', () => {
		const [first, second] = [wish('A', '0'), wish('A', '1', { id: 'second A' })];
		expect(matched([first, second], [sent(second)])).toEqual([undefined, 'request: A']);
	});

	it('finds an order by its request alone when another run repeats it', () => {
		const earlier = sent(wish('A', '0', { id: 'of the first run', run: 1 }));
		expect(matched([wish('A', '1')], [earlier])).toEqual(['request: A']);
	});

	it('finds an order in other words by where it comes from', () => {
		const known = [sent(wish('A', '0')), sent(wish('C', '2'))];
		const reworded = [wish('A2', '0'), wish('B2', '1'), wish('C2', '2')];
		expect(matched(reworded, known)).toEqual(['source: A', undefined, 'source: C']);
	});

	it('finds no order in other words that another run has placed', () => {
		expect(matched([wish('A2', '0')], [sent(wish('A', '0', { run: 1 }))])).toEqual([undefined]);
	});

	it('finds what would be ordered before where it comes from', () => {
		const known = [sent(wish('A', '0')), sent(wish('B', '1'))];
		expect(matched([wish('B', '0'), wish('A2', '1')], known)).toEqual(['request: B', undefined]);
	});

	it('finds orders of an earlier run first', () => {
		const known = [1, 0].map((run) => sent(wish('A', `of ${run}`, { id: `of ${run}`, run })));
		expect(
			match([wish('A', '0')], known)
				.values()
				.next().value?.order.run,
		).toBe(0);
	});

	it('finds an order that has an Order Key by this key only', () => {
		const key = { key: 'k' };
		const known = [sent(wish('A', '0', key))];
		expect(matched([wish('B2', '0'), wish('A2', '1', key)], known)).toEqual([undefined, 'key: A']);
		expect(matched([wish('A2', '0', { key: 'other' })], known)).toEqual([undefined]);
	});

	it('finds each order for one wish only', () => {
		const known = [sent(wish('A', '0'))];
		expect(matched([wish('A', '0'), wish('A', '0')], known)).toEqual(['request: A', undefined]);
	});

	it('does not take the parts of a request for another request', () => {
		const known: Order[] = [{ ...wish('A', '0'), state: 'new', parts: [], timesSent: 1 }];
		expect(matched([wish('A2', '0')], known)).toEqual([undefined]);
	});
});

describe('the earlier orders that nothing has matched', () => {
	const own = wish('New', 'new');
	const unmatched = (known: Order[], { isOfTool = false, wishes = [own] } = {}) => {
		const isUnderWay = ({ request }: Order) => request === 'Running';
		const pairs = match(wishes, known);
		const lines = wishes.map((one) => ({ wish: one, found: pairs.get(one) }));
		return unmatchedOf(lines, { open: known, isOfTool, isUnderWay }).map(({ request }) => request);
	};

	it('are those of the same run', () => {
		const known = [sent(wish('A', '1')), sent(wish('B', '1', { run: 1 }))];
		expect(unmatched(known)).toEqual(['A']);
	});

	it('are those of the same item in another run, whose list may have changed since', () => {
		const known = [sent(wish('Old', 'new', { run: 1 })), sent(wish('B', '1', { run: 1 }))];
		expect(unmatched(known)).toEqual(['Old']);
	});

	it('are none that a wish of the run has matched, that has a key, or that an edited node placed', () => {
		const known = [
			sent(wish('A', '1')),
			sent(wish('K', '2', { key: 'k' })),
			sent(wish('E', '3', { parameters: 'before' })),
		];
		expect(unmatched(known, { wishes: [own, wish('A', '1')] })).toEqual([]);
	});

	it('are those of all calls of a tool whose outcome is unknown', () => {
		const known: Order[] = [
			sent(wish('Lost', '0', { run: 3 })),
			{ ...wish('Made', '0', { run: 4 }), state: 'answered', result: {}, hints: [], timesSent: 1 },
			sent(wish('Running', '0', { run: 5 })),
		];
		expect(unmatched(known, { isOfTool: true })).toEqual(['Lost']);
		expect(unmatched(known)).toEqual([]);
	});
});
