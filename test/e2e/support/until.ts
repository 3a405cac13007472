import { setTimeout } from 'node:timers/promises';

/** Waits until something is so. Throws when it is not after that time. */
export async function until(isSo: () => boolean | Promise<boolean>, seconds = 150): Promise<void> {
	for (const deadline = Date.now() + seconds * 1000; !(await isSo());) {
		if (Date.now() > deadline) throw new Error('It did not come to that');
		await setTimeout(250);
	}
}
