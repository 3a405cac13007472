import { Turns } from '../../nodes/shared/n8n/client/turns';

/** A loop whose items take so many milliseconds each; gives the items before which the event loop turned. */
async function turnsOf(millisecondsEach: number[]): Promise<number[]> {
	let time = 0;
	let current = 0;
	const turned: number[] = [];
	const turns = new Turns({
		now: () => time,
		async sleep() {
			turned.push(current);
			// What others do meanwhile is no work of this loop.
			time += 500;
		},
	});
	for (current = 0; current < millisecondsEach.length; current++) {
		await turns.next();
		time += millisecondsEach[current];
	}
	return turned;
}

describe('the turns of the event loop in a long loop', () => {
	it('come whenever its items have taken a while, and not for each', async () => {
		expect(await turnsOf(Array<number>(60).fill(1))).toEqual([25, 50]);
		expect(await turnsOf([40, 0, 40, 0])).toEqual([1, 3]);
	});

	it('do not come in a short one', async () => {
		expect(await turnsOf([1, 1, 1])).toEqual([]);
	});
});
