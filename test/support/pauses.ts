import timers from 'node:timers/promises';

/** The pauses that the gateway makes meanwhile, in milliseconds: what a test can rely on, other than a clock. */
export async function pausesDuring(work: Promise<unknown>): Promise<number[]> {
	const pause = jest.spyOn(timers, 'setTimeout');
	try {
		await work;
		return pause.mock.calls.map(([milliseconds = 0]) => milliseconds);
	} finally {
		pause.mockRestore();
	}
}
