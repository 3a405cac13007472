import { setTimeout } from 'node:timers/promises';

/** Waits until something is so, for at most so many seconds. @returns whether it is */
export async function within(
	isSo: () => boolean | Promise<boolean>,
	seconds: number,
): Promise<boolean> {
	for (const deadline = Date.now() + seconds * 1000; !(await isSo());) {
		if (Date.now() > deadline) return false;
		await setTimeout(250);
	}
	return true;
}

/** Waits until something is so. Throws when it is not after that time. */
export async function until(isSo: () => boolean | Promise<boolean>, seconds = 150): Promise<void> {
	if (!(await within(isSo, seconds))) throw new Error('It did not come to that');
}
