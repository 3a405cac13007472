import type { IWorkflowBase } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { chargesOf, jobsOf } from '../../test/n8n/charges';
import { hasNothingToRun } from '../kills/orders/fates';
import { isOpen, type Execution } from '../../test/n8n/owner';
import { within } from '../../test/support/time/until';
import { patience } from './arrange';
import { deliveriesOf } from '../../test/n8n/sink';
import type { Fate, Way } from './fates';
import type { Deployment, StoredExecution } from './deployment';

interface Aftermath<Ordered> {
	/** The name of each video, and what else is known of it. */
	all: Ordered[];
	/** The executions that ordered them. */
	own: () => Promise<StoredExecution[]>;
	/** Whether Retry may be pressed, by their executions. */
	isOver: (executions: StoredExecution[]) => boolean;
	report: (line: string) => void;
}

/**
 * Presses Retry once for each execution that ended without success, collects missing videos by ID, and checks the
 * outcome of each.
 */
export async function resolveFates<Ordered extends { name: string }>(
	deployment: Deployment,
	{ all, own, isOver, report }: Aftermath<Ordered>,
): Promise<Array<Fate & Ordered>> {
	const quiet = async (is: (executions: StoredExecution[]) => boolean) => {
		if (await within(async () => is(await own()), patience)) return;
		report('some executions do not end');
	};
	await quiet(isOver);
	const retried = await retryFailed(deployment, await own());
	report(`Retry was pressed for ${retried.length}`);
	await quiet((executions) => !executions.some(isOpen));

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
	return all.map((one) => ({
		...one,
		way: wayOf(one),
		isEmptied: foundIn.has(one.name) && !notEmptied.has(one.name),
		foundIn: foundIn.get(one.name) ?? '',
		charges: chargesOf(deployment.gateway, one.name),
		deliveries: deliveriesIn(deployment, one.name),
	}));
}

const deliveriesIn = ({ gateway, sink }: Deployment, name: string): number =>
	deliveriesOf(gateway, sink.deliveries, name);

/** @returns a function that returns the executions of these workflows that started after this call */
export async function fromNowOn(
	deployment: Deployment,
	workflows: IWorkflowBase[],
): Promise<() => Promise<StoredExecution[]>> {
	const all = async () => await deployment.executions(...workflows);
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
	// An execution that ended in its first node is stored with nothing but the call itself.
	const [next] = data.executionData?.nodeExecutionStack ?? [];
	const start = data.resultData.runData.Start?.[0]?.data ?? next?.data;
	const call = start?.main?.[0]?.[0]?.json;
	return (call?.query as { name?: string } | undefined)?.name;
}

/** The places where a user finds a job ID. */
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
