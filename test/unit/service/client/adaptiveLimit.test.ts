import { AdaptiveLimit } from '../../../../nodes/shared/service/client/adaptiveLimit';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const clock = new SimulatedClock();

it('frees the slot of work that fails, and starts the next in order', async () => {
	const slots = new AdaptiveLimit(1);
	const started: number[] = [];
	const work = [1, 2, 3].map(async (number) => {
		return await slots.run(async () => {
			started.push(number);
			await clock.sleep(10);
			if (number === 1) throw new Error('failed');
		});
	});
	expect(started).toEqual([1]);
	await expect(work[0]).rejects.toThrow('failed');
	await Promise.all(work.slice(1));
	expect(started).toEqual([1, 2, 3]);
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
