import type { JobWork } from '../../service/jobs/expectation';
import { NewestEntries, remembered } from './processMemory';

/** The orders of this process, with their times by the counter that nobody sets. */
interface OrderedJob extends JobWork {
	at: number;
}

const maxJobs = 5_000;

/** By the ID of the job. */
const jobs = () => remembered('ordered jobs', () => new NewestEntries<OrderedJob>(maxJobs));

/** A node has just created a job. */
export function rememberOrdered(id: string, { kind, model, seconds }: JobWork): void {
	jobs().set(id, { kind, model, seconds, at: performance.now() });
}

/** The order that this process placed as this job, and its age in milliseconds. */
export function orderedJob(id: string): (JobWork & { age: number }) | undefined {
	const found = jobs().get(id);
	if (!found) return undefined;
	const { at, ...work } = found;
	return { ...work, age: performance.now() - at };
}
