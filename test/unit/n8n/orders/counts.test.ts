import { Count, Counts, dateOf } from '../../../../nodes/shared/n8n/orders/counts';
import { Line } from '../../../../nodes/shared/n8n/orders/line';
import type { Match } from '../../../../nodes/shared/n8n/orders/match';
import type { Total, Wish } from '../../../../nodes/shared/n8n/orders/order';
import type { Limit } from '../../../../nodes/shared/n8n/parameters/orderOptions';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { ProcessedItems } from '../../../../nodes/shared/n8n/orders/store';
import { nodeIdOf } from '../../../../nodes/shared/n8n/orders/storeCalls';
import { Entries } from '../../../support/store/entries';

let entries: Entries;
beforeEach(() => void (entries = new Entries()));
afterEach(() => processMemory.clear());

/** The counts that a run knows of its day. */
const dayOf = (maxCost?: number, date = '2026-01-01') => {
	const store = new ProcessedItems(entries.contextOf());
	const day = { period: 'day', date, node: 'node' } as const;
	const orders = new Count(store, { ...day, of: 'orders' });
	const costs =
		maxCost === undefined ? [] : [new Count(store, { ...day, of: 'cost', max: maxCost })];
	const counts = [orders, ...costs];
	/** This run orders this in all. @returns how many places it has in each row */
	const order = async (cost: number, number = 1) => {
		const total = { orders: number, cost };
		for (const count of counts) {
			const [row, needed] = [count.places, count.needed(total)];
			row.wrote(needed, (await store.add(row.valuesFor(needed))).known);
			await row.free(row.taken - needed);
			count.spend(total);
		}
		return counts.map(({ places }) => places.taken);
	};
	const needed = (total: Total) => counts.map((count) => count.needed(total));
	const others = () => counts.map((count) => count.others);
	/** @returns what others have ordered */
	const look = async () => {
		for (const { places } of counts) await places.count();
		return others();
	};
	return { rows: counts.map(({ places }) => places), needed, others, order, look };
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

it('counts orders alone where no cost is limited', async () => {
	expect(dayOf().others()).toEqual([0]);
	expect(await dayOf().order(3, 2)).toEqual([2]);
});

describe('the counts of a run', () => {
	const cost = { of: 'cost', period: 'day', max: 1, field: 'Max Cost per Day' } as const;
	const orders = { of: 'orders', period: 'day', max: 5, field: 'Max Orders per Day' } as const;
	interface Settings {
		subject?: string;
		isTraced?: boolean;
	}
	const countsOf = (limits: Limit[], { subject, isTraced = true }: Settings = {}) =>
		countsOfLines([{ limits, subject }], isTraced);
	const countsOfLines = (
		lines: Array<{ limits: Limit[]; subject?: string } & Partial<Line>>,
		isTraced = true,
	): Counts => {
		const context = Object.assign(entries.contextOf(), { getTimezone: () => 'UTC' });
		const all = lines.map(({ limits, subject, ...known }, index) => {
			const options = { ifOrderedBefore: 'skip', releasesKey: false, limits } as const;
			return Object.assign(new Line(index), { wish: { subject } as Wish, options, ...known });
		});
		const counts = new Counts(context, new ProcessedItems(context), isTraced);
		counts.begin(all);
		return counts;
	};

	it('decide only where there is a limit, and videos count without one', () => {
		expect(countsOf([], { isTraced: false }).isEmpty).toBe(true);
		expect([countsOf([]).isEmpty, countsOf([]).limitedRows]).toEqual([false, []]);
		expect(countsOf([cost]).limitedRows).toHaveLength(1);
		// The cost of the subject, and the orders of the whole node.
		expect(countsOf([cost], { subject: 'client' }).limitedRows).toHaveLength(2);
	});

	it.each([
		[[cost], [orders]],
		[[orders], [cost]],
	])('decide by each limit of an item, whatever the others have', (one, other) => {
		expect(countsOfLines([{ limits: one }, { limits: other }]).limitedRows).toHaveLength(2);
	});

	it('are full for a subject beside items without one', async () => {
		const today = new Date().toISOString().slice(0, 10);
		const store = new ProcessedItems(entries.contextOf());
		const node = nodeIdOf(entries.contextOf());
		const { places } = new Count(store, { of: 'orders', period: 'day', date: today, node });
		entries.list = places.valuesUpTo(1_499);
		for (const [number, isFull] of [
			[1, false],
			[2, true],
		] as const) {
			const ofClients = Array.from({ length: number }, () => ({ limits: [orders], subject: 'a' }));
			const counts = countsOfLines(ofClients);
			await counts.count();
			expect(counts.isFull).toBe(isFull);
		}
		const ofClient = { limits: [orders], subject: 'a' };
		expect(countsOfLines([{ limits: [orders] }, ofClient]).isFull).toBe(true);
		// One order is new: the others are known, or previews.
		const known = { found: {} as Match };
		const notNew = [known, { isPreview: true }, { ...known, isPreview: true }];
		const withKnown = notNew.map((one) => ({ ...ofClient, ...one }));
		expect(countsOfLines([ofClient, ...withKnown]).isFull).toBe(false);
		// The day is full, although the month is not.
		const inMonth = { limits: [{ ...orders, period: 'month' } as const], subject: 'a' };
		expect(countsOfLines([ofClient, inMonth]).isFull).toBe(true);
	});

	it('know nothing of what is not counted', () => {
		expect(countsOf([]).othersIn('day')).toEqual({ orders: 0, cost: Infinity });
		expect(countsOf([cost]).othersIn('day')).toEqual({ orders: 0, cost: 0 });
		expect(countsOf([cost]).othersIn('month')).toBeUndefined();
		expect(countsOf([cost]).othersIn('day', 'client')).toBeUndefined();
	});
});

it('knows exactly what the process has spent, and of other workers and after a restart the hundredths', async () => {
	expect(await dayOf(1).order(0.205)).toEqual([1, 21]);
	expect(await dayOf(1).look()).toEqual([1, 0.205]);
	// 41 hundredths cover both.
	expect(await dayOf(1).order(0.2)).toEqual([1, 20]);
	expect(await dayOf(1).look()).toEqual([2, 0.405]);
	processMemory.clear();
	expect(await dayOf(1).look()).toEqual([2, 0.41]);
	const after = dayOf(1);
	await after.order(0.105);
	expect(after.others()).toEqual([2, 0.41]);
	expect(await dayOf(1).look()).toEqual([3, 0.515]);
});

it('counts what another worker has spent meanwhile, and what it has given back', async () => {
	const run = dayOf(2);
	await run.order(0.41);
	const [, row] = run.rows;
	const ofOther = row.valuesUpTo(26).slice(-10);
	entries.list.push(...ofOther);
	expect(await run.look()).toEqual([0, 0.1]);
	expect(run.needed({ orders: 1, cost: 0.41 })).toEqual([1, 21]);
	entries.list = entries.list.filter((entry) => !ofOther.includes(entry));
	expect(await run.look()).toEqual([0, 0]);
});

it('gives back what was refused, and leaves as many hundredths as the rest needs', async () => {
	const [refused, made] = [dayOf(1), dayOf(1)];
	expect(await refused.order(0.105)).toEqual([1, 11]);
	expect(await made.order(0.025)).toEqual([1, 2]);
	expect(await refused.order(0, 0)).toEqual([0, 1]);
	expect(await made.order(0.025)).toEqual([1, 2]);
	expect(await dayOf(1).look()).toEqual([1, 0.025]);
	processMemory.clear();
	expect(await dayOf(1).look()).toEqual([1, 0.03]);
});

it('begins a new count of the cost with each amount and each day, and goes on with the orders of the day', async () => {
	await dayOf(1).order(0.5);
	expect(await dayOf(2).look()).toEqual([1, 0]);
	expect(await dayOf(1, '2026-01-02').look()).toEqual([0, 0]);
});

it('removes the cost of an earlier day, which would only push out what still counts, and nothing else', async () => {
	await dayOf(1).order(0.5, 2);
	await dayOf(1).look();
	const [orders] = dayOf(1).rows;
	expect(entries.list).toHaveLength(2 * (2 + 50));
	await dayOf(1, '2026-01-02').look();
	expect(entries.list).toEqual(orders.valuesUpTo(2));
	await dayOf().order(1);
	await dayOf(undefined, '2026-01-02').look();
	expect(entries.list).toHaveLength(2 * 3);
});

it('keeps the cost of a month, and of other clients, when the next day begins', async () => {
	const store = new ProcessedItems(entries.contextOf());
	const cost = { of: 'cost', node: 'node', max: 1 } as const;
	const month = { ...cost, period: 'month', date: '2026-01' } as const;
	const ofClient = { ...cost, period: 'day', date: '2026-01-01', subject: 'client' } as const;
	for (const what of [month, ofClient]) {
		const { places } = new Count(store, what);
		places.wrote(1, (await store.add(places.valuesFor(1))).known);
	}
	const day = new Count(store, { ...cost, period: 'day', date: '2026-01-02' });
	await day.places.count();
	expect(entries.list).toHaveLength(2 * 2);
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
