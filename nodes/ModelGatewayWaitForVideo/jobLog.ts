import { hasJobFailed } from '../shared/service/errors/jobErrors';
import type { JobSummary } from '../shared/service/errors/jobSummary';
import type { ItemOutput } from '../shared/n8n/items/work';
import type { EventDetails, EventName, NodeLog } from '../shared/n8n/log/nodeLog';
import type { Forecast } from './start';
import { jobOf, type StoredItem } from './state';

/** Logs each event of a job once, even if several items wait for it. What an earlier pass logged is not repeated. */
export class JobLog {
	private readonly logged = new Set<string>();

	/** @param earlier the items that the last pass stored */
	constructor(
		private readonly log: NodeLog,
		earlier: readonly StoredItem[],
	) {
		for (const stored of earlier) {
			const event = eventOf(stored);
			if (event) this.logged.add(keyOf(event, jobOf(stored)));
		}
	}

	progress(item: number, job: JobSummary, { waited, secondsLeft }: Forecast): void {
		const expectedSeconds = secondsLeft && Math.round(secondsLeft);
		this.log.write('job progress', { item, job, waitedSeconds: waited, expectedSeconds });
	}

	/** n8n has restarted since the execution was parked, and may show it as crashed. */
	resumed(item: number, job: JobSummary): void {
		this.writeOnce('wait resumed', { item, job });
	}

	/** The execution is about to be parked. If it is stopped then, only the log has its jobs. */
	parked(items: ReadonlyMap<number, StoredItem>): void {
		for (const [item, stored] of items) {
			if ('poller' in stored) this.writeOnce('wait parked', { item, job: jobOf(stored) });
		}
	}

	/** The job of an item has ended, or the wait for it. */
	ended(item: number, stored: StoredItem): void {
		const event = eventOf(stored);
		if (!event) return;
		const failure = 'failure' in stored ? stored.failure : undefined;
		const bytes = 'outputs' in stored ? bytesOf(stored.outputs) : undefined;
		const { waitedSeconds } = stored;
		this.writeOnce(event, { item, job: jobOf(stored), failure, bytes, waitedSeconds });
	}

	private writeOnce(event: EventName, details: EventDetails & { job: JobSummary }): void {
		const key = keyOf(event, details.job);
		if (this.logged.has(key)) return;
		this.logged.add(key);
		this.log.write(event, details);
	}
}

const keyOf = (event: EventName, { id }: JobSummary) => `${event} ${id}`;

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

function bytesOf(outputs: ItemOutput[]): number | undefined {
	const [file] = outputs.flatMap(({ binary = {} }) => Object.values(binary));
	return file?.bytes;
}
