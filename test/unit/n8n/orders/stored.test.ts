import { hashOf } from '../../../../nodes/shared/n8n/orders/identity';
import { readStored } from '../../../../nodes/shared/n8n/orders/stored';

const order = { id: 'a', run: 0, timesSent: 1, state: 'sent' };
const withOrder = (more: object) => ({
	journal: { revision: 1, known: { a: { ...order, ...more } } },
});
const withKnown = (known: unknown) => ({ journal: { revision: 1, known } });
const withEarlier = (earlier: unknown) => ({ journal: { revision: 0, known: {}, earlier } });

it.each<[boolean, object]>([
	[true, withEarlier({ orders: 1, cost: null })],
	[false, withEarlier({ orders: 1, cost: -1 })],
	[true, { owners: { request: [null, 1] } }],
	[false, { owners: { request: null } }],
	[false, { owners: null }],
	[false, { journal: 7 }],
	[true, withOrder({ state: 'lost', failure: {} })],
	[false, withOrder({ timesSent: '1' })],
	[true, withOrder({ state: 'answered', result: {}, hints: [] })],
	[false, withOrder({ state: 'answered', result: {}, hints: null })],
	...['odd', 'lost', 'answered', 'new'].map((state): [boolean, object] => [
		false,
		withOrder({ state }),
	]),
	...[null, 'text', [], { a: null }, { a: { id: 'a' } }].map((known): [boolean, object] => [
		false,
		withKnown(known),
	]),
	...[null, 3, { cost: 0 }, { orders: '3', cost: 0 }, { orders: 0.5, cost: 0 }].map(
		(earlier): [boolean, object] => [false, withEarlier(earlier)],
	),
	...[null, -1, '3'].map((revision): [boolean, object] => [
		false,
		{ journal: { revision, known: {} } },
	]),
	...[null, 'one', { number: 'one' }].map((run): [boolean, object] => [false, { run }]),
	...[null, 7].map((origin): [boolean, object] => [false, { origin }]),
])('is read as it is, or nothing is ordered: %s, %j', (isReadable, stored) => {
	expect(readStored(stored)).toBe(isReadable ? stored : undefined);
});

it('what release 1.0 has stored is found by where it comes from, the first of equal ones first', () => {
	const of = { ...order, parameters: 'p', item: 'i' };
	const known = {
		b: { ...of, id: 'b', index: 11 },
		a: { ...of, index: 2 },
		c: { ...of, id: 'c', index: 3, item: 'j' },
		d: { ...of, id: 'd', index: 4, run: 1 },
	};
	const dropped = { orders: 1, cost: 0.5 };
	const read = readStored({ known, dropped, origin: 'origin' });
	const source = (item: string, count: number) => hashOf(['p', item, count]);
	expect(read).toEqual({
		origin: 'origin',
		journal: {
			revision: 0,
			earlier: dropped,
			known: {
				a: { ...known.a, source: source('i', 0) },
				b: { ...known.b, source: source('i', 1) },
				c: { ...known.c, source: source('j', 0) },
				d: { ...known.d, source: source('i', 0) },
			},
		},
	});
});
