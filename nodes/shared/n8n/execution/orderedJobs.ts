import type { IExecuteFunctions } from 'n8n-workflow';
import type { JobWork } from '../../service/jobs/expectation';
import { NewestEntries, remembered } from './processMemory';

interface KnownJob {
	/** The request that became this job, its gateway, and the time of `performance.now`, which nobody sets. */
	order?: JobWork & { gatewayUrl: string; at: number };
	/** The manual run that ordered it, until something has collected it. */
	run?: { node: string; execution: string };
	failure?: string;
}

const maxJobs = 5_000;

/** By the ID of the job. */
const jobs = () => remembered('jobs', () => new NewestEntries<KnownJob>(maxJobs));

const learn = (id: string, news: KnownJob) => jobs().set(id, { ...jobs().get(id), ...news });

/** A node has just created a job. All that was known of its ID was about another one. */
export const rememberOrdered = (
	id: string,
	gatewayUrl: string,
	{ kind, model, seconds }: JobWork,
): void => jobs().set(id, { order: { kind, model, seconds, gatewayUrl, at: performance.now() } });

/** The order of this job, and its age in milliseconds, if this process placed it. Other gateways may use the same ID. */
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
 * A node has created a job in a manual run. n8n shows nothing of one that was stopped, so the next run names its jobs.
 * @returns the jobs of the node's earlier manual runs that nothing has collected
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

export const failureOfJob = (id: string): string | undefined => jobs().get(id)?.failure;
