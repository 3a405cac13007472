import { chargesOf } from '../../test/n8n/charges';
import { isOpen, type Execution } from '../../test/n8n/owner';
import type { Deployment, StoredExecution } from '../scale/deployment';
import { executionsWith, linesAbout } from './log';
import type { FreshNode } from './nodes';
import { laterName, type Played } from './wave';

/** The outcome of a node. */
export interface Outcome {
	/** How each execution that was started ended, together with its Retries. */
	ways: string[];
	/** The videos that were charged more than once. */
	twice: string[];
	/** Ends that never come: videos that cannot be ordered, executions that say nothing, a node that refuses to run. */
	stuck: string[];
	/** How many videos only a new execution has ordered. */
	reordered: number;
	/** Executions that could not use n8n's store, the Retries included. */
	failures: number;
	/** Those of them that have ordered. */
	unrecorded: number;
	/** The executions of a node with a problem, and what the workers have logged of them. */
	evidence: string[];
}

export async function outcomeOf(
	deployment: Deployment,
	{ workflow, hook, names }: FreshNode,
	{ started, missing }: Played,
): Promise<Outcome> {
	const charges = (name: string) => chargesOf(deployment.gateway, name);
	const executions = await deployment.executions(workflow);
	const own = started.filter((execution) => execution.workflow === workflow.id);
	const families = await Promise.all(
		own.map(async ({ id }) => await familyOf(deployment, id, executions)),
	);
	const wanted = [...new Set(names)];
	const twice = wanted.filter((name) => charges(name) > 1);
	const stuck = [
		...wanted.filter((name) => charges(name) === 0).map((name) => `${name} cannot be ordered`),
		...families.filter(({ isClear }) => !isClear).map(({ id, way }) => `execution ${id} ${way}`),
		...(charges(laterName(hook)) === 1 ? [] : [`${hook} orders no other video`]),
	];
	const failures = executionsWith('storeFailed', deployment, executions);
	const sent = new Set(executionsWith('sent', deployment, executions));
	return {
		ways: families.map(({ way }) => way),
		twice,
		stuck,
		reordered: wanted.filter((name) => missing.includes(name) && charges(name) > 0).length,
		failures: failures.length,
		unrecorded: failures.filter((id) => sent.has(id)).length,
		evidence:
			twice.length + stuck.length === 0
				? []
				: [
						...twice.map((name) => `${name} is charged ${charges(name)} times`),
						...stuck,
						...executions.map(
							({ id, status, retryOf }) => `${id} ${status}${retryOf && `, Retry of ${retryOf}`}`,
						),
						...linesAbout(deployment, executions),
					],
	};
}

/** How an execution ended, together with its Retries. */
async function familyOf(deployment: Deployment, id: string, executions: StoredExecution[]) {
	const family = executions.filter((one) => one.id === id || one.retryOf === id);
	const [first] = family;
	if (first.status === 'success') return { id, way: 'ends by itself', isClear: true };
	if (family.some(isOpen)) return { id, way: 'does not end', isClear: false };
	if (family.some(({ status }) => status === 'success'))
		return { id, way: 'ends after Retry', isClear: true };
	const last = await deployment.owner.execution(family[family.length - 1].id);
	const message = messageOf(last);
	return { id, way: message ?? 'fails without a message', isClear: message !== undefined };
}

/** The error of an execution, without names and times. */
const messageOf = ({ data }: Execution): string | undefined =>
	data.resultData.error?.message
		.replace(/“[^”]*”/g, '…')
		.replace(/began on .* at \d\d:\d\d/, 'began');
