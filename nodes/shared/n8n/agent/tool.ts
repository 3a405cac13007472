import type { IExecuteFunctions, INode, ISupplyDataFunctions } from 'n8n-workflow';
import { textAt } from '../../service/json';

/**
 * Whether the node is the tool of an agent. n8n adds "Tool" to the type of such a node. `isToolExecution()` is not
 * enough: it is false for newer agents, which let the engine run their tools like any node.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** The name under which a tool gets arguments that the model wrote as no JSON. Our tools refuse them: they may cost money. */
export const unreadableArguments = 'arguments_that_are_no_json';

/**
 * Whether a client outside n8n calls the tool through n8n's MCP Server Trigger. Only a field of the context shows it,
 * which n8n's types do not have. Without that field, the tool counts as one of an agent in n8n.
 */
export function isCalledByMcpClient(context: IExecuteFunctions | ISupplyDataFunctions): boolean {
	return /\.mcpTrigger$/.test(textAt(context, 'parentNode.type') ?? '');
}

/** Whether the agent itself runs the node, as older agents do. All agents of n8n 1 do; it has no `isToolExecution()`. */
export function isRunByAgent(context: IExecuteFunctions): boolean {
	return typeof context.isToolExecution === 'function'
		? context.isToolExecution()
		: isTool(context.getNode());
}
