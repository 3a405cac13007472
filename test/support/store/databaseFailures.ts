import { setImmediate } from 'node:timers/promises';
import { processedItems } from '../../harness';

/** When a call to n8n's database fails: before it has changed anything, or after it has been committed. */
export type Moment = 'before' | 'after';

const methods = [
	...(['checkProcessedAndRecord', 'removeProcessed', 'getProcessedDataCount'] as const),
];

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
	const failing = async (call: () => Promise<unknown>): Promise<unknown> => {
		const fails = isFailing(++calls);
		if (!fails) return await call();
		if (moment === 'after') await call();
		throw new Error('SQLITE_BUSY: database is locked');
	};
	const spies = methods.map((name) => {
		const method = processedItems[name].bind(processedItems) as (
			...args: unknown[]
		) => Promise<unknown>;
		const spy = jest.spyOn(processedItems, name) as jest.SpyInstance;
		return spy.mockImplementation(
			async (...args: unknown[]) => await failing(async () => await method(...args)),
		);
	});
	try {
		await work();
		return calls;
	} finally {
		for (const spy of spies) spy.mockRestore();
	}
}

/** Lets n8n's database take a moment to respond, so that workers at once meet in it. */
export function answerLater(): void {
	processedItems.intercept = async () => await setImmediate();
}
