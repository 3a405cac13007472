import type { IExecuteFunctions, INode, ISupplyDataFunctions } from 'n8n-workflow';
import { textAt } from '../../service/json';

/**
 * n8n adds "Tool" to the type of a node that is the tool of an agent. `isToolExecution()` is not enough: it is false
 * for newer agents, which let the engine run their tools like any node.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** A tool gets arguments that are no JSON under this name. Our tools refuse them: they may cost money. */
export const unreadableArguments = 'arguments_that_are_no_json';

/**
 * Whether a client outside n8n calls the tool through n8n's MCP Server Trigger. Only a field of the context, which
 * n8n's types do not have, shows it. Without it, the tool counts as one of an agent in n8n.
 */
export function isCalledByMcpClient(context: IExecuteFunctions | ISupplyDataFunctions): boolean {
	return /\.mcpTrigger$/.test(textAt(context, 'parentNode.type') ?? '');
}

/** Whether the agent itself runs the node, as older ones do: all of n8n 1, which has no `isToolExecution()`. */
export function isRunByAgent(context: IExecuteFunctions): boolean {
	return typeof context.isToolExecution === 'function'
		? context.isToolExecution()
		: isTool(context.getNode());
}
