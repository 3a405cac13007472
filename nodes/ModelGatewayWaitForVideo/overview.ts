import type { INodeExecutionData } from 'n8n-workflow';
import { jobName, type JobSummary } from '../shared/gateway/errors/jobSummary';
import { withoutUndefined } from '../shared/gateway/json';
import { jobOf, type StoredItem } from './waitState';

/** Each job once. Of several items with the same job, those that still wait have seen it last. */
export function jobsOf(items: ReadonlyMap<number, StoredItem>): JobSummary[] {
	const jobs = new Map<string, JobSummary>();
	for (const item of items.values()) {
		const job = jobOf(item);
		if ('poller' in item || !jobs.has(jobName(job))) jobs.set(jobName(job), job);
	}
	return [...jobs.values()];
}

/** Where the job of each item stands, for whoever looks at the node while the execution is parked. */
export function overviewOf(items: ReadonlyMap<number, StoredItem>): INodeExecutionData[] {
	return [...items].map(([index, item]) => {
		const { id, status, progress } = jobOf(item);
		const next_poll = 'poller' in item ? isoTime(item.poller.nextPollAt) : undefined;
		return {
			json: withoutUndefined({ job_id: id, status, progress, next_poll }),
			pairedItem: { item: index },
		};
	});
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
