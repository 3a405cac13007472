import { ResponseMemory } from '../../../../nodes/shared/gateway/client/responseMemory';
import { freeBytes } from '../../../../nodes/shared/gateway/protocol/bounds';

const max = 10 * freeBytes;

describe('the memory of all responses', () => {
	it('refuses what would be too much together, and takes it once others have been read', () => {
		const memory = new ResponseMemory(max);
		const [one, other] = [memory.share(), memory.share()];
		expect(one.take(freeBytes + max)).toBe(true);
		expect(other.take(freeBytes + 1)).toBe(false);
		one.release();
		expect(other.take(freeBytes + 1)).toBe(true);
		expect(memory.heldBytes).toBe(1);
	});

	it('never refuses the first megabyte of a response, however large others are', () => {
		const memory = new ResponseMemory(max);
		memory.share().take(freeBytes + max);
		for (let count = 0; count < 1_000; count++) {
			const small = memory.share();
			expect([small.take(freeBytes / 2), small.take(freeBytes / 2), small.take(1)]).toEqual([
				...[true, true, false],
			]);
		}
	});

	it('counts what arrives in small pieces like what arrives at once', () => {
		const memory = new ResponseMemory(max);
		const share = memory.share();
		for (let count = 0; count < 100; count++) share.take(freeBytes / 10);
		expect(memory.heldBytes).toBe(9 * freeBytes);
	});

	it('releases a response once, however often it is told to', () => {
		const memory = new ResponseMemory(max);
		const [one, other] = [memory.share(), memory.share()];
		one.take(3 * freeBytes);
		other.take(3 * freeBytes);
		one.release();
		one.release();
		expect(memory.heldBytes).toBe(2 * freeBytes);
	});
});
