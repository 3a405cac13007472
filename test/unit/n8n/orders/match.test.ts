import { match } from '../../../../nodes/shared/n8n/orders/match';
import type { Known, Order } from '../../../../nodes/shared/n8n/orders/order';

/** An order for this request at this place. */
const order = (request: string, place: number, more: Partial<Order> = {}): Order => ({
	...{
		id: `id of ${request}`,
		request,
		count: 0,
		run: 0,
		place,
		written: 'node',
		item: `item ${place}`,
	},
	...more,
});
const sent = (known: Partial<Order>): Known => ({ state: 'sent', ...known });
/** Recalled from the process, which does not know whether the items are the same. */
const recalled = (known: Partial<Order>): Known => ({ ...sent(known), isRecalled: true });

const matched = (orders: Order[], known: Known[]) => {
	const pairs = match(orders, known);
	return orders.map((entry) => {
		const found = pairs.get(entry);
		return found && `${found.by}: ${found.known.request}`;
	});
};

describe('matching the orders of a run with known orders', () => {
	it('matches orders by their requests, whatever their places', () => {
		const known = [sent(order('A', 0)), sent(order('B', 1))];
		expect(matched([order('X', 0), order('B', 1), order('A', 2)], known)).toEqual([
			undefined,
			'request: B',
			'request: A',
		]);
	});

	it('tells orders with equal requests apart by their IDs', () => {
		const [first, second] = [order('A', 0), order('A', 1, { id: 'second A' })];
		expect(matched([first, second], [sent(second)])).toEqual([undefined, 'request: A']);
	});

	it('matches an order by its request alone when another call of an agent repeats it', () => {
		const earlier = order('A', 0, { id: 'of the first call' });
		expect(matched([order('A', 0)], [sent(earlier)])).toEqual(['request: A']);
	});

	it('matches reworded orders by their input items', () => {
		const known = [recalled(order('A', 0)), recalled(order('C', 2))];
		const reworded = [order('A2', 0), order('B2', 1), order('C2', 2)];
		expect(matched(reworded, known)).toEqual(['item: A', undefined, 'item: C']);
		// n8n fetched the list again, and its first item is another one now.
		const moved = [order('X', 0, { item: 'new' }), order('A2', 1, { item: 'item 0' })];
		expect(matched(moved, known.slice(0, 1))).toEqual([undefined, 'item: A']);
	});

	it('matches reworded orders by their places when they were stored with the execution', () => {
		const item = { item: 'equal' };
		const known = [sent(order('A', 0, item)), sent(order('C', 2, item))];
		const reworded = ['A2', 'B2', 'C2'].map((request, place) => order(request, place, item));
		expect(matched(reworded, known)).toEqual(['item: A', undefined, 'item: C']);
	});

	it.each(['equal', undefined])(
		'only guesses which reworded order is the same when its input item is not unique: %s',
		(item) => {
			const known = [recalled(order('A', 0, { item })), recalled(order('C', 2, { item }))];
			const reworded = ['A2', 'B2', 'C2'].map((request, place) => order(request, place, { item }));
			expect(matched(reworded, known)).toEqual([
				item === undefined ? 'place: A' : 'equalItem: A',
				undefined,
				item === undefined ? 'place: C' : 'equalItem: C',
			]);
		},
	);

	it('guesses by the place, then by the number, when the input items have changed as well', () => {
		const known = [recalled(order('A', 0)), recalled(order('B', 3))];
		const item = { item: 'new' };
		const reworded = ['A2', 'B2', 'C2'].map((request, place) => order(request, place, item));
		expect(matched(reworded, known)).toEqual(['place: A', 'number: B', undefined]);
	});

	it('matches orders of another run by their requests and unique items, but not by their places', () => {
		const known = [recalled(order('A', 0, { run: 1 })), recalled(order('B', 0, { run: 2 }))];
		expect(matched([order('B', 0), order('A', 1)], known)).toEqual(['request: B', 'request: A']);
		const [own, other] = [{ item: 'own' }, { item: 'other' }];
		const worded = [recalled(order('A', 0, { run: 1, ...own }))];
		expect(matched([order('A2', 0, own)], worded)).toEqual(['item: A']);
		expect(matched([order('A2', 0, other)], worded)).toEqual([undefined]);
	});

	it('matches orders of a changed node by their requests only', () => {
		const changed = { written: 'changed node' };
		expect(matched([order('A2', 0, changed)], [sent(order('A', 0))])).toEqual([undefined]);
		expect(matched([order('A', 0, changed)], [sent(order('A', 0))])).toEqual(['request: A']);
	});

	it('matches a reworded order that has an Order Key by this key only', () => {
		const key = { key: 'k' };
		const known = [sent(order('A', 0, key))];
		expect(matched([order('B2', 0), order('A2', 1, key)], known)).toEqual([undefined, 'key: A']);
		expect(matched([order('A2', 0, { key: 'other' })], known)).toEqual([undefined]);
	});

	it('matches an order by its place when only a mark of the place is known', () => {
		const mark = { run: 0, place: 1, written: 'node' };
		expect(matched([order('A', 0), order('B', 1)], [sent(mark)])).toEqual([
			undefined,
			'place: undefined',
		]);
	});

	it('matches an order by its item, whatever its place, when only a mark of the item is known', () => {
		const equal = [0, 1].map((itemCount) => ({ run: 0, item: 'equal', itemCount }));
		const [first, second] = equal.map((item, place) => order(`W${place}`, place + 1, item));
		const marks = equal.slice(1).map((item) => sent({ ...item, written: 'node', place: 7 }));
		expect(matched([order('New', 0), first, second], marks)).toEqual([
			undefined,
			undefined,
			'item: undefined',
		]);
	});

	it('guesses by an equal item before it guesses by the place', () => {
		const item = { item: 'equal' };
		const orders = [order('New', 0), order('W2', 1, item), order('W3', 2, item)];
		expect(matched(orders, [recalled(order('W', 0, item))])).toEqual([
			undefined,
			'equalItem: W',
			undefined,
		]);
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
		const known: Known[] = [{ ...order('A', 0), state: 'new', parts: [] }];
		expect(matched([order('A2', 0)], known)).toEqual([undefined]);
	});
});
