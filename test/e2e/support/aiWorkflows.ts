import type { INodeParameters, NodeConnectionType } from 'n8n-workflow';
import type { WorkflowJson } from '../../harness/workflow';
import { placed, type Node } from './workflows';

/** An AI node of n8n's own. */
export const langchain = (
	name: string,
	type: string,
	parameters: INodeParameters,
	typeVersion: number,
): Node => ({ name, type: `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters });

export const agent = (parameters: INodeParameters = {}, typeVersion = 3): Node =>
	langchain('AI Agent', 'agent', parameters, typeVersion);

/** What the agent is told, where no chat asks it. */
export const told = (text: string) => ({ promptType: 'define', text });

/** A node as the tool of an agent. */
export const asTool = (node: Node, name: string): Node => ({
	...node,
	...{ name, type: `${node.type}Tool` },
});

/** Connects sub-nodes with the last node of a workflow. */
export function withSubNodes(
	workflow: WorkflowJson,
	subNodes: Array<[type: NodeConnectionType, node: Node]>,
): WorkflowJson {
	const root = workflow.nodes.at(-1)?.name ?? '';
	const links = subNodes.map(([type, { name }]) => [
		name,
		{ [type]: [[{ node: root, type, index: 0 }]] },
	]);
	const nodes = [...workflow.nodes, ...subNodes.map(([, node]) => node)];
	const connections = { ...workflow.connections, ...Object.fromEntries(links) };
	return placed({ ...workflow, nodes, connections });
}
