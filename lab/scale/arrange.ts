import type { IWorkflowBase } from 'n8n-workflow';
import { once } from 'node:events';
import type { FaultHandle, FaultRule, RecordedRequest } from '../../gateway';
import { until } from '../../test/support/time/until';
import { moments, type Moment } from './fates';
import type { Deployment } from './deployment';

/** The executions of one round, and how many are brought to each moment. */
export interface Group {
	/** Prefix of the names of its executions. */
	title: string;
	/** Executions at each moment but the last. */
	each: number;
	/** Waits that keep running. Their videos finish only after the disruption. */
	held: number;
}

/** The workflows that all rounds share. */
export interface Workflows {
	video: IWorkflowBase;
	/** The same, but it keeps running while it waits. */
	held: IWorkflowBase;
	collect: IWorkflowBase;
}

/**
 * Seconds in which n8n, with the recommended settings, has noticed that a worker is gone (90), has twice checked for
 * executions that no worker runs (360), and has checked for parked ones, on a busy machine.
 */
export const patience = 540;

/** The names of the executions at one moment. */
export function namesAt(moment: Moment, { title, each, held }: Group): string[] {
	const count = moment === 'held' ? held : each;
	return Array.from({ length: count }, (_, index) => `${title} ${moment} ${index}`);
}

export const allNames = (group: Group): Array<{ name: string; moment: Moment }> =>
	moments.flatMap((moment) => namesAt(moment, group).map((name) => ({ name, moment })));

/** Brings executions to each moment at the same time, and keeps them there until the signal aborts. */
export async function bringToMoments(
	deployment: Deployment,
	group: Group,
	end: AbortSignal,
): Promise<void> {
	const { each, title } = group;
	const ended = once(end, 'abort');
	const hold = (moment: Moment, rule: Partial<FaultRule>) =>
		stallOf(deployment, `${title} ${moment} `, { until: ended, times: each, ...rule });
	const reached = async (...handles: FaultHandle[]) =>
		await until(() => handles.every(({ hits }) => hits >= each), patience);
	/** Calls all at once, which is when n8n's store loses most entries. */
	const order = async (moment: Moment) => {
		const hook = moment === 'held' ? 'held' : 'video';
		const names = namesAt(moment, group);
		await Promise.all(names.map(async (name) => await deployment.call(hook, { name })));
	};

	const create = hold('create', { route: 'videoCreate', accepted: true });
	const pass = hold('pass', { route: 'video' });
	const download = hold('download', { route: 'download' });
	await order('pass');
	await order('download');
	await reached(pass, download);
	await order('held');
	await order('create');
	await reached(create);
}

/** Holds requests about the videos whose names start like this. */
export function stallOf(
	deployment: Deployment,
	start: string,
	rule: Partial<FaultRule>,
): FaultHandle {
	return deployment.gateway.fault({
		action: 'stall',
		...rule,
		when: (request) => isOf(deployment, request, start),
	} as FaultRule);
}

/** Whether a request is about a video whose name starts like this. */
function isOf(
	deployment: Deployment,
	{ jobId, body, url }: RecordedRequest,
	start: string,
): boolean {
	const id = jobId ?? /\/results\/([^/]+)/.exec(url)?.[1] ?? '';
	const { prompt } = (body ?? {}) as { prompt?: string };
	return (deployment.gateway.jobs.get(id)?.order.prompt ?? prompt ?? '').startsWith(start);
}
