import type { IExecuteFunctions, INode, ISupplyDataFunctions } from 'n8n-workflow';
import { textAt } from '../../gateway/json';

/**
 * Whether the node is the tool of an agent. Newer agents let the engine run their tools like any node, for which
 * `isToolExecution()` is false; only the node's type, to which n8n adds "Tool", tells it everywhere.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/**
 * Whether a client outside n8n calls the tool, through n8n's MCP Server Trigger. Only the context that n8n makes for such
 * a call tells it, by a field that n8n's types do not show; without it, the tool is taken for one of an agent in n8n.
 */
export function isCalledByMcpClient(context: IExecuteFunctions | ISupplyDataFunctions): boolean {
	return /\.mcpTrigger$/.test(textAt(context, 'parentNode.type') ?? '');
}

/** Whether the agent itself runs the node, as older agents do. n8n 1 has no `isToolExecution()`, but only such agents. */
export function isRunByAgent(context: IExecuteFunctions): boolean {
	return typeof context.isToolExecution === 'function'
		? context.isToolExecution()
		: isTool(context.getNode());
}
