import type { IWorkflowBase } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FaultHandle, FaultRule, RecordedRequest } from '../../gateway';
import { hasNothingToRun } from '../kills/orders/fates';
import type { Execution } from '../support/owner';
import { until } from '../support/until';
import { sampleVideo, withTitle } from '../../engine/support/samples';
import {
	chargesOf,
	deliveriesOf,
	jobsOf,
	moments,
	type Fate,
	type Moment,
	type Way,
} from './fates';
import { isOpen, isUnderWay, type House, type StoredExecution } from './house';

export interface RoundOptions {
	/** Begins the names of its executions. */
	title: string;
	/** How many executions are brought to each moment but the last. */
	each: number;
	/** How many waits keep running; their videos end only after the strike. */
	held: number;
	/** Ends what is to end, calls `release` once it has, and starts it again. */
	strike(house: House, release: () => void): Promise<void>;
	report(line: string): void;
}

export interface Round {
	fates: Fate[];
	/** How many creates under way n8n's store had forgotten: it has no lock, and workers overwrite one another. */
	unrecorded: number;
}

/** The workflows that all rounds share. */
export interface Workflows {
	video: IWorkflowBase;
	/** The same, which keeps running while it waits. */
	held: IWorkflowBase;
	collect: IWorkflowBase;
}

/** Seconds for two looks of n8n for parked executions, on a busy machine. */
const patience = 240;

/**
 * Brings executions to each moment at the same time, strikes, presses Retry once for each that ended without success,
 * collects what is missing by its ID, and looks what became of each.
 */
export async function playRound(
	house: House,
	workflows: Workflows,
	{ title, each, held, strike, report }: RoundOptions,
): Promise<Round> {
	const { gateway } = house;
	const end = new AbortController();
	const ended = new Promise((resolve) => end.signal.addEventListener('abort', resolve));
	const names = (moment: Moment) =>
		Array.from(
			{ length: moment === 'held' ? held : each },
			(_, index) => `${title} ${moment} ${index}`,
		);
	const started = async () => [
		...(await house.executions(workflows.video)),
		...(await house.executions(workflows.held)),
	];
	const before = new Set((await started()).map(({ id }) => id));

	const hold = (moment: Moment, rule: Partial<FaultRule>) =>
		gateway.fault({
			...{ action: 'stall', until: ended, times: each, ...rule },
			when: (request) => isOf(house, request, `${title} ${moment} `),
		} as FaultRule);
	const reached = async (...handles: FaultHandle[]) =>
		await until(() => handles.every(({ hits }) => hits >= each), patience);
	const create = hold('create', { route: 'videoCreate', accepted: true });
	const pass = hold('pass', { route: 'video' });
	const download = hold('download', { route: 'download' });

	const order = async (moment: Moment) => {
		const hook = moment === 'held' ? 'held' : 'video';
		for (const name of names(moment)) await house.call(hook, { name });
	};
	await order('pass');
	await order('download');
	await reached(pass, download);
	await order('held');
	const recorded = await recordedOrders(house, workflows.video);
	await order('create');
	await reached(create);
	const kept = ((await recordedOrders(house, workflows.video)) - recorded) / entriesOfOrder;
	report(`${3 * each + held} executions are in the midst of creates, passes and downloads`);
	await strike(house, () => end.abort());
	report('what had ended runs again');
	await completeHeld(house, names('held'));

	const own = async () => (await started()).filter(({ id }) => !before.has(id));
	const quiet = async (is: (execution: StoredExecution) => boolean) => {
		await until(async () => !(await own()).some(is), patience).catch(() =>
			report('some executions never end'),
		);
	};
	await quiet(isUnderWay);
	const retried = await retryFailed(house, await own());
	report(`Retry was pressed for ${retried.length}`);
	await quiet(isOpen);
	const executions = await own();
	const seen = await Promise.all(
		executions
			.filter(({ status }) => status !== 'success')
			.map(async ({ id }) => await house.owner.execution(id)),
	);

	const all = moments.flatMap((moment) => names(moment).map((name) => ({ name, moment })));
	const delivered = ({ name }: { name: string }) =>
		deliveriesOf(gateway, house.sink.deliveries, name);
	const withRetry = new Set(retried.map((execution) => nameOf(execution)));
	const ways = new Map<string, Way>();
	const foundIn = new Map<string, string>();
	const missing = all.filter((one) => delivered(one) === 0);
	for (const one of all) {
		ways.set(one.name, withRetry.has(one.name) ? 'after one Retry' : 'by itself');
	}
	for (const { name } of missing) {
		for (const { id } of jobsOf(gateway, name)) {
			foundIn.set(name, await placeOf(house, id, seen));
			await house.call('collect', { name, id });
		}
		ways.set(name, 'collected by its ID');
	}
	if (missing.length > 0) {
		report(`${missing.length} are collected by their IDs`);
		await until(() => missing.every((one) => delivered(one) > 0), patience).catch(() => undefined);
	}
	const fates = all.map((one) => ({
		...one,
		way: delivered(one) > 0 ? (ways.get(one.name) as Way) : 'lost',
		isEmptied:
			foundIn.has(one.name) &&
			!seen.some((execution) => !hasNothingToRun(execution) && nameOf(execution) === one.name),
		foundIn: foundIn.get(one.name) ?? '',
		charges: chargesOf(gateway, one.name),
		deliveries: delivered(one),
	}));
	return { fates, unrecorded: Math.ceil(each - kept) };
}

