import type { IWorkflowBase } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sampleVideo, withTitle } from '../../support/samples';
import { hasNothingToRun } from '../../n8n/kills/orders/fates';
import { isOpen, isUnderWay, type Execution } from '../../n8n/owner';
import { within } from '../../support/until';
import { allNames, bringToMoments, namesAt, patience, type Crowd, type Workflows } from './arrange';
import { chargesOf, jobsOf } from '../../n8n/kills/charges';
import { deliveriesOf, type Fate, type Way } from './fates';
import type { House, StoredExecution } from './house';

export interface RoundOptions extends Crowd {
	/** Ends what is to end, calls `release` once it has, and starts it again. */
	strike(house: House, release: () => void): Promise<void>;
	report(line: string): void;
}

export interface Round {
	fates: Fate[];
	/** How many creates under way n8n's store had forgotten. */
	unrecorded: number;
}

/**
 * Brings executions to each moment at the same time, strikes, presses Retry once for each that ended without success,
 * collects what is missing by its ID, and looks what became of each.
 */
export async function playRound(
	house: House,
	workflows: Workflows,
	options: RoundOptions,
): Promise<Round> {
	const { each, held, strike, report } = options;
	const own = await fromNowOn(house, [workflows.video, workflows.held]);
	const quiet = async (is: (execution: StoredExecution) => boolean) => {
		if (await within(async () => !(await own()).some(is), patience)) return;
		report('some executions never end');
	};

	const end = new AbortController();
	const unrecorded = await bringToMoments(house, workflows, options, end.signal);
	report(`${3 * each + held} executions are in creates, passes and downloads`);
	await strike(house, () => end.abort());
	report('what had ended runs again');
	await completeHeld(house, namesAt('held', options));
	await quiet(isUnderWay);
	const retried = await retryFailed(house, await own());
	report(`Retry was pressed for ${retried.length}`);
	await quiet(isOpen);

	const all = allNames(options);
	const hasArrived = ({ name }: { name: string }) => deliveriesIn(house, name) > 0;
	const missing = all.filter((one) => !hasArrived(one));
	const failed = await executionsWithoutSuccess(house, await own());
	const foundIn = await collect(house, missing, failed);
	if (missing.length > 0) {
		report(`${missing.length} are collected by their IDs`);
		await within(() => missing.every(hasArrived), patience);
	}
	const withRetry = new Set(retried.map(nameOf));
	const notEmptied = new Set(failed.filter((one) => !hasNothingToRun(one)).map(nameOf));
	const wayOf = (one: { name: string }): Way => {
		if (!hasArrived(one)) return 'lost';
		if (foundIn.has(one.name)) return 'collected by its ID';
		return withRetry.has(one.name) ? 'arrived after one Retry' : 'arrived by itself';
	};
	const fates = all.map((one) => ({
		...one,
		way: wayOf(one),
		isEmptied: foundIn.has(one.name) && !notEmptied.has(one.name),
		foundIn: foundIn.get(one.name) ?? '',
		charges: chargesOf(house.gateway, one.name),
		deliveries: deliveriesIn(house, one.name),
	}));
	return { fates, unrecorded };
}

const deliveriesIn = ({ gateway, sink }: House, name: string): number =>
	deliveriesOf(gateway, sink.deliveries, name);

/** @returns what gives the executions of these workflows that were begun since then */
async function fromNowOn(
	house: House,
	workflows: IWorkflowBase[],
): Promise<() => Promise<StoredExecution[]>> {
	const all = async () =>
		(await Promise.all(workflows.map(async (one) => await house.executions(one)))).flat();
	const before = new Set((await all()).map(({ id }) => id));
	return async () => (await all()).filter(({ id }) => !before.has(id));
}

async function executionsWithoutSuccess(
	{ owner }: House,
	executions: StoredExecution[],
): Promise<Execution[]> {
	const failed = executions.filter(({ status }) => status !== 'success');
	return await Promise.all(failed.map(async ({ id }) => await owner.execution(id)));
}

/** Collects the video of each name by the ID of its job. @returns where a user finds that ID, by name */
async function collect(
	house: House,
	missing: Array<{ name: string }>,
	failed: Execution[],
): Promise<Map<string, string>> {
	const foundIn = new Map<string, string>();
	for (const { name } of missing) {
		for (const { id } of jobsOf(house.gateway, name)) {
			foundIn.set(name, await placeOf(house, id, failed));
			await house.call('collect', { name, id });
		}
	}
	return foundIn;
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
	return isLogged ? 'log of a worker' : 'nowhere';
}
