import type { IExecuteFunctions, INode } from 'n8n-workflow';

/**
 * Whether the node is the tool of an agent. Newer agents let the engine run their tools like any node, for which
 * `isToolExecution()` is false; only the node's type, to which n8n adds "Tool", tells it everywhere.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** Whether the agent itself runs the node, as older agents do. n8n 1 has no `isToolExecution()`, but only such agents. */
export function isRunByAgent(context: IExecuteFunctions): boolean {
	return typeof context.isToolExecution === 'function'
		? context.isToolExecution()
		: isTool(context.getNode());
}
