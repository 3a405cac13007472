import { setImmediate } from 'node:timers/promises';
import { processedItems } from '../../harness';
import { onStoreCalls } from './storeCalls';

/** When a call to n8n's database fails: before it has changed anything, or after it has been committed. */
export type Moment = 'before' | 'after';

/**
 * Lets calls to n8n's database fail during this work.
 * @param isFailing by the number of the call, which begins with 1
 * @returns how many calls there were
 */
export async function withFailures(
	moment: Moment,
	isFailing: (call: number) => boolean,
	work: () => Promise<unknown>,
): Promise<number> {
	let calls = 0;
	const end = onStoreCalls(moment, () => {
		if (isFailing(++calls)) throw new Error('SQLITE_BUSY: database is locked');
	});
	await work().finally(end);
	return calls;
}

/** Lets n8n's database take a moment to respond, so that workers at once meet in it. */
export function answerLater(): void {
	processedItems.intercept = async () => await setImmediate();
}
