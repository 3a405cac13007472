import { Places } from '../../../../nodes/shared/n8n/orders/places';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { ProcessedItems } from '../../../../nodes/shared/n8n/orders/store';
import { SimulatedTime } from '../../../harness';
import { Entries } from '../../../support/store/entries';

let entries: Entries;
beforeEach(() => void (entries = new Entries()));
afterEach(() => processMemory.clear());

const rowOf = ({ isContended = true, inWorker = false, max = 1_000 } = {}) => {
	const store = new ProcessedItems(entries.contextOf({ inWorker }));
	const row = new Places(store, 'row', { isContended, max });
	/** Writes the next places once. @returns whether the row now has so many */
	const take = async (count: number, claim?: string) =>
		row.wrote(count, (await store.add(row.valuesFor(count))).known, claim);
	const ownPlaces = () => placesIn(row.valuesFor(row.taken));
	return Object.assign(row, { take, ownPlaces });
};

/** The numbers of the places that have these values. */
const placesIn = (values: readonly string[]) =>
	values.filter((value) => !value.endsWith('!')).map((value) => Number(value.slice(4)));

/** The first places of a row in n8n's store. */
const placesOf = (count: number, isContended = true) => rowOf({ isContended }).valuesUpTo(count);
const without = (...values: string[]) =>
	(entries.list = entries.list.filter((entry) => !values.includes(entry)));

/** How many places another process finds. */
const countLater = async (isContended = true) => {
	processMemory.clear();
	return await rowOf({ isContended }).count();
};

const rows = [[true], [false]];

describe.each(rows)('a row of places, contended: %s', (isContended) => {
	it.each([0, 1, 2, 8, 9, 10, 99, 100, 101, 508, 509, 510, 999])(
		'of %d is counted in a new process, and the look-up leaves nothing',
		async (count) => {
			const places = placesOf(count, isContended);
			entries.list = [...places];
			expect(await countLater(isContended)).toBe(count);
			expect(entries.list).toEqual(places);
		},
	);

	it('is counted on from its last hundredth place when n8n’s store has dropped the first', async () => {
		const places = placesOf(250, isContended);
		entries.list = places.slice(placesOf(150, isContended).length);
		expect(await countLater(isContended)).toBe(250);
	});

	it('is counted on from where the process knows it, up and down', async () => {
		const row = rowOf({ isContended });
		for (const count of [5, 7, 6, 2, 0, 1]) {
			entries.list = placesOf(count, isContended);
			expect(await row.count()).toBe(count);
		}
	});

	it('loses no place to a look-up that failed in a new process', async () => {
		const places = placesOf(5, isContended);
		entries.list = [...places];
		// The response to the first look-up beyond the hundredth places is lost: all of it looks as if it had been there.
		let hasFailed = false;
		entries.after = (values) => {
			if (hasFailed || !values.includes('row 1')) return;
			hasFailed = true;
			throw new Error('Connection terminated unexpectedly');
		};
		const counted = await rowOf({ isContended })
			.count()
			.catch((error: Error) => error.message);
		// A place that it has left behind is no fact.
		expect(counted).toBe(isContended ? 5 : 'Connection terminated unexpectedly');
		await rowOf({ isContended }).count();
		expect(entries.list).toEqual(expect.arrayContaining(places));
	});

	it('takes nothing for a place that two failed look-ups of two processes have left behind', async () => {
		for (const failing of ['row 900', 'row 900!']) {
			entries.after = (values) => {
				if (!values.includes(failing)) return;
				entries.after = () => {};
				throw new Error('Connection terminated unexpectedly');
			};
			await countLater(isContended).catch(() => undefined);
		}
		expect(await countLater(isContended)).toBe(0);
	});
});

it.each([
	[true, 'row 3', 3],
	[false, 'row 3', 4],
	[true, 'row 0', 0],
	[false, 'row 0', 0],
	[false, 'row 0!', 0],
])(
	'a look-up that a kill left behind is no place where it would do harm: contended %s, %s',
	async (isContended, left, count) => {
		entries.list = count === 0 ? [left] : [...placesOf(3, isContended), left];
		expect(await countLater(isContended)).toBe(count);
	},
);

it('a hundredth place is taken only where the one before it is', async () => {
	const leftBehind = [100, 200, 900].flatMap((place) => [`row ${place}`, `row ${place}!`]);
	entries.list = [...placesOf(150), ...leftBehind];
	expect(await countLater()).toBe(150);
});

it('what a failed look-up may have added to a row that one process uses is taken back', async () => {
	const row = rowOf({ isContended: false });
	entries.list = placesOf(3, false);
	await row.count();
	entries.after = (values) => {
		entries.after = () => {};
		if (values.includes('row 3')) throw new Error('Connection terminated unexpectedly');
	};
	await expect(row.count()).rejects.toThrow('Connection terminated');
	expect(await row.count()).toBe(3);
	const left = entries.list.filter((entry) => !entry.startsWith('claim'));
	expect(left).toEqual(['row 0', 'row 0!', 'row 1', 'row 2']);
});

