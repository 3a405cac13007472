import type { IExecuteFunctions, NodeTypeAndVersion, WorkflowExecuteMode } from 'n8n-workflow';

/** Started by nobody who waits for an answer, whatever the workflow is like. */
const modesWithoutCaller: WorkflowExecuteMode[] = ['trigger', 'error', 'retry'];

/** The workflow's own trigger says whether it is answered. */
const modesStartedByTrigger: WorkflowExecuteMode[] = ['webhook', 'manual'];

/**
 * Who waits for the result of this execution, as a clause for a message; a pause of hours would leave them without.
 * Undefined when nobody does, or nobody any more.
 */
export function callerOf(context: IExecuteFunctions): string | undefined {
	const mode = context.getMode();
	if (modesWithoutCaller.includes(mode)) return undefined;
	if (mode === 'integrated') return 'another workflow waits for the result of this one';
	if (!modesStartedByTrigger.includes(mode)) return 'what started this workflow waits for its result';
	// Older versions of n8n do not stream.
	if (typeof context.isStreaming === 'function' && context.isStreaming()) {
		return 'the response is shown to somebody while it is made';
	}

	const { name } = context.getNode();
	const earlier = executed(context, context.getParentNodes(name, { includeNodeParameters: true }));
	const trigger = earlier.find((node) => awaitsResponse(context, node));
	if (trigger) return `whoever called ${trigger.name} waits for the response`;
	const isForm = earlier.some(({ type }) => /\.form(Trigger)?$/.test(type));
	const hasPage = isForm && context.getChildNodes(name).some(({ type }) => type.endsWith('.form'));
	return hasPage ? 'whoever filled in the form waits for its next page' : undefined;
}

/** Whether the call that a node took is answered by what comes later in the workflow. */
function awaitsResponse(
	context: IExecuteFunctions,
	{ name, type, parameters = {} }: NodeTypeAndVersion,
): boolean {
	const { responseMode: ofOptions } = (parameters.options ?? {}) as { responseMode?: unknown };
	const { responseMode = ofOptions } = parameters;
	if (responseMode === 'responseNode') {
		const answers = executed(context, context.getChildNodes(name));
		return !answers.some(({ type }) => type.endsWith('.respondToWebhook'));
	}
	// A chat is answered by the last node unless it is told otherwise.
	return (
		type.endsWith('.chatTrigger') || ![undefined, 'onReceived'].includes(responseMode as string)
	);
}

function executed(context: IExecuteFunctions, nodes: NodeTypeAndVersion[]): NodeTypeAndVersion[] {
	const nodeOf = context.getWorkflowDataProxy(0).$ as (name: string) => { isExecuted: boolean };
	return nodes.filter(({ name }) => nodeOf(name).isExecuted);
}
