import type {
	IConnections,
	IDataObject,
	INodeCredentialsDetails,
	INodeParameters,
	NodeConnectionType,
} from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import type { WorkflowJson } from '../../harness/workflow';

export type Node = WorkflowJson['nodes'][number];

/** The settings of a node other than its type and its parameters. */
export type NodeSettings = Partial<Omit<Node, 'type' | 'parameters'>>;

/** A node of this package. Its settings may change the name. */
const ours =
	(type: string, name: string) =>
	(parameters: IDataObject = {}, settings: NodeSettings = {}): Node => ({
		name,
		type: `n8n-nodes-model-gateway.${type}`,
		parameters: parameters as INodeParameters,
		...settings,
	});

export const modelGateway = ours('modelGateway', 'Model Gateway');
export const waitForVideo = ours('modelGatewayWaitForVideo', 'Wait for Video');
export const chatModel = ours('lmChatModelGateway', 'Chat Model');
export const embeddings = ours('embeddingsModelGateway', 'Embeddings');

/** Creates a short video from the prompt and the media of the item. */
export const createReferenceVideo = (
	parameters: IDataObject = {},
	settings: NodeSettings = {},
): Node =>
	modelGateway(
		{
			resource: 'referenceVideo',
			operation: 'create',
			model: byId('beta-2.7-r2v'),
			prompt: '={{ $json.prompt ?? "A walk on the beach" }}',
			mediaInput: 'json',
			mediaJson: '={{ $json.media }}',
			options: { resolution: '720P', duration: 2 },
			...parameters,
		},
		{ name: 'Create', ...settings },
	);

/** Creates a job at the endpoint /v1/videos. */
export const createVideo = (parameters: IDataObject = {}, settings: NodeSettings = {}): Node =>
	modelGateway(
		{
			resource: 'video',
			operation: 'create',
			model: byId('vid-3.1'),
			prompt: 'A boat',
			...parameters,
		},
		{ name: 'Create', ...settings },
	);

const groupOf: Record<string, 'once' | 'limits'> = {
	orderKey: 'once',
	ifOrderedBefore: 'once',
	releaseOrderKey: 'once',
	maxOrders: 'limits',
	maxOrdersPerDay: 'limits',
	maxCost: 'limits',
	maxCostPerDay: 'limits',
	countFor: 'limits',
	inEach: 'limits',
};

/** Options in the groups of the panel, as the node reads them. */
export function inGroups(options: IDataObject): IDataObject {
	const grouped: IDataObject = {};
	for (const [name, value] of Object.entries(options)) {
		if (value === undefined) continue;
		const group = groupOf[name];
		if (group === undefined) grouped[name] = value;
		else grouped[group] = { ...(grouped[group] as IDataObject), [name]: value };
	}
	return grouped;
}

/** A model by its id, as a resource locator holds it. */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** One of n8n's own nodes. */
export const core = (
	name: string,
	type: string,
	parameters: INodeParameters = {},
	typeVersion?: number,
): Node => ({
	name,
	type: `n8n-nodes-base.${type}`,
	parameters,
	...(typeVersion !== undefined && { typeVersion }),
});

/** One of n8n's own AI nodes. */
export const langchain = (
	name: string,
	type: string,
	parameters: INodeParameters,
	typeVersion: number,
): Node => ({ name, type: `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters });

export const agent = (parameters: INodeParameters = {}, typeVersion = 3): Node =>
	langchain('AI Agent', 'agent', parameters, typeVersion);

/** The prompt of an agent that no chat starts. */
export const told = (text: string) => ({ promptType: 'define', text });

/** A node as the tool of an agent. */
export const asTool = (node: Node, name = node.name): Node => ({
	...node,
	name,
	type: `${node.type}Tool`,
});

/** These nodes in a row, after a manual trigger. */
export const chain = (...nodes: Node[]) => startedBy(core('Start', 'manualTrigger'), ...nodes);

/** These nodes in a row, after a webhook called Start. */
export const startedByWebhook = (parameters: INodeParameters, ...nodes: Node[]) =>
	startedBy(core('Start', 'webhook', parameters, 2.1), ...nodes);

/** These nodes in a row; the first one is their trigger. */
export function startedBy(...nodes: Node[]): WorkflowJson & { connections: IConnections } {
	const lines = nodes.slice(1).map(({ name }, index) => [nodes[index].name, { main: [to(name)] }]);
	return { nodes, connections: Object.fromEntries(lines) as IConnections };
}

/** A connection from an output to this node. */
export const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];

/** These nodes once for each item, in a Loop Over Items after a manual trigger. */
export function loopOver(...nodes: Node[]) {
	const { connections, ...row } = chain(
		core('Loop', 'splitInBatches', { batchSize: 1 }, 3),
		...nodes,
	);
	const turns: IConnections = {
		Loop: { main: [[], to(nodes[0].name)] },
		[nodes[nodes.length - 1].name]: { main: [to('Loop')] },
	};
	return { ...row, connections: { ...connections, ...turns } };
}

/** Connects sub-nodes to the last node of a workflow. */
export function withSubNodes(
	{ nodes, connections, ...workflow }: WorkflowJson,
	...subNodes: Array<[type: NodeConnectionType, node: Node]>
): WorkflowJson {
	const root = nodes.at(-1)?.name ?? '';
	const lines = subNodes.map(([type, { name }]) => [
		name,
		{ [type]: [[{ node: root, type, index: 0 }]] },
	]);
	return {
		...workflow,
		nodes: [...nodes, ...subNodes.map(([, node]) => node)],
		connections: { ...connections, ...Object.fromEntries(lines) },
	};
}

/** The workflow with a credential chosen in each of our nodes, as n8n's editor does on import. */
export function withCredential(
	workflow: WorkflowJson,
	modelGatewayApi: INodeCredentialsDetails,
): WorkflowJson {
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith('n8n-nodes-model-gateway.')
			? { ...node, credentials: { modelGatewayApi } }
			: node,
	);
	return { ...workflow, nodes };
}

/** The content of the credential as the user typed it. */
export const credentialFor = (
	gateway: Pick<Gateway, 'url' | 'apiKey'>,
	more: IDataObject = {},
) => ({
	modelGatewayApi: { apiKey: gateway.apiKey, baseUrl: gateway.url, ...more } as Record<
		string,
		string
	>,
});
