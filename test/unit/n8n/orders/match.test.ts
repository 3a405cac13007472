import type { Entry } from '../../../../nodes/shared/n8n/orders/entry';
import type { Order } from '../../../../nodes/shared/n8n/orders/identity';
import { match, unmatchedOf } from '../../../../nodes/shared/n8n/orders/match';

/** An order for this request, of the item at this index. */
const order = (request: string, index: number, more: Partial<Order> = {}): Order => ({
	...{ id: `id of ${request}`, request, count: 0, run: 0, index, parameters: 'node' },
	...{ item: `item ${index}`, ...more },
});
const sent = (known: Order): Entry => ({ ...known, state: 'sent', timesSent: 1 });
/** Recalled from the process, which does not know whether the items are the same. */
const recalled = (known: Order): Entry => ({ ...sent(known), isRecalled: true });

const matched = (orders: Order[], known: Entry[]) => {
	const pairs = match(orders, known);
	return orders.map((one) => {
		const found = pairs.get(one);
		return found && `${found.by}: ${found.entry.request}`;
	});
};

describe('matching the orders of a run with known orders', () => {
	it('tells orders with equal requests apart by their IDs', () => {
		const [first, second] = [order('A', 0), order('A', 1, { id: 'second A' })];
		expect(matched([first, second], [sent(second)])).toEqual([undefined, 'request: A']);
	});

	it('matches an order by its request alone when another call of an agent repeats it', () => {
		const earlier = order('A', 0, { id: 'of the first call' });
		expect(matched([order('A', 0)], [sent(earlier)])).toEqual(['request: A']);
	});

	it('matches reworded orders by their unique input items', () => {
		const known = [recalled(order('A', 0)), recalled(order('C', 2))];
		const reworded = [order('A2', 0), order('B2', 1), order('C2', 2)];
		expect(matched(reworded, known)).toEqual(['item: A', undefined, 'item: C']);
		// n8n fetched the list again, and its first item is another one now.
		const moved = [order('X', 0, { item: 'new' }), order('A2', 1, { item: 'item 0' })];
		expect(matched(moved, known.slice(0, 1))).toEqual([undefined, 'item: A']);
	});

	it('matches reworded orders by the index of their items when these were stored with the execution', () => {
		const item = { item: 'equal' };
		const known = [sent(order('A', 0, item)), sent(order('C', 2, item))];
		const reworded = ['A2', 'B2', 'C2'].map((request, index) => order(request, index, item));
		expect(matched(reworded, known)).toEqual(['item: A', undefined, 'item: C']);
	});

	it.each(['equal', undefined])(
		'matches no reworded order when its input item is not unique: %s',
		(item) => {
			const known = [recalled(order('A', 0, { item })), recalled(order('C', 2, { item }))];
			const reworded = ['A2', 'B2', 'C2'].map((request, index) => order(request, index, { item }));
			expect(matched(reworded, known)).toEqual([undefined, undefined, undefined]);
		},
	);

	it('matches orders of another run by their requests and unique items only', () => {
		const known = [recalled(order('A', 0, { run: 1 })), recalled(order('B', 0, { run: 2 }))];
		expect(matched([order('B', 0), order('A', 1)], known)).toEqual(['request: B', 'request: A']);
		const [own, other] = [{ item: 'own' }, { item: 'other' }];
		const worded = [recalled(order('A', 0, { run: 1, ...own }))];
		expect(matched([order('A2', 0, own)], worded)).toEqual(['item: A']);
		expect(matched([order('A2', 0, other)], worded)).toEqual([undefined]);
	});

	it('matches orders of an edited node by their requests only', () => {
		const edited = { parameters: 'edited node' };
		expect(matched([order('A2', 0, edited)], [sent(order('A', 0))])).toEqual([undefined]);
		expect(matched([order('A', 0, edited)], [sent(order('A', 0))])).toEqual(['request: A']);
	});

	it('matches a reworded order that has an Order Key by this key only', () => {
		const key = { key: 'k' };
		const known = [sent(order('A', 0, key))];
		expect(matched([order('B2', 0), order('A2', 1, key)], known)).toEqual([undefined, 'key: A']);
		expect(matched([order('A2', 0, { key: 'other' })], known)).toEqual([undefined]);
	});

	it('matches items of earlier runs before those of later runs', () => {
		const known = [1, 0].map((run) => recalled(order(`W${run}`, 0, { run, item: 'equal' })));
		expect(matched([order('W', 0, { item: 'equal' })], known)).toEqual(['item: W0']);
		expect(matched([order('W', 0, { item: 'equal' })], known.slice(0, 1))).toEqual(['item: W1']);
	});

	it('matches each known order with one order only', () => {
		const known = [sent(order('A', 0))];
		expect(matched([order('A', 0), order('A', 1, { item: 'item 0' })], known)).toEqual([
			'request: A',
			undefined,
		]);
	});

	it('does not match the parts of a request with another request', () => {
		const known: Entry[] = [{ ...order('A', 0), state: 'new', parts: [], timesSent: 1 }];
		expect(matched([order('A2', 0)], known)).toEqual([undefined]);
	});
});

describe('the earlier orders that nothing has matched', () => {
	const [own] = [order('New', 0, { item: 'new' })];
	const unmatched = (known: Entry[], { isOfTool = false, orders = [own] } = {}) =>
		unmatchedOf(own, { known, pairs: match(orders, known).values(), isOfTool }).map(
			({ request }) => request,
		);

	it('are those of the same run', () => {
		const known = [recalled(order('A', 1)), recalled(order('B', 1, { run: 1 }))];
		expect(unmatched(known)).toEqual(['A']);
	});

	it('are none that an order of the run has matched, that has a key, or that an edited node placed', () => {
		const known = [
			recalled(order('A', 1)),
			recalled(order('K', 2, { key: 'k' })),
			recalled(order('E', 3, { parameters: 'before' })),
		];
		expect(unmatched(known, { orders: [own, order('A', 1)] })).toEqual([]);
	});

	it('are those of all calls of a tool whose outcome is unknown', () => {
		const known: Entry[] = [
			sent(order('Lost', 0, { run: 3 })),
			{ ...order('Made', 0, { run: 4 }), state: 'answered', result: {}, hints: [], timesSent: 1 },
			{ ...sent(order('Running', 0, { run: 5 })), isUnderWay: true },
		];
		expect(unmatched(known, { isOfTool: true })).toEqual(['Lost']);
		expect(unmatched(known)).toEqual([]);
	});
});
