import type { IWorkflowBase } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sampleVideo, withTitle } from '../../support/samples';
import { hasNothingToRun } from '../../n8n/kills/orders/fates';
import { isOpen, isUnderWay, type Execution } from '../../n8n/owner';
import { within } from '../../support/until';
import { allNames, bringToMoments, namesAt, patience, type Group, type Workflows } from './arrange';
import { chargesOf, jobsOf } from '../../n8n/kills/charges';
import { deliveriesOf } from '../../n8n/sink';
import type { Fate, Way } from './fates';
import type { Deployment, StoredExecution } from './deployment';

export interface RoundOptions extends Group {
	/** Stops or kills something, calls `release` once that has happened, and starts it again. */
	disrupt(deployment: Deployment, release: () => void): Promise<void>;
	report(line: string): void;
}

export interface Round {
	fates: Fate[];
	/** How many creates under way are missing in n8n's store. */
	unrecorded: number;
}

/**
 * Brings executions to each moment at the same time, disrupts n8n, presses Retry once for each execution that ended
 * without success, collects missing videos by ID, and checks the outcome of each.
 */
export async function playRound(
	deployment: Deployment,
	workflows: Workflows,
	options: RoundOptions,
): Promise<Round> {
	const { each, held, disrupt, report } = options;
	const own = await fromNowOn(deployment, [workflows.video, workflows.held]);
	const quiet = async (is: (execution: StoredExecution) => boolean) => {
		if (await within(async () => !(await own()).some(is), patience)) return;
		report('some executions do not end');
	};

	const end = new AbortController();
	const unrecorded = await bringToMoments(deployment, workflows, options, end.signal);
	report(`${3 * each + held} executions are in creates, passes and downloads`);
	await disrupt(deployment, () => end.abort());
	report('what was stopped runs again');
	await completeHeld(deployment, namesAt('held', options));
	await quiet(isUnderWay);
	const retried = await retryFailed(deployment, await own());
	report(`Retry was pressed for ${retried.length}`);
	await quiet(isOpen);

	const all = allNames(options);
	const hasArrived = ({ name }: { name: string }) => deliveriesIn(deployment, name) > 0;
	const missing = all.filter((one) => !hasArrived(one));
	const failed = await executionsWithoutSuccess(deployment, await own());
	const foundIn = await collect(deployment, missing, failed);
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
		charges: chargesOf(deployment.gateway, one.name),
		deliveries: deliveriesIn(deployment, one.name),
	}));
	return { fates, unrecorded };
}

const deliveriesIn = ({ gateway, sink }: Deployment, name: string): number =>
	deliveriesOf(gateway, sink.deliveries, name);

/** @returns a function that returns the executions of these workflows that started after this call */
async function fromNowOn(
	deployment: Deployment,
	workflows: IWorkflowBase[],
): Promise<() => Promise<StoredExecution[]>> {
	const all = async () =>
		(await Promise.all(workflows.map(async (one) => await deployment.executions(one)))).flat();
	const before = new Set((await all()).map(({ id }) => id));
	return async () => (await all()).filter(({ id }) => !before.has(id));
}

async function executionsWithoutSuccess(
	{ owner }: Deployment,
	executions: StoredExecution[],
): Promise<Execution[]> {
	const failed = executions.filter(({ status }) => status !== 'success');
	return await Promise.all(failed.map(async ({ id }) => await owner.execution(id)));
}

/** Collects the video of each name by its job ID. @returns where a user finds that ID, by name */
async function collect(
	deployment: Deployment,
	missing: Array<{ name: string }>,
	failed: Execution[],
): Promise<Map<string, string>> {
	const foundIn = new Map<string, string>();
	for (const { name } of missing) {
		for (const { id } of jobsOf(deployment.gateway, name)) {
			foundIn.set(name, await placeOf(deployment, id, failed));
			await deployment.call('collect', { name, id });
		}
	}
	return foundIn;
}

/** Finishes the videos of the waits that kept running at the disruption. */
async function completeHeld({ gateway }: Deployment, names: string[]): Promise<void> {
	const video = await sampleVideo();
	for (const name of names) {
		for (const { id } of jobsOf(gateway, name)) {
			gateway.jobs.complete(id, withTitle(video, name));
		}
	}
}

/** Presses Retry for each execution that ended without success. @returns these as n8n had stored them */
async function retryFailed(
	deployment: Deployment,
	executions: StoredExecution[],
): Promise<Execution[]> {
	const failed = executions.filter((each) => each.status !== 'success' && !isOpen(each));
	return await Promise.all(
		failed.map(async ({ id }, index) => {
			const execution = await deployment.owner.execution(id);
			// Retry has two ways, used alternately. n8n refuses it if it has stored nothing to run.
			const body = { loadWorkflow: index % 2 === 1 };
			await deployment.owner
				.request('POST', `/executions/${id}/retry`, body)
				.catch(() => undefined);
			return execution;
		}),
	);
}

/** The name in the call of the webhook; undefined in an execution that n8n has emptied. */
function nameOf({ data }: Execution): string | undefined {
	const call = data.resultData.runData.Start?.[0]?.data?.main?.[0]?.[0]?.json;
	return (call?.query as { name?: string } | undefined)?.name;
}

/** Where a user finds a job ID. */
export async function placeOf(
	deployment: Deployment,
	id: string,
	executions: Execution[],
): Promise<string> {
	const [highlighted] = await deployment.database.query(
		`SELECT 1 FROM execution_metadata WHERE value LIKE '%${id}%' LIMIT 1`,
	);
	if (highlighted) return 'list of executions';
	if (executions.some(({ data }) => JSON.stringify(data).includes(id))) return 'error of Retry';
	const logs = readdirSync(deployment.folder).filter((name) => name.endsWith('.log'));
	const isLogged = logs.some((name) =>
		readFileSync(path.join(deployment.folder, name), 'utf8').includes(id),
	);
	return isLogged ? 'log of a worker' : 'nowhere';
}