describe('a run', () => {
	it('knows what others have taken, whatever it has taken itself', async () => {
		const row = rowOf();
		expect([row.others, row.taken]).toEqual([undefined, 0]);
		entries.list = placesOf(3);
		await row.count();
		expect(await row.take(2)).toBe(true);
		expect([row.others, row.taken]).toEqual([3, 2]);
		// Another process may have overwritten them.
		expect(row.valuesFor(2)).toEqual(['row 3', 'row 3!', 'row 4', 'row 4!']);
		const other = rowOf();
		expect(other.others).toBe(5);
		await other.take(1);
		expect([row.others, row.taken]).toEqual([4, 2]);
	});

	it('of a worker moves further up where others have taken its places', async () => {
		const row = rowOf({ inWorker: true });
		await row.count();
		entries.list = ['row 1', 'row 1!'];
		expect(await row.take(2)).toBe(false);
		expect(row.ownPlaces()).toEqual([0]);
		// A look-up of another worker is no place.
		entries.list.push('row 2');
		expect(await row.take(2)).toBe(true);
		expect(row.ownPlaces()).toEqual([0, 2]);
		expect(row.others).toBe(1);
		expect(row.valuesFor(1)).toEqual(['row 0', 'row 0!', 'row 2', 'row 2!']);
		expect(row.wrote(1, new Set())).toBe(true);
		expect(row.taken).toBe(2);
	});

	it('of a worker tries a place again that another worker has overwritten', async () => {
		const row = rowOf({ inWorker: true });
		for (const [count, claim] of ['a', 'b', 'a', 'c'].entries()) await row.take(count + 1, claim);
		row.lose(['b', 'c']);
		expect(row.ownPlaces()).toEqual([0, 2]);
		row.lose([]);
		entries.list = placesOf(3);
		expect(await row.take(4)).toBe(false);
		expect(row.ownPlaces()).toEqual([0, 2]);
		expect(await row.take(4)).toBe(true);
		expect(row.ownPlaces()).toEqual([0, 2, 3, 4]);
	});
});

describe('a row from which places are freed', () => {
	it.each([
		['in one process, so that it has no gap', true, false, [0, 1, 2]],
		['in workers, so that no other one’s is freed', true, true, [0, 2, 3]],
		['of one execution, so that it has no gap', false, true, [0, 1, 2]],
	])('keeps those of the other runs %s', async (_, isContended, inWorker, left) => {
		const [first, second] = [rowOf({ isContended, inWorker }), rowOf({ isContended, inWorker })];
		await first.take(2);
		await second.take(2);
		for (const count of [0, -1]) await first.free(count);
		await first.free(1);
		const placesLeft = entries.list.filter((entry) => !entry.endsWith('!'));
		expect(placesLeft).toEqual(left.map((place) => `row ${place}`));
		expect([first.taken, second.taken]).toEqual([1, 2]);
		await second.free(2);
		await first.free(1);
		expect(entries.list).toEqual([]);
	});

	it.each(rows)(
		'counts what a run takes on after another one has freed its own, contended: %s',
		async (isContended) => {
			const [refused, made] = [rowOf({ isContended }), rowOf({ isContended })];
			await refused.take(1);
			await made.take(1);
			await refused.free(1);
			expect(made.others).toBe(0);
			await made.take(1);
			expect(entries.list).toEqual(placesOf(1, isContended));
			expect(await made.take(2)).toBe(true);
			expect(entries.list).toEqual(placesOf(2, isContended));
			expect([made.others, made.taken]).toEqual([0, 2]);
		},
	);

	it('is filled from its first gap', async () => {
		const [first, second] = [rowOf({ inWorker: true }), rowOf({ inWorker: true })];
		await first.take(2);
		await second.take(2);
		await first.free(2);
		// The highest place of a run shows what others had.
		expect(second.others).toBe(2);
		expect(await first.take(2)).toBe(true);
		expect(first.ownPlaces()).toEqual([0, 1]);
	});

	it('is counted again from its begin when a run looks it up once more', async () => {
		entries.list = placesOf(6);
		const row = rowOf();
		await row.count();
		without('row 3', 'row 3!');
		expect(await row.count()).toBe(6);
		await row.count(true);
		expect(row.others).toBe(3);
	});
});

it('a look-up that failed in a worker takes nothing back: another one may use it by then', async () => {
	const time = new SimulatedTime();
	const row = rowOf({ isContended: false, inWorker: true });
	entries.list = placesOf(1, false);
	await row.count();
	entries.before = (values) => {
		if (values.includes('row 1')) throw new Error('Connection terminated unexpectedly');
	};
	await expect(row.count()).rejects.toThrow('Connection terminated');
	entries.before = () => {};
	entries.list = placesOf(2, false);
	expect(await row.count()).toBe(2);
	await time.end();
});
