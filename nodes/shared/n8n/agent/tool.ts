import type { IExecuteFunctions, INode } from 'n8n-workflow';

/**
 * Whether the node is the tool of an agent. Newer agents let the engine run their tools like any node, where
 * `isToolExecution()` says no: only the type that n8n makes of a node for agents tells it everywhere.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** Whether the agent itself runs the node, as older agents do. n8n 1 does not tell. */
export function isRunByAgent(context: IExecuteFunctions): boolean {
	return typeof context.isToolExecution === 'function'
		? context.isToolExecution()
		: isTool(context.getNode());
}
