import { hasJobFailed } from '../shared/service/errors/jobErrors';
import type { EventName, NodeLog } from '../shared/n8n/log/nodeLog';
import { jobOf, type StoredItem } from './state';

/** Logs the end of an item's job, or of the wait for it. */
export function logEnd(log: NodeLog, item: number, stored: StoredItem): void {
	const event = eventOf(stored);
	if (!event) return;
	const failure = 'failure' in stored ? stored.failure : undefined;
	const outputs = 'outputs' in stored ? stored.outputs : [];
	const [file] = outputs.flatMap(({ binary = {} }) => Object.values(binary));
	const { waitedSeconds } = stored;
	log.write(event, { item, job: jobOf(stored), failure, bytes: file?.bytes, waitedSeconds });
}

/** Undefined while the job runs, and after Stop, which is logged for all items together. */
function eventOf(stored: StoredItem): EventName | undefined {
	if ('outputs' in stored) return 'video delivered';
	if (!('failure' in stored) || stored.failure.isStopped) return undefined;
	const { failure } = stored;
	if (failure.waitEnded === 'timeout') return 'wait timed out';
	if (hasJobFailed(failure)) return 'job failed';
	// Only fetching a finished video can fail after it was billed.
	return failure.billed === 'yes' ? 'download failed' : 'wait failed';
}
