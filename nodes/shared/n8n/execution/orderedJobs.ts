import type { IExecuteFunctions } from 'n8n-workflow';
import type { JobWork } from '../../service/jobs/expectation';
import { NewestEntries, remembered } from './processMemory';

/** A job, as far as this process knows it. */
interface KnownJob {
	/** The request that became this job, its gateway, and the time, by the counter that nobody sets. */
	order?: JobWork & { gatewayUrl: string; at: number };
	/** The manual run that ordered it, until something has collected it. */
	run?: { node: string; execution: string };
	/** Why it failed. */
	failure?: string;
}

const maxJobs = 5_000;

/** By the ID of the job. */
const jobs = () => remembered('jobs', () => new NewestEntries<KnownJob>(maxJobs));

const learn = (id: string, news: KnownJob) => jobs().set(id, { ...jobs().get(id), ...news });

/** A node has just created a job. What was known of its ID was about another one. */
export const rememberOrdered = (
	id: string,
	gatewayUrl: string,
	{ kind, model, seconds }: JobWork,
): void => jobs().set(id, { order: { kind, model, seconds, gatewayUrl, at: performance.now() } });

/** The order that this process placed as this job, and its age in milliseconds. Another gateway may use the same IDs. */
export function orderedJob(
	id: string,
	gatewayUrl?: string,
): (JobWork & { age: number }) | undefined {
	const { order } = jobs().get(id) ?? {};
	if (!order || order.gatewayUrl !== gatewayUrl) return undefined;
	const { kind, model, seconds, at } = order;
	return { kind, model, seconds, age: performance.now() - at };
}

/**
 * A node has created a job in a manual run. n8n shows nothing of a manual run that was stopped, so the next run of the
 * node names its jobs.
 * @returns the jobs of its earlier manual runs that nothing has collected
 */
export function jobOrdered(context: IExecuteFunctions, gatewayUrl: string, id: string): string[] {
	const node = [context.getWorkflow().id, context.getNode().id, gatewayUrl].join();
	const execution = context.getExecutionId();
	learn(id, { run: { node, execution } });
	return [...jobs().all].flatMap(([other, { run }]) =>
		run?.node === node && run.execution !== execution ? other : [],
	);
}

/** A node has given out the video of a job, or the reason why there is none. */
export const jobCollected = (id: string, failure = failureOfJob(id)): void =>
	learn(id, { run: undefined, failure });

/** Why this job failed, as far as this process knows. */
export const failureOfJob = (id: string): string | undefined => jobs().get(id)?.failure;
