import { setImmediate } from 'node:timers/promises';
import {
	ResponseMemory,
	type HeldBytes,
} from '../../../../nodes/shared/service/client/responseMemory';
import { freeBytes } from '../../../../nodes/shared/service/protocol/bounds';

const max = 10 * freeBytes;

async function hasTaken(taking: Promise<void>): Promise<boolean> {
	let isTaken = false;
	void taking.then(() => (isTaken = true));
	await setImmediate();
	return isTaken;
}

/** Responses that hold all of the memory: one that fits, and one that may exceed the bound. */
async function fill(memory: ResponseMemory): Promise<HeldBytes[]> {
	const shares = [memory.share(), memory.share()];
	for (const share of shares) await share.take(freeBytes + max);
	return shares;
}

describe('the memory of all responses', () => {
	it('lets one response exceed the bound, and others wait until there is room', async () => {
		const memory = new ResponseMemory(max);
		const [, exempt] = await fill(memory);
		const other = memory.share().take(freeBytes + 1);
		expect(await hasTaken(other)).toBe(false);
		await exempt.take(max);
		exempt.release();
		expect(await hasTaken(other)).toBe(true);
	});

	it('lets those that wait proceed in the order in which they came, one beyond the bound at a time', async () => {
		const memory = new ResponseMemory(max);
		const [, exempt] = await fill(memory);
		const [first, second] = [memory.share(), memory.share()];
		const waiting = [first, second].map((share) => share.take(freeBytes + max));
		exempt.release();
		expect(await Promise.all(waiting.map(hasTaken))).toEqual([true, false]);
		first.release();
		expect(await hasTaken(waiting[1])).toBe(true);
	});

	it('never lets the first megabyte of a response wait, however large others are', async () => {
		const memory = new ResponseMemory(max);
		await fill(memory);
		for (let count = 0; count < 100; count++) await memory.share().take(freeBytes);
	});

	it('counts what arrives in small pieces like what arrives at once', async () => {
		const memory = new ResponseMemory(max);
		const share = memory.share();
		for (let count = 0; count < 100; count++) await share.take(freeBytes / 10);
		expect(memory.heldBytes).toBe(9 * freeBytes);
	});

	it('gives up a response that is aborted while it waits, and lets the next one proceed', async () => {
		const memory = new ResponseMemory(max);
		const [, exempt] = await fill(memory);
		const abort = new AbortController();
		const given = memory.share().take(freeBytes + 1, abort.signal);
		const next = memory.share().take(freeBytes + 1);
		abort.abort(new Error('the time is up'));
		await expect(given).rejects.toThrow('the time is up');
		exempt.release();
		expect(await hasTaken(next)).toBe(true);
	});

	it('releases a response once, however often it is told to', async () => {
		const memory = new ResponseMemory(max);
		const [one, other] = [memory.share(), memory.share()];
		await one.take(3 * freeBytes);
		await other.take(3 * freeBytes);
		one.release();
		one.release();
		expect(memory.heldBytes).toBe(2 * freeBytes);
	});
});
