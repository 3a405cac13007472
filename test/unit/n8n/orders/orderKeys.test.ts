import type { Wish } from '../../../../nodes/shared/n8n/orders/order';
import {
	allKeyValuesOf,
	isOfKey,
	keyValuesOf,
	ofBothNames,
	OrderKeys,
} from '../../../../nodes/shared/n8n/orders/orderKeys';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { ProcessedItems } from '../../../../nodes/shared/n8n/orders/store';
import { SimulatedTime } from '../../../harness';
import { Entries } from '../../../support/store/entries';

const base = { id: 'id', count: 0, run: 0, source: 'source', parameters: 'parameters' };
const wishOf = (request: string, key?: string): Wish => ({ ...base, request, key });
const [wish, other] = [wishOf('A', 'k'), wishOf('B', 'k')];
const [fact, confirmation, request, won] = keyValuesOf(wish);
/** Release 1.0 wrote a second name. */
const ofRelease10 = allKeyValuesOf(wish).filter((value) => / b /.test(value));

let entries: Entries;
beforeEach(() => void (entries = new Entries()));
afterEach(() => processMemory.clear());

const keysOf = (inWorker = false) =>
	new OrderKeys(new ProcessedItems(entries.contextOf({ inWorker })));

it('an Order Key has no value of another key or request', () => {
	const values = [wish, wishOf('A', 'l')].flatMap(allKeyValuesOf);
	expect(new Set(values).size).toBe(values.length);
	expect(allKeyValuesOf(wish)).toEqual(expect.arrayContaining(keyValuesOf(wish)));
	expect(values.every(isOfKey)).toBe(true);
	const both = keyValuesOf(wish).flatMap(ofBothNames);
	expect(both).toEqual(expect.arrayContaining([...keyValuesOf(wish), ...ofRelease10]));
	expect(isOfKey('order request key a')).toBe(false);
	expect(request).not.toBe(keyValuesOf(other)[2]);
});

it.each([
	['nothing', [], 'free', 'free'],
	['its values', [fact, confirmation, request, won], 'same', 'other'],
	['its values of release 1.0', ofRelease10, 'same', 'other'],
	['a look-up that a kill has left', [fact, request], 'free', 'free'],
	['a confirmation alone', [confirmation, request, won], 'free', 'free'],
])(
	'where the store has %s, an Order Key is found as used or not',
	async (_, list, use, ofOther) => {
		entries.list = [...list];
		const keys = keysOf();
		expect(keys.useOf(wish)).toBe('free');
		await keys.find([wish, wishOf('C'), wishOf('A', 'l')]);
		expect([keys.useOf(wish), keys.useOf(other)]).toEqual([use, ofOther]);
		expect([keys.useOf(wishOf('C')), keys.useOf(wishOf('A', 'l'))]).toEqual(['free', 'free']);
		expect(entries.list).toEqual(list);
	},
);

it('the use for each of several requests is found', async () => {
	entries.list = keyValuesOf(other);
	const keys = keysOf();
	await keys.find([wish, other]);
	expect([keys.useOf(wish), keys.useOf(other)]).toEqual(['other', 'same']);
});

it.each([
	[[], false, 'free'],
	[[fact], false, 'free'],
	[[confirmation], false, 'free'],
	[[fact, request], false, 'free'],
	[[fact, confirmation], true, 'other'],
	[[fact, confirmation, request, won], true, 'same'],
])('a key whose write found %j is another’s: %s, %s', (known, isTaken, use) => {
	const keys = keysOf();
	expect(keys.learnUse(wish, new Set(known))).toBe(isTaken);
	expect(keys.useOf(wish)).toBe(use);
});

it('workers that have all lost their claim take a key again, and one of them wins it', async () => {
	const time = new SimulatedTime();
	entries.list = keyValuesOf(wish).slice(0, -1);
	const lost = await Promise.all(
		[1, 2, 3, 4].map(async () => (await keysOf(true).win([wish], false)).length),
	);
	expect(lost.sort()).toEqual([0, 1, 1, 1]);
	expect([...entries.list].sort()).toEqual([...keyValuesOf(wish)].sort());
	await time.end();
});

it('a key that another worker has won is lost, and the others of the run are kept', async () => {
	const time = new SimulatedTime();
	const free = wishOf('A', 'l');
	entries.list = keyValuesOf(other);
	expect(await keysOf(true).win([wish, free], true)).toEqual([wish]);
	expect(entries.list).toEqual(expect.arrayContaining(keyValuesOf(free)));
	await time.end();
});

it('a use that another worker overwrites is written again', async () => {
	const time = new SimulatedTime();
	let writes = 0;
	entries.after = () => {
		if (++writes === 1) entries.list = [];
	};
	expect(await keysOf(true).win([wish], true)).toEqual([]);
	expect([...entries.list].sort()).toEqual([...keyValuesOf(wish)].sort());
	await time.end();
});

it.each([
	['has only looked up', [], 'free'],
	['has used', keyValuesOf(wish), 'same'],
])('a key that another worker %s is told apart after a moment', async (_, left, use) => {
	const time = new SimulatedTime();
	entries.list = [fact, confirmation, request];
	setTimeout(() => void (entries.list = [...left]), 150);
	const keys = keysOf(true);
	await keys.find([wish]);
	expect(keys.useOf(wish)).toBe(use);
	expect(Date.now() - Date.UTC(2026, 0, 1)).toBe(200);
	await time.end();
});

it('nobody waits for other workers where there are none, or no key was found', async () => {
	const time = new SimulatedTime();
	entries.list = keyValuesOf(wish);
	await keysOf().find([wish]);
	await keysOf(true).find([wishOf('A', 'l')]);
	expect(Date.now()).toBe(Date.UTC(2026, 0, 1));
	await time.end();
});
