import { once } from 'node:events';
import type { RecordedRequest } from '../../gateway';
import { chargesOf } from '../../test/n8n/charges';
import { isOpen, isUnderWay } from '../../test/n8n/owner';
import { within } from '../../test/support/time/until';
import type { Deployment, StoredExecution } from '../scale/deployment';
import { executionsWith } from './log';
import type { FreshNode } from './nodes';

export interface Stage {
	nodes: FreshNode[];
	/** How many stages were before it. */
	turn: number;
	report(line: string): void;
}

export interface Wave extends Stage {
	/** How many of the workers are killed. */
	victims: number;
	/** Starts the executions of the nodes. */
	start(deployment: Deployment, stage: Stage): Promise<void>;
}

/** The executions that a wave has started. */
export interface Played {
	/** The first executions, as they were when the workers were killed. */
	started: StoredExecution[];
	/** The videos that neither they nor their Retries have ordered. */
	missing: string[];
}

/** Seconds in which n8n ends or stores anything, on a busy machine. */
const patience = 90;

/**
 * Starts executions of new nodes, kills workers while orders have no response yet, presses Retry for each
 * execution that did not succeed, twice, and runs each node once more. A video that was not ordered so far is wanted
 * again.
 */
export async function playWave(
	deployment: Deployment,
	{ victims, start, ...stage }: Wave,
): Promise<Played> {
	const { nodes, report } = stage;
	const executions = async () => await deployment.executions(...nodes.map((node) => node.workflow));
	const isQuiet = async () => {
		const underWay = async () => (await executions()).filter(isUnderWay);
		if (await within(async () => (await underWay()).length === 0, patience)) return;
		for (const { id, status } of await underWay()) report(`execution ${id} stays ${status}`);
	};
	const end = new AbortController();
	const held = new Set(nodes.filter(({ isHeld }) => isHeld).flatMap(({ names }) => names));
	const hold = deployment.gateway.fault({
		route: 'videoCreate',
		action: 'stall',
		accepted: true,
		times: Infinity,
		until: once(end.signal, 'abort'),
		when: (request) => held.has(nameOf(request)),
	});
	await start(deployment, stage);
	const started = await executions();
	const killed = deployment.running.slice(0, victims);
	await Promise.all(killed.map(async (worker) => await worker.end('SIGKILL')));
	hold.remove();
	end.abort();
	await deployment.startWorkers(victims);
	await isQuiet();
	report(`${started.filter(isUnderWay).length} orders had no response when workers were killed`);

	const failed = (await executions()).filter((one) => one.status !== 'success' && !isOpen(one));
	for (const loadWorkflow of [false, true]) {
		await Promise.all(failed.map(async ({ id }) => await retry(deployment, id, loadWorkflow)));
		await isQuiet();
	}
	report(`Retry was pressed twice for ${failed.length}`);
	const missing = nodes.flatMap(({ hook, names }) =>
		[...new Set(names)].flatMap((name) =>
			chargesOf(deployment.gateway, name) === 0 ? [{ hook, name }] : [],
		),
	);
	const later = nodes.map(({ hook }) => ({ hook, name: laterName(hook) }));
	const earlier = new Set((await executions()).map(({ id }) => id));
	await Promise.all(
		[...missing, ...later].map(async ({ hook, name }) => await deployment.call(hook, { name })),
	);
	// n8n's recovery marks executions as crashed that it finds in no queue at that moment, although a worker runs them.
	await within(async () => {
		const last = (await executions()).filter(({ id }) => !earlier.has(id));
		return executionsWith('finished', deployment, last).length === last.length;
	}, patience);
	await isQuiet();
	return { started, missing: missing.map(({ name }) => name) };
}

/** The video that a node orders after everything. */
export const laterName = (hook: string): string => `${hook} later`;

/** Waits until every execution of these nodes has ended, or has sent an order that is held. @returns whether they have */
export async function settled(deployment: Deployment, nodes: FreshNode[]): Promise<boolean> {
	const held = new Set(nodes.flatMap(({ isHeld, names }) => (isHeld ? names : [])));
	const count = nodes.flatMap(({ names }) => names).length;
	return await within(async () => {
		const executions = await deployment.executions(...nodes.map(({ workflow }) => workflow));
		const finished = executionsWith('finished', deployment, executions).length;
		const waiting = deployment.gateway.requests.filter((request) => held.has(nameOf(request)));
		return finished + waiting.length >= count;
	}, patience);
}

/** The name of the video that a request orders. */
export function nameOf({ route, body }: RecordedRequest): string {
	return route === 'videoCreate' ? ((body ?? {}) as { prompt: string }).prompt : '';
}

/** Presses Retry. n8n refuses it if it has stored nothing to run. */
async function retry({ owner }: Deployment, id: string, loadWorkflow: boolean): Promise<void> {
	await owner.request('POST', `/executions/${id}/retry`, { loadWorkflow }).catch(() => undefined);
}
