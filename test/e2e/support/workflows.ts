import type { IConnections, INodeParameters } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import type { WorkflowJson } from '../../harness/workflow';
import type { CredentialReference } from './owner';

export type Node = WorkflowJson['nodes'][number];

/** A node of this package. */
const ours =
	(type: string, standard: string) =>
	(parameters: INodeParameters, modelGatewayApi: CredentialReference, name = standard): Node => ({
		...{ name, type: `n8n-nodes-model-gateway.${type}`, typeVersion: 1, parameters },
		credentials: { modelGatewayApi },
	});

export const modelGateway = ours('modelGateway', 'Model Gateway');
export const waitForVideo = ours('modelGatewayWaitForVideo', 'Wait for Video');
export const chatModel = ours('lmChatModelGateway', 'Chat Model');
export const embeddings = ours('embeddingsModelGateway', 'Embeddings');

/** A model by its id, as a resource locator holds it. */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** A node of n8n's own. */
export const core = (
	name: string,
	type: string,
	parameters: INodeParameters = {},
	typeVersion = 1,
): Node => ({ name, type: `n8n-nodes-base.${type}`, typeVersion, parameters });

/** A workflow of a trigger, called Start, and nodes in a row. */
export function startedBy(trigger: string | Node, ...nodes: Node[]): WorkflowJson {
	const start = typeof trigger === 'string' ? core('Start', trigger) : trigger;
	const row = [start, ...nodes];
	const connections: IConnections = {};
	for (const [index, { name }] of nodes.entries()) {
		connections[row[index].name] = { main: [[{ node: name, type: 'main', index: 0 }]] };
	}
	return placed({ name: `Test ${randomUUID()}`, nodes: row, connections });
}

/** Gives each node what the editor gives it: an id and a place on the canvas. */
export function placed(workflow: WorkflowJson): WorkflowJson {
	const nodes = workflow.nodes.map((node, index) => ({
		...{ id: randomUUID(), position: [index * 220, 0] as [number, number] },
		// Without it, n8n 1 answers at a longer path.
		...(node.type.endsWith('.webhook') && { webhookId: randomUUID() }),
		...node,
	}));
	return { ...workflow, nodes };
}
