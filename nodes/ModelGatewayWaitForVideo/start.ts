import type { Expectation, JobWork } from '../shared/service/jobs/expectation';
import { orderedJob } from '../shared/n8n/execution/orderedJobs';
import type { WaitRequest } from './request';

/** Since when a job runs, and what was ordered. */
export interface JobStart extends JobWork {
	/** Milliseconds since 1970: when the job was created or, where nobody knows that, when the wait began. */
	at: number;
	/** Whether it is the creation, so that the end of the job tells its length. */
	isCreation: boolean;
}

/** How long a job has run, and when it is expected. */
export interface Forecast extends Expectation {
	/** Seconds since its start. */
	waited: number;
}

/** The start of a job whose wait begins. @param now milliseconds since 1970 */
export function startOf({ id, kind, model, isCreated }: WaitRequest, now: number): JobStart {
	const ordered = orderedJob(id);
	// Another process has ordered it. Waits usually begin just after that.
	if (!ordered) return { kind, model, at: now, isCreation: isCreated };
	const { age, ...work } = ordered;
	return { ...work, at: now - age, isCreation: true };
}

/** Seconds since the start; undefined if an earlier version began the wait. @param now milliseconds since 1970 */
export const secondsSince = (start: JobStart | undefined, now: number): number | undefined =>
	start && Math.max(0, Math.round((now - start.at) / 1000));
