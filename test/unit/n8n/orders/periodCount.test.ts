import { dateOf, PeriodCount } from '../../../../nodes/shared/n8n/orders/periodCount';
import type { Places } from '../../../../nodes/shared/n8n/orders/places';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { ProcessedItems } from '../../../../nodes/shared/n8n/orders/store';
import { Entries } from '../../../support/store/entries';

let entries: Entries;
beforeEach(() => void (entries = new Entries()));
afterEach(() => processMemory.clear());

interface Limits {
	day?: string;
	maxOrders?: number;
}

/** What a run knows of its day. */
const dayOf = (
	maxCost?: number,
	{ day: date = '2026-01-01', maxOrders }: Limits = { maxOrders: 4 },
) => {
	const store = new ProcessedItems(entries.contextOf());
	const limits = [
		...(maxOrders === undefined ? [] : [{ of: 'orders', max: maxOrders } as const]),
		...(maxCost === undefined ? [] : [{ of: 'cost', max: maxCost } as const]),
	];
	const count = new PeriodCount(store, { node: 'node', period: 'day', date, limits });
	const take = async (row: Places, needed: number) => {
		row.wrote(needed, (await store.add(row.valuesFor(needed))).known);
		await row.free(row.taken - needed);
	};
	/** This run orders this in all. @returns how many places it has in each row */
	const order = async (cost: number, orders = 1) => {
		const total = { orders, cost };
		const needed = count.needed(total);
		for (const [at, row] of count.rows.entries()) await take(row, needed[at]);
		count.spend(total);
		return count.rows.map(({ taken }) => taken);
	};
	/** @returns what others have ordered */
	const look = async () => {
		for (const row of count.rows) await row.count();
		return count.others;
	};
	return Object.assign(count, { order, look });
};

it.each([
	[1, 0, 0],
	[1, 0.2, 20],
	[1, 0.201, 21],
	[1, 1, 100],
	// Not 58, as binary fractions have it.
	[1, 0.57, 57],
	[0.7, 0.49, 70],
	[0, 0, 0],
])('of a limit of %d, the cost %d takes %d hundredths', async (maxCost, cost, places) => {
	expect(dayOf(maxCost).needed({ orders: 2, cost })).toEqual([2, places]);
	expect(await dayOf(maxCost).order(cost)).toEqual([1, places]);
});

it('counts orders alone where no cost is limited, and limits only what has a limit', async () => {
	expect(dayOf().others).toEqual({ orders: 0, cost: 0 });
	expect(await dayOf().order(3, 2)).toEqual([2]);
	expect(dayOf(1).limitedRows).toHaveLength(2);
	const ofCost = dayOf(1, {});
	expect(ofCost.limitedRows).toEqual([ofCost.rows[1]]);
	expect(dayOf(undefined, {}).limitedRows).toEqual([]);
});

it('knows exactly what the process has spent, and of other workers and after a restart the hundredths', async () => {
	expect(await dayOf(1).order(0.205)).toEqual([1, 21]);
	expect(await dayOf(1).look()).toEqual({ orders: 1, cost: 0.205 });
	// 41 hundredths cover both.
	expect(await dayOf(1).order(0.2)).toEqual([1, 20]);
	expect(await dayOf(1).look()).toEqual({ orders: 2, cost: 0.405 });
	processMemory.clear();
	expect(await dayOf(1).look()).toEqual({ orders: 2, cost: 0.41 });
	const after = dayOf(1);
	await after.order(0.105);
	expect(after.others).toEqual({ orders: 2, cost: 0.41 });
	expect(await dayOf(1).look()).toEqual({ orders: 3, cost: 0.515 });
});

it('counts what another worker has spent meanwhile, and what it has given back', async () => {
	const run = dayOf(2);
	await run.order(0.41);
	const [, row] = run.rows;
	const ofOther = row.valuesUpTo(26).slice(-10);
	entries.list.push(...ofOther);
	expect(await run.look()).toEqual({ orders: 0, cost: 0.1 });
	expect(run.needed({ orders: 1, cost: 0.41 })).toEqual([1, 21]);
	entries.list = entries.list.filter((entry) => !ofOther.includes(entry));
	expect(await run.look()).toEqual({ orders: 0, cost: 0 });
});

it('gives back what was refused, and leaves as many hundredths as the rest needs', async () => {
	const [refused, made] = [dayOf(1), dayOf(1)];
	expect(await refused.order(0.105)).toEqual([1, 11]);
	expect(await made.order(0.025)).toEqual([1, 2]);
	expect(await refused.order(0, 0)).toEqual([0, 1]);
	expect(await made.order(0.025)).toEqual([1, 2]);
	expect(await dayOf(1).look()).toEqual({ orders: 1, cost: 0.025 });
	processMemory.clear();
	expect(await dayOf(1).look()).toEqual({ orders: 1, cost: 0.03 });
});

it('begins a new count of the cost with each amount and each day, and goes on with the orders of the day', async () => {
	await dayOf(1).order(0.5);
	expect(await dayOf(2).look()).toEqual({ orders: 1, cost: 0 });
	expect(await dayOf(1, { day: '2026-01-02' }).look()).toEqual({ orders: 0, cost: 0 });
});

it('removes the cost of an earlier day, which would only push out Order Keys, and nothing else', async () => {
	await dayOf(1).order(0.5, 2);
	await dayOf(1).look();
	const [orders] = dayOf(1).rows;
	expect(entries.list).toHaveLength(2 * (2 + 50));
	await dayOf(1, { day: '2026-01-02' }).look();
	expect(entries.list).toEqual(orders.valuesUpTo(2));
});

it.each([
	['UTC', '2026-11-24T23:59:59.999Z', '2026-11-24'],
	['UTC', '2026-11-25T00:00:00Z', '2026-11-25'],
	['America/New_York', '2026-11-24T03:00:00Z', '2026-11-23'],
	['Asia/Tokyo', '2026-12-31T15:00:00Z', '2027-01-01'],
])('knows that in %s, %s is on %s', (timeZone, time, day) => {
	expect(dateOf('day', Date.parse(time), timeZone)).toBe(day);
	expect(dateOf('month', Date.parse(time), timeZone)).toBe(day.slice(0, 7));
});
