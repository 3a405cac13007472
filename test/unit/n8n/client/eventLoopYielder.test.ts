import { EventLoopYielder } from '../../../../nodes/shared/n8n/client/eventLoopYielder';
import { SimulatedClock } from '../../../support/time/simulatedClock';

/** Runs a loop whose items take this long each. @returns the items before which the event loop had a turn */
async function turnsOf(millisecondsEach: number[]): Promise<number[]> {
	const clock = new SimulatedClock();
	const turned: number[] = [];
	const turns = new EventLoopYielder(clock);
	for (const [item, milliseconds] of millisecondsEach.entries()) {
		const others = setImmediate(() => {
			turned.push(item);
			// Time that others use in between does not count for this loop.
			clock.move(500);
		});
		await turns.yieldIfDue();
		clearImmediate(others);
		clock.move(milliseconds);
	}
	return turned;
}

describe('a loop over many items', () => {
	it('gives the event loop a turn after 25 ms, not after each item', async () => {
		expect(await turnsOf(Array<number>(60).fill(1))).toEqual([25, 50]);
		expect(await turnsOf([40, 0, 40, 0])).toEqual([1, 3]);
	});
});
