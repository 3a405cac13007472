import timers from 'node:timers/promises';

/** The pauses in milliseconds that the gateway makes during this work. Unlike elapsed time, a test can rely on them. */
export async function pausesDuring(work: Promise<unknown>): Promise<number[]> {
	const pause = jest.spyOn(timers, 'setTimeout');
	try {
		await work;
		return pause.mock.calls.map(([milliseconds = 0]) => milliseconds);
	} finally {
		pause.mockRestore();
	}
}
