import { Places } from '../../../../nodes/shared/n8n/orders/places';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { ProcessedItems } from '../../../../nodes/shared/n8n/orders/store';
import { Write } from '../../../../nodes/shared/n8n/orders/write';
import { SimulatedTime } from '../../../harness';
import { Entries } from '../../../support/store/entries';

let entries: Entries;
let time: SimulatedTime;
beforeEach(() => {
	entries = new Entries();
	time = new SimulatedTime();
});
afterEach(async () => {
	await time.end();
	processMemory.clear();
});

interface Settings {
	/** How many places the run takes. */
	places?: number;
	inWorker?: boolean;
	isClaiming?: boolean;
	isContended?: boolean;
	/** Values of its own, which nobody else writes. */
	own?: string[];
}

const begin = async (values: string[], settings: Settings = {}) => {
	const { places = 0, inWorker = true, isContended = true, own = [] } = settings;
	const { isClaiming = inWorker } = settings;
	const store = new ProcessedItems(entries.contextOf({ inWorker }));
	const row = new Places(store, 'row', { isContended, max: 1_000 });
	const write = new Write(store, [[row, places]], {
		hasKeys: values.some((value) => value.startsWith('key ')),
		isClaiming,
		isOwn: (value) => own.includes(value),
	});
	const known = await write.begin(values);
	return {
		row,
		known: [...known],
		finish: async () => await write.finish(values),
		own: () =>
			row
				.valuesFor(row.taken)
				.filter((value) => !value.endsWith('!'))
				.map((value) => Number(value.slice(4))),
	};
};

const isClaim = (value: string) => value.startsWith('claim');
/** The values of the store, without claims and confirmations. */
const stored = () => entries.list.filter((value) => !isClaim(value) && !value.endsWith('!')).sort();
const claims = () => entries.list.filter(isClaim).length;
const lost = new Error('Connection terminated unexpectedly');

it.each([true, false])(
	'values and places are written, and no claim is left, in a worker: %s',
	async (inWorker) => {
		entries.list = ['a', 'row 0', 'row 0!'];
		const run = await begin(['a', 'b'], { places: 2, inWorker });
		expect(run.known).toEqual(expect.arrayContaining(['a', 'row 0!']));
		expect(claims()).toBe(inWorker ? 2 : 0);
		expect(await run.finish()).toBe(true);
		expect(stored()).toEqual(['a', 'b', 'row 0', 'row 1', 'row 2']);
		expect([run.row.taken, claims()]).toEqual([2, 0]);
		expect(Date.now() - Date.UTC(2026, 0, 1)).toBe(inWorker ? 200 : 0);
	},
);

it.each([
	[3, 4],
	[Infinity, 5],
])('what other workers overwrite %d times is written again, in %d turns', async (times, turns) => {
	const run = await begin(['a', 'b'], { places: 1, isClaiming: false });
	let reads = 0;
	entries.before = (values) => {
		if (values.includes('a') && reads++ < times) entries.list = ['b'];
	};
	expect(await run.finish()).toBe(true);
	expect([reads, stored()]).toEqual([turns, ['a', 'b', 'row 0']]);
});

it('of workers that write in the same moment, the last one keeps all, and the others what does no harm', async () => {
	const first = await begin(['a'], { places: 2 });
	// Another worker had read the store before.
	entries.list = [];
	processMemory.clear();
	const last = await begin(['b'], { places: 2 });
	expect(await first.finish()).toBe(false);
	expect(await last.finish()).toBe(true);
	expect([first.row.taken, last.row.taken]).toEqual([0, 2]);
	expect(stored()).toEqual(['a', 'b', 'row 0', 'row 1']);
	expect(claims()).toBe(0);
});

it('a lost claim gives up only the places that were written with it', async () => {
	entries.list = ['row 1', 'row 1!'];
	// The second place is another worker's, so the run claims once more for the third.
	const run = await begin([], { places: 2 });
	const [first] = entries.list.filter(isClaim);
	expect(run.own()).toEqual([0, 2]);
	entries.list = entries.list.filter((value) => value !== first && !value.startsWith('row 0'));
	expect(await run.finish()).toBe(false);
	expect(run.own()).toEqual([2]);
	expect(stored()).toEqual(['row 1', 'row 2']);
});

it('a lost claim gives up no place of the execution itself, which a Retry must find after a kill', async () => {
	const run = await begin(['a'], { places: 2, isContended: false });
	entries.list = [];
	expect(await run.finish()).toBe(false);
	expect(run.row.taken).toBe(2);
	expect(stored()).toEqual(['a', 'row 0', 'row 1']);
});

it.each([
	[true, 15],
	[true, 40],
	[false, 40],
])(
	'a run passes the places of others one by one, and looks many of them up: claiming %s, %d',
	async (isClaiming, taken) => {
		const ofOthers = Array.from({ length: taken }, (_, place) => [`row ${place}`, `row ${place}!`]);
		entries.list = ofOthers.flat();
		const looked: string[] = [];
		entries.before = (values) => void looked.push(...values);
		const run = await begin([], { places: 1, isClaiming });
		expect(run.own()).toEqual([taken]);
		expect(looked.includes('row 100')).toBe(taken === 40);
		expect(await run.finish()).toBe(true);
		expect([stored().length, claims()]).toEqual([taken + 1, 0]);
	},
);

it('nothing is kept of a run that cannot record what it orders', async () => {
	entries.after = (values) => {
		if (values.includes('new')) throw lost;
	};
	entries.list = ['a'];
	await expect(begin(['a', 'new'], { own: ['new'], inWorker: false })).rejects.toThrow(lost);
	entries.after = () => {};
	await begin([], { inWorker: false });
	expect(stored()).toEqual(['a']);
});

it('only older entries than n8n keeps are dropped, and what is under way comes on top of them', async () => {
	entries.list = Array.from({ length: 20_010 }, (_, index) => `old ${index}`);
	const run = await begin(['a', 'b'], { places: 1, inWorker: false });
	await run.finish();
	expect(entries.list).toHaveLength(20_000 + 4);
	expect(entries.list[0]).toBe('old 10');
});

it('a run that fills the store up sees that it has recorded its Order Key, although the call failed', async () => {
	entries.list = Array.from({ length: 20_000 }, (_, index) => `old ${index}`);
	entries.after = (values) => {
		entries.after = () => {};
		if (values.includes('key a 1')) throw lost;
	};
	const run = await begin(['key a 1'], { own: ['key a 1'] });
	expect([run.known, await run.finish()]).toEqual([[], true]);
});
