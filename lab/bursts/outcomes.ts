import { chargesOf } from '../../test/n8n/charges';
import { isOpen, type Execution } from '../../test/n8n/owner';
import type { Deployment, StoredExecution } from '../scale/deployment';
import { executionsWith } from './log';
import type { FreshNode } from './nodes';
import { laterName } from './wave';

/** What happened to the nodes of a wave. */
export interface Outcome {
	/** How each execution that was started ended, together with its Retries. */
	ways: string[];
	/** The names of the videos that were charged more than once. */
	twice: string[];
	/** What never came to an end: videos that no Retry orders, executions that say nothing, nodes that refuse to run. */
	stuck: string[];
	/** Executions whose node could not use n8n's store, the Retries included. */
	failures: number;
	/** Those of them that have ordered. */
	unrecorded: number;
}

/** @param atKill see `playWave` */
export async function outcomeOf(
	deployment: Deployment,
	nodes: FreshNode[],
	atKill: StoredExecution[],
): Promise<Outcome> {
	const charges = (name: string) => chargesOf(deployment.gateway, name);
	const names = [...new Set(nodes.flatMap((node) => node.names))];
	const stored = await deployment.executions(...nodes.map(({ workflow }) => workflow));
	const failures = executionsWith('storeFailed', deployment, stored);
	const sent = new Set(executionsWith('sent', deployment, stored));
	const families = await Promise.all(
		atKill.map(async ({ id }) => await wayOf(deployment, id, stored)),
	);
	return {
		ways: families.map(({ way }) => way),
		twice: names.filter((name) => charges(name) > 1),
		stuck: [
			...names.filter((name) => charges(name) === 0).map((name) => `${name} was never ordered`),
			...families.filter(({ isClear }) => !isClear).map(({ id, way }) => `execution ${id}: ${way}`),
			...nodes
				.filter(({ hook }) => charges(laterName(hook)) !== 1)
				.map(({ hook }) => `${laterName(hook)} was not ordered`),
		],
		failures: failures.length,
		unrecorded: failures.filter((id) => sent.has(id)).length,
	};
}

/** How an execution ended, together with its Retries. */
async function wayOf(deployment: Deployment, id: string, stored: StoredExecution[]) {
	const family = stored.filter((one) => one.id === id || one.retryOf === id);
	const [first] = family;
	if (first.status === 'success') return { id, way: 'ended by itself', isClear: true };
	if (family.some(isOpen)) return { id, way: 'does not end', isClear: false };
	if (family.some(({ status }) => status === 'success'))
		return { id, way: 'ended after Retry', isClear: true };
	const message = messageOf(await deployment.owner.execution(family[family.length - 1].id));
	return { id, way: message ?? 'says nothing', isClear: message !== undefined };
}

/** The error of an execution, without names and times. */
const messageOf = ({ data }: Execution): string | undefined =>
	data.resultData.error?.message
		.replace(/“[^”]*”/g, '…')
		.replace(/began on .* at \d\d:\d\d/, 'began');
