import { AdaptiveLimit } from '../../../../nodes/shared/gateway/client/adaptiveLimit';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const clock = new SimulatedClock();

/** Runs work that takes these durations, in milliseconds; returns when each piece of work started. */
const startsOf = async (slots: AdaptiveLimit, durations: number[]) => {
	const start = clock.now();
	const starts: number[] = [];
	await Promise.all(
		durations.map(async (duration, index) => {
			await slots.run(async () => {
				starts[index] = clock.now() - start;
				await clock.sleep(duration);
			});
		}),
	);
	return starts;
};

describe('the adaptive limit', () => {
	it('starts no more work at once than the limit allows, and the rest in order', async () => {
		expect(await startsOf(new AdaptiveLimit(2), [10, 30, 10, 10, 10])).toEqual([0, 0, 10, 20, 30]);
	});

	it('frees the slot of work that fails', async () => {
		const slots = new AdaptiveLimit(1);
		const failing = slots.run(async () => {
			await clock.sleep(10);
			throw new Error('failed');
		});
		const next = slots.run(async () => 'done');
		await expect(failing).rejects.toThrow('failed');
		await expect(next).resolves.toBe('done');
	});
});

describe('the adaptive limit of an overloaded service', () => {
	/** How many of these pieces of work are started at once. */
	const width = async (slots: AdaptiveLimit, pieces: number, isTooMuch = false) => {
		let started = 0;
		const works = Array.from({ length: pieces }, async () => {
			const work = async () => {
				started++;
				await clock.sleep(10);
			};
			await slots.run(work, () => isTooMuch);
		});
		const atOnce = started;
		await Promise.all(works);
		return atOnce;
	};

	it('halves the limit once for all work that was refused together', async () => {
		const slots = new AdaptiveLimit(8);
		expect(await width(slots, 8, true)).toBe(8);
		expect(await width(slots, 4, true)).toBe(4);
		expect(await width(slots, 2, true)).toBe(2);
		expect(await width(slots, 8)).toBe(1);
	});

	it('raises the limit again by at most one per successful round, up to its first value', async () => {
		const slots = new AdaptiveLimit(6);
		await width(slots, 6, true);
		const widths: number[] = [];
		for (let round = 0; round < 12; round++) widths.push(await width(slots, 6));
		expect([widths[0], widths.at(-1)]).toEqual([3, 6]);
		const steps = widths.slice(1).map((now, round) => now - widths[round]);
		expect(new Set(steps)).toEqual(new Set([0, 1]));
		expect(await width(slots, 12)).toBe(6);
	});
});
