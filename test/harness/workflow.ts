import { FULL_ACCESS_NODE_TYPES } from 'n8n-core';
import {
	deepCopy,
	Workflow,
	type IConnections,
	type INode,
	type IPinData,
	type IWorkflowBase,
	type IWorkflowSettings,
} from 'n8n-workflow';

import { defaultVersion, nodeTypes } from './registry';

/** A workflow as n8n exports it. Fields that few tests care about are optional. */
export interface WorkflowJson {
	id?: string;
	name?: string;
	nodes: Array<Pick<INode, 'name' | 'type'> & Partial<INode>>;
	connections?: IConnections;
	/** Settings without `executionOrder: 'v1'` mean the order of old workflows, as in n8n. */
	settings?: IWorkflowSettings;
	pinData?: IPinData;
}

/** The workflow as n8n stores it, each node with a credential of every given type that it can use. */
export function completeWorkflow(json: WorkflowJson, credentialTypes: string[]): IWorkflowBase {
	const { nodes, ...rest } = deepCopy(json);
	const now = new Date();
	return {
		id: 'harness',
		name: 'Harness',
		active: false,
		activeVersionId: null,
		isArchived: false,
		createdAt: now,
		updatedAt: now,
		connections: {},
		settings: { executionOrder: 'v1' },
		...rest,
		nodes: nodes.map((node, index) => ({
			id: node.name,
			typeVersion: defaultVersion(node.type),
			// n8n runs the leftmost of branches at the same height first, so they run in the order of the list.
			position: [index * 200, 0],
			parameters: {},
			...node,
			credentials: {
				...usableCredentials(node.type, node.typeVersion, credentialTypes),
				...node.credentials,
			},
		})),
	};
}

function usableCredentials(
	nodeType: string,
	version: number | undefined,
	credentialTypes: string[],
): INode['credentials'] {
	const { credentials } = nodeTypes.getByNameAndVersion(nodeType, version).description;
	const declared = credentials?.map(({ name }) => name) ?? [];
	const usable = FULL_ACCESS_NODE_TYPES.has(nodeType)
		? credentialTypes
		: credentialTypes.filter((type) => declared.includes(type));
	return Object.fromEntries(usable.map((type) => [type, { id: type, name: type }]));
}

export function createWorkflow(data: IWorkflowBase, pinData?: IPinData): Workflow {
	const { id, name, nodes, connections, settings, active } = data;
	return new Workflow({ id, name, nodes, connections, settings, active, nodeTypes, pinData });
}
