import { keptJournals } from '../../../../nodes/shared/n8n/orders/keptJournals';
import type { Order } from '../../../../nodes/shared/n8n/orders/order';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { nodeIdOf } from '../../../../nodes/shared/n8n/orders/storeCalls';
import { executeContext } from '../../../support/workflows/executeContext';

const context = executeContext();
/** Orders by their IDs, each with the text of its answer, or sent. */
const ordersOf = (revision: number, answers: Record<string, string>) => ({
	revision,
	known: Object.fromEntries(
		Object.entries(answers).map(([id, text]) => [
			id,
			{ id, key: `key ${id}`, ...(text === 'sent' ? { state: text } : answered(text)) } as Order,
		]),
	),
});
type Journal = Parameters<typeof ordersOf>;
const answered = (text: string) => ({ state: 'answered', result: { text } });
const textsOf = (known: Record<string, Order>) =>
	Object.values(known).map((order) => [
		order.id,
		order.state === 'answered' ? (order.result as { text: string }).text : order.state,
	]);

afterEach(() => processMemory.clear());

it.each([
	['the newer one, which n8n has stored', [1, { a: 'sent' }], [2, { b: 'sent' }], { b: 'sent' }],
	['the newer one of the process', [2, { a: 'sent' }], [1, { b: 'sent' }], { a: 'sent' }],
	['that of the process when both are equally new', [1, { a: 'sent' }], [1, {}], { a: 'sent' }],
	['answers of the older one', [1, { a: 'one' }], [2, { a: 'sent' }], { a: 'one' }],
	[
		'answers that n8n has stored',
		[2, { a: 'sent' }],
		[1, { a: 'one', b: 'two' }],
		{ a: 'one', b: 'two' },
	],
	['the newer one of two answers', [1, { a: 'old' }], [2, { a: 'new' }], { a: 'new' }],
] as Array<[string, Journal, Journal, Record<string, string>]>)(
	'of two journals of an execution, it takes %s',
	(_, kept, stored, expected) => {
		const first = keptJournals().open(context, 'origin', ordersOf(...kept));
		const later = keptJournals().open(context, 'origin', ordersOf(...stored));
		expect(textsOf(later.known)).toEqual(Object.entries(expected));
		// All Retries at the same moment use one object.
		expect(later).toBe(first);
	},
);

it('names the first execution of the node that has used an Order Key', () => {
	const journals = keptJournals();
	journals.open(executeContext({ node: 'Other' }), 'other', ordersOf(1, { c: 'sent' }));
	for (const id of ['1', '2'])
		journals.open(executeContext({ id }), 'origin', ordersOf(1, { a: 'sent' }));
	const node = nodeIdOf(context);
	const use = { node, execution: '1', time: expect.any(Number) as number };
	expect([...journals.keyUses(node)]).toEqual([['key a', use]]);
});

const keeps = (origin: string) => keptJournals().keyUses(nodeIdOf(context)).has(`key ${origin}`);
const keep = (origin: string, size: number, isUnderWay?: boolean) => {
	const orders = ordersOf(1, { [origin]: 'x'.repeat(size) });
	keptJournals().keep(context, { origin, orders, isUnderWay }, [origin]);
};
const million = 1_000_000;

it('counts what a journal has now, however often it changed, and drops the least recently used ones', () => {
	for (const size of [20, 1, 20, 1]) keep('first', size * million);
	keep('second', 20 * million);
	keptJournals().keep(context, { origin: 'second', orders: ordersOf(2, {}) }, ['second']);
	keep('second', 20 * million);
	expect(keeps('first')).toBe(true);
	keep('first', million);
	keep('third', 20 * million);
	expect(['first', 'second', 'third'].map(keeps)).toEqual([true, false, true]);
	keep('fourth', 11 * million);
	expect(['first', 'third', 'fourth'].map(keeps)).toEqual([true, true, true]);
});

it('drops no journal of which an order is being sent', () => {
	keep('first', 20 * million, true);
	for (const origin of ['second', 'third']) keep(origin, 20 * million);
	expect(['first', 'second', 'third'].map(keeps)).toEqual([true, false, true]);
});
