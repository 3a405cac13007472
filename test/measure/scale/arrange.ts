import type { IWorkflowBase } from 'n8n-workflow';
import { once } from 'node:events';
import type { FaultHandle, FaultRule, RecordedRequest } from '../../gateway';
import { until } from '../../support/until';
import { moments, type Moment } from './fates';
import type { House } from './house';

/** How many executions are brought to each moment. */
export interface Crowd {
	/** Begins the names of its executions. */
	title: string;
	/** Executions at each moment but the last. */
	each: number;
	/** Waits that keep running; their videos end only after the strike. */
	held: number;
}

/** The workflows that all rounds share. */
export interface Workflows {
	video: IWorkflowBase;
	/** The same, which keeps running while it waits. */
	held: IWorkflowBase;
	collect: IWorkflowBase;
}

/** Of an order without a key: itself, its place, and its item. */
const entriesOfOrder = 3;

/** Seconds for two looks of n8n for parked executions, on a busy machine. */
export const patience = 240;

/** What the executions of one moment are called. */
export function namesAt(moment: Moment, { title, each, held }: Crowd): string[] {
	const count = moment === 'held' ? held : each;
	return Array.from({ length: count }, (_, index) => `${title} ${moment} ${index}`);
}

export const allNames = (crowd: Crowd): Array<{ name: string; moment: Moment }> =>
	moments.flatMap((moment) => namesAt(moment, crowd).map((name) => ({ name, moment })));

/**
 * Brings executions to each moment at the same time, and keeps them there until the signal aborts.
 * @returns how many creates under way n8n's store had forgotten: it has no lock, and workers overwrite one another
 */
export async function bringToMoments(
	house: House,
	workflows: Workflows,
	crowd: Crowd,
	end: AbortSignal,
): Promise<number> {
	const { each, title } = crowd;
	const ended = once(end, 'abort');
	const hold = (moment: Moment, rule: Partial<FaultRule>) =>
		house.gateway.fault({
			...{ action: 'stall', until: ended, times: each, ...rule },
			when: (request) => isOf(house, request, `${title} ${moment} `),
		} as FaultRule);
	const reached = async (...handles: FaultHandle[]) =>
		await until(() => handles.every(({ hits }) => hits >= each), patience);
	/** All at once, which is where n8n's store forgets most. */
	const order = async (moment: Moment) => {
		const hook = moment === 'held' ? 'held' : 'video';
		const names = namesAt(moment, crowd);
		await Promise.all(names.map(async (name) => await house.call(hook, { name })));
	};

	const create = hold('create', { route: 'videoCreate', accepted: true });
	const pass = hold('pass', { route: 'video' });
	const download = hold('download', { route: 'download' });
	await order('pass');
	await order('download');
	await reached(pass, download);
	await order('held');
	const before = await recordedOrders(house, workflows.video);
	await order('create');
	await reached(create);
	const recorded = ((await recordedOrders(house, workflows.video)) - before) / entriesOfOrder;
	return Math.ceil(each - recorded);
}

/** The entries of n8n's store of processed items, where the journal records the orders of a workflow. */
async function recordedOrders({ database }: House, { id }: IWorkflowBase): Promise<number> {
	const rows = await database.query(
		`SELECT json_array_length(value::json->'data') FROM processed_data WHERE "workflowId" = '${id}'`,
	);
	return rows.reduce((sum, [entries]) => sum + Number(entries), 0);
}

/** Whether a request is about the video of a name that begins so. */
function isOf(house: House, { jobId, body, url }: RecordedRequest, start: string): boolean {
	const id = jobId ?? /\/results\/([^/]+)/.exec(url)?.[1] ?? '';
	const { prompt } = (body ?? {}) as { prompt?: string };
	return (house.gateway.jobs.get(id)?.order.prompt ?? prompt ?? '').startsWith(start);
}