/** Of an order without a key: itself, and its place. */
const entriesOfOrder = 2;

/** The entries of n8n's store of processed items, in which the order book of a workflow is. */
async function recordedOrders({ database }: House, { id }: IWorkflowBase): Promise<number> {
	const rows = await database.query(
		`SELECT json_array_length(value::json->'data') FROM processed_data WHERE "workflowId" = '${id}'`,
	);
	return rows.reduce((sum, [entries]) => sum + Number(entries), 0);
}

/** Ends the videos of waits that were kept running when something was struck. */
async function completeHeld({ gateway }: House, names: string[]): Promise<void> {
	const video = await sampleVideo();
	for (const name of names) {
		for (const { id } of jobsOf(gateway, name)) {
			gateway.jobs.complete(id, withTitle(video, name));
		}
	}
}

/** Whether a request is about the video of a name that begins so. */
function isOf(house: House, { jobId, body, url }: RecordedRequest, start: string): boolean {
	const id = jobId ?? /\/results\/([^/]+)/.exec(url)?.[1] ?? '';
	const { prompt } = (body ?? {}) as { prompt?: string };
	return (house.gateway.jobs.get(id)?.order.prompt ?? prompt ?? '').startsWith(start);
}

/** Presses Retry for each execution that ended without success, and gives those as n8n had them. */
async function retryFailed(house: House, executions: StoredExecution[]): Promise<Execution[]> {
	const failed = executions.filter((each) => each.status !== 'success' && !isOpen(each));
	return await Promise.all(
		failed.map(async ({ id }, index) => {
			const execution = await house.owner.execution(id);
			// In both its ways in turn. n8n refuses it where nothing is stored that could run.
			const body = { loadWorkflow: index % 2 === 1 };
			await house.owner.request('POST', `/executions/${id}/retry`, body).catch(() => undefined);
			return execution;
		}),
	);
}

/** What the call of the webhook said; nothing in an execution that n8n has emptied. */
function nameOf({ data }: Execution): string | undefined {
	const call = data.resultData.runData.Start?.[0]?.data?.main?.[0]?.[0]?.json;
	return (call?.query as { name?: string } | undefined)?.name;
}

/** Where a user finds the ID of a job. */
export async function placeOf(house: House, id: string, executions: Execution[]): Promise<string> {
	const [highlighted] = await house.database.query(
		`SELECT 1 FROM execution_metadata WHERE value LIKE '%${id}%' LIMIT 1`,
	);
	if (highlighted) return 'list of executions';
	if (executions.some(({ data }) => JSON.stringify(data).includes(id))) return 'error of Retry';
	const logs = readdirSync(house.folder).filter((name) => name.endsWith('.log'));
	const isLogged = logs.some((name) =>
		readFileSync(path.join(house.folder, name), 'utf8').includes(id),
	);
	return isLogged ? 'log of a worker' : 'billing log';
}
