import type { JobWork } from '../../service/jobs/expectation';
import { NewestEntries, remembered } from './processMemory';

/** What this process has ordered, and when by the counter that nobody sets. */
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

/** What this process ordered as this job, and how many milliseconds ago. */
export function orderedJob(id: string): (JobWork & { age: number }) | undefined {
	const found = jobs().get(id);
	if (!found) return undefined;
	const { at, ...work } = found;
	return { ...work, age: performance.now() - at };
}
