import type { IExecuteFunctions, NodeTypeAndVersion, WorkflowExecuteMode } from 'n8n-workflow';
import { textAt } from '../shared/service/json';
import { isTool } from '../shared/n8n/agent/tool';
import { nodesAround, type EngineContext } from '../shared/n8n/execution/engineContext';
import { whileWaiting } from './fields';

/** How long one pass of a wait keeps the execution open. */
export type PassLength =
	/** Not at all; it polls nothing. */
	| { name: 'parkAtOnce' }
	/** Until this time, in milliseconds since 1970. The next pass does the polls that are due later. */
	| { name: 'pollUntil'; time: number }
	/** Until the last job has ended. */
	| { name: 'stay' };

/**
 * Whether this pass parks the execution or keeps it open, and a hint about it for the user.
 * @param areJobsStored whether n8n's database has the jobs: a wait that keeps running lets n8n store them first, so that
 * a Retry has them if n8n is killed
 * @param now milliseconds since 1970
 * @param canPark false if n8n did not park this wait, or has forgotten what it stored
 */
export function planPass(
	context: EngineContext,
	areJobsStored: boolean,
	now: number,
	canPark: boolean,
): { length: PassLength; hint?: string } {
	const chosen = context.getNodeParameter(whileWaiting.name, 0, whileWaiting.default);
	const isManual = context.getMode() === 'manual';
	const savesProgress = context.getWorkflowSettings().saveExecutionProgress === true;
	const isStored = savesProgress || areJobsStored;
	const obstacle =
		parkingObstacle(context, canPark) ?? (chosen === 'park' ? undefined : callerOf(context));
	if (obstacle !== undefined) {
		const isExpected = isStored || isTool(context.getNode());
		const isHinted = chosen === 'park' || obstacle === noParking || !isExpected;
		const hint = isHinted ? obstacleHint(obstacle, isStored) : undefined;
		return { length: { name: 'stay' }, hint };
	}
	if (chosen === 'park' || (chosen === 'auto' && !isManual)) {
		return { length: areJobsStored ? { name: 'pollUntil', time: now } : { name: 'parkAtOnce' } };
	}
	if (isStored) return { length: { name: 'stay' } };
	if (!isManual) return { length: { name: 'parkAtOnce' } };
	return { length: { name: 'pollUntil', time: now + manualRunHoldTime } };
}

/** Milliseconds before n8n stores a manual run, so that a user who tests a short job sees no pause. */
const manualRunHoldTime = 15_000;

const noParking =
	'this version of n8n cannot park it. If n8n stops, press Retry: nothing is ordered again';

/** Why n8n could not resume this execution if it were parked; undefined when it can. */
function parkingObstacle(context: EngineContext, canPark: boolean): string | undefined {
	if (isTool(context.getNode())) return 'a tool of an AI agent cannot be parked';
	if (!context.getWorkflow().id) return 'only a saved workflow can be parked';
	const { runExecutionData, additionalData } = context;
	return canPark && runExecutionData && additionalData?.hooks ? undefined : noParking;
}

function obstacleHint(obstacle: string, isStored: boolean): string {
	const risk =
		isStored || obstacle === noParking
			? ''
			: ' If n8n stops in the meantime, the execution loses the IDs of its jobs, unless “Save execution progress” is on in the settings of the workflow.';
	return `The node kept running while it waited, because ${obstacle}.${risk}`;
}

/** In these modes, nobody waits for the result, whatever the workflow looks like. */
const modesWithoutCaller: WorkflowExecuteMode[] = ['trigger', 'error', 'retry'];

/** In these modes, the trigger of the workflow shows whether somebody waits for the response. */
const modesStartedByTrigger: WorkflowExecuteMode[] = ['webhook', 'manual'];

/**
 * A clause for a message about whoever waits for the result of this execution, and would not get it from a parked one.
 * Undefined when nobody waits, or nobody waits any more.
 */
function callerOf(context: IExecuteFunctions): string | undefined {
	const mode = context.getMode();
	if (modesWithoutCaller.includes(mode)) return undefined;
	if (mode === 'integrated') return 'another workflow waits for the result of this one';
	if (!modesStartedByTrigger.includes(mode))
		return 'what started this workflow waits for its result';
	// Older versions of n8n do not stream.
	if (typeof context.isStreaming === 'function' && context.isStreaming()) {
		return 'the response is shown to somebody while it is made';
	}

	const { name } = context.getNode();
	const before = nodesAround(context, name, 'getParentNodes');
	if (!before) return 'a connection of the workflow leads to a node that is missing';
	const earlier = executed(context, before);
	const trigger = earlier.find((node) => awaitsResponse(context, node));
	if (trigger) return `whoever called ${trigger.name} waits for the response`;
	const isForm = earlier.some(({ type }) => /\.form(Trigger)?$/.test(type));
	const later = nodesAround(context, name, 'getChildNodes') ?? [];
	const hasPage = isForm && later.some(({ type }) => type.endsWith('.form'));
	return hasPage ? 'whoever filled in the form waits for its next page' : undefined;
}

/** Whether the caller of a trigger gets its response from a later node of the workflow. */
function awaitsResponse(
	context: IExecuteFunctions,
	{ name, type, parameters }: NodeTypeAndVersion,
): boolean {
	const responseMode = textAt(parameters, 'responseMode', 'options.responseMode');
	if (responseMode === 'responseNode') {
		const executedAfter = executed(context, nodesAround(context, name, 'getChildNodes') ?? []);
		return !executedAfter.some(({ type }) => type.endsWith('.respondToWebhook'));
	}
	// By default, a chat gets its response from the last node.
	return type.endsWith('.chatTrigger') || ![undefined, 'onReceived'].includes(responseMode);
}

function executed(context: IExecuteFunctions, nodes: NodeTypeAndVersion[]): NodeTypeAndVersion[] {
	const nodeOf = context.getWorkflowDataProxy(0).$ as (name: string) => { isExecuted: boolean };
	return nodes.filter(({ name }) => nodeOf(name).isExecuted);
}
