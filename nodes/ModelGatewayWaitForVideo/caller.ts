import type { IExecuteFunctions, NodeTypeAndVersion, WorkflowExecuteMode } from 'n8n-workflow';

/** In these modes, nobody waits for the result, whatever the workflow looks like. */
const modesWithoutCaller: WorkflowExecuteMode[] = ['trigger', 'error', 'retry'];

/** In these modes, the trigger of the workflow shows whether somebody waits for the response. */
const modesStartedByTrigger: WorkflowExecuteMode[] = ['webhook', 'manual'];

/**
 * Who waits for the result of this execution, as a clause for a message. They would not get it if the execution were
 * parked for hours. Undefined when nobody waits, or nobody waits any more.
 */
export function callerOf(context: IExecuteFunctions): string | undefined {
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
	const earlier = executed(context, context.getParentNodes(name, { includeNodeParameters: true }));
	const trigger = earlier.find((node) => awaitsResponse(context, node));
	if (trigger) return `whoever called ${trigger.name} waits for the response`;
	const isForm = earlier.some(({ type }) => /\.form(Trigger)?$/.test(type));
	const hasPage = isForm && context.getChildNodes(name).some(({ type }) => type.endsWith('.form'));
	return hasPage ? 'whoever filled in the form waits for its next page' : undefined;
}

/** Whether the caller of a trigger gets its response from a later node of the workflow. */
function awaitsResponse(
	context: IExecuteFunctions,
	{ name, type, parameters = {} }: NodeTypeAndVersion,
): boolean {
	const { responseMode: ofOptions } = (parameters.options ?? {}) as { responseMode?: unknown };
	const { responseMode = ofOptions } = parameters;
	if (responseMode === 'responseNode') {
		const executedAfter = executed(context, context.getChildNodes(name));
		return !executedAfter.some(({ type }) => type.endsWith('.respondToWebhook'));
	}
	// By default, a chat gets its response from the last node.
	return (
		type.endsWith('.chatTrigger') || ![undefined, 'onReceived'].includes(responseMode as string)
	);
}

function executed(context: IExecuteFunctions, nodes: NodeTypeAndVersion[]): NodeTypeAndVersion[] {
	const nodeOf = context.getWorkflowDataProxy(0).$ as (name: string) => { isExecuted: boolean };
	return nodes.filter(({ name }) => nodeOf(name).isExecuted);
}
