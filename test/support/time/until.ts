import { setTimeout } from 'node:timers/promises';

/** Waits until a condition holds, for at most this number of seconds. @returns whether it holds */
export async function within(
	holds: () => boolean | Promise<boolean>,
	seconds: number,
): Promise<boolean> {
	for (const deadline = Date.now() + seconds * 1000; !(await holds());) {
		if (Date.now() > deadline) return false;
		await setTimeout(250);
	}
	return true;
}

/** Waits until a condition holds. Throws when it does not hold within this time. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 150): Promise<void> {
	if (!(await within(holds, seconds))) throw new Error('It did not come to that');
}
