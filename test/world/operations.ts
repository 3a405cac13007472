import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	NodeConnectionType,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { endpoints, type Cost } from '../../nodes/shared/gateway/protocol/endpoints';
import type { Gateway } from '../../gateway';
import { registerTypes } from '../harness';
import type { WorkflowRun } from '../harness';
import { earlierJob } from '../support/workflows/earlierJobs';
import { embeddingsUser } from '../support/workflows/embeddingsUser';
import {
	generations,
	jobCreates,
	jobReads,
	type ItemOperation,
} from '../support/workflows/itemOperations';
import { picture, sampleVideo } from '../support/data/samples';
import {
	byId,
	chain,
	chatModel,
	embeddings,
	modelGateway,
	waitForVideo,
	withSubNodes,
	type Node,
} from '../support/workflows/workflows';

/**
 * What a request costs. A job that is read may be charged, whatever the request says. A wait polls, and goes on after
 * polls that did not work.
 */
export type Kind = Cost | 'jobRead' | 'wait';

/** Something that a user does with this package, and how its right result looks. */
export interface WorldOperation {
	name: string;
	kind: Kind;
	workflow: ReturnType<typeof chain> | ReturnType<typeof withSubNodes>;
	/** The node whose result or error the user reads. */
	shows: string;
	/** The fields of its item. */
	fields?: (gateway: Gateway) => Promise<IDataObject>;
	isRight: (
		item: INodeExecutionData,
		run: WorkflowRun,
		gateway: Gateway,
	) => boolean | Promise<boolean>;
}

const shows = 'Node';
const text = 'A walk on the beach';
const settings = { name: shows };

const answers = ({ json }: INodeExecutionData) => JSON.stringify(json).includes(text);
const isFile = async ({ binary }: INodeExecutionData, run: WorkflowRun, expected?: Uint8Array) => {
	const bytes = await run.binary({ json: {}, binary });
	return expected ? bytes.equals(expected) : bytes.length > 0;
};
const isVideo = async (item: INodeExecutionData, run: WorkflowRun) =>
	await isFile(item, run, await sampleVideo());
const isImage = async (item: INodeExecutionData, run: WorkflowRun) => await isFile(item, run);
const isJob = ({ json }: INodeExecutionData, _: WorkflowRun, { jobs }: Gateway) => {
	const { task_id, id } = { ...json, ...(json.output as IDataObject | undefined) };
	return jobs.get(String(task_id ?? id)) !== undefined;
};
const isStatus = ({ json }: INodeExecutionData) => json.status === 'completed';

/** A completed job, with the text as its ID in the parameters, and the fields that a create would give. */
const finished = (kind: 'task' | 'video') => async (gateway: Gateway) => {
	const { id } = earlierJob(gateway, kind, await sampleVideo());
	return { text: id, ...(kind === 'task' ? { task_id: id } : { id, status: 'queued' }) };
};

const withMedia = async (gateway: Gateway) => ({
	media: [
		{
			type: 'reference_image',
			url: gateway.addMedia('a.png', picture('red', 32, 24), 'image/png'),
		},
	],
});

type Right = WorldOperation['isRight'];
const rightOf: Record<string, Right> = {
	...{ 'chat.complete': answers, 'message.create': answers },
	...{ 'image.generate': isImage, 'image.edit': isImage, 'image.chat': isImage },
	'embedding.create': ({ json }) => JSON.stringify(json).length > 1000,
	...{ 'referenceVideo.create': isJob, 'video.create': isJob },
	...{ 'referenceVideo.get': isStatus, 'video.get': isStatus, 'video.getContent': isVideo },
};
const fieldsOf: Record<string, WorldOperation['fields']> = {
	'referenceVideo.create': withMedia,
	'referenceVideo.get': finished('task'),
	...{ 'video.get': finished('video'), 'video.getContent': finished('video') },
};

const ofNode = (
	name: string,
	kind: Kind,
	node: Node,
	more: Pick<WorldOperation, 'fields' | 'isRight'>,
): WorldOperation => ({ name, kind, workflow: chain(node), shows, ...more });

const itemOperations: ItemOperation[] = [...jobCreates, ...generations, ...jobReads];
const ofItems = itemOperations.map(({ name, route, parameters }) => {
	const downloads = 'download' in parameters && { download: true };
	const { cost } = endpoints[route as keyof typeof endpoints];
	const kind = cost === 'read' ? 'jobRead' : cost;
	return ofNode(name, kind, modelGateway({ ...parameters, ...downloads }, settings), {
		...{ fields: fieldsOf[name], isRight: rightOf[name] },
	});
});

const streamed = {
	...generations[0].parameters,
	options: { stream: true },
};

const waits = (['task', 'video'] as const).map((kind) =>
	ofNode(
		`wait (${kind})`,
		'wait',
		waitForVideo(
			{ options: { pollIntervalSeconds: 3, timeoutMinutes: '={{ $json.minutes }}' } },
			settings,
		),
		{ fields: finished(kind), isRight: isVideo },
	),
);

/** The chat model of LangChain, as far as it is used here. */
interface LangChainModel {
	invoke(text: string): Promise<{ content: unknown; tool_calls?: unknown }>;
	stream(text: string): Promise<AsyncIterable<{ content: unknown }>>;
	bindTools?(tools: object[]): LangChainModel;
}

/** Uses its connected chat model as an AI node does. */
const asker: INodeType = {
	description: {
		...{ displayName: 'Asker', name: 'asker', group: ['transform'], version: 1 },
		...{ description: 'Asks a chat model', defaults: { name: 'Asker' } },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiLanguageModel, required: true, maxConnections: 1 },
		],
		outputs: [NodeConnectionTypes.Main],
		properties: [
			{ displayName: 'Streams', name: 'streams', type: 'boolean', default: false },
			{ displayName: 'Tools', name: 'tools', type: 'json', default: '[]' },
		],
	},
	async execute(this: IExecuteFunctions) {
		const connected = await this.getInputConnectionData(NodeConnectionTypes.AiLanguageModel, 0);
		const [plain] = [connected].flat() as LangChainModel[];
		const tools = JSON.parse(String(this.getNodeParameter('tools', 0))) as object[];
		const model = tools.length > 0 ? (plain.bindTools?.(tools) ?? plain) : plain;
		const prompt = String(this.getInputData()[0].json.text);
		if (this.getNodeParameter('streams', 0) !== true) {
			const { content, tool_calls } = await model.invoke(prompt);
			return [[{ json: { content, tool_calls } as IDataObject }]];
		}
		let content = '';
		const calls: unknown[] = [];
		for await (const chunk of await model.stream(prompt)) {
			content += String(chunk.content);
			if ('tool_calls' in chunk) calls.push(...(chunk.tool_calls as unknown[]));
		}
		return [[{ json: { content, tool_calls: calls } as IDataObject }]];
	},
};

const store = embeddingsUser(async (connected) => ({
	vectors: await connected.embedDocuments([text, 'A boat']),
}));

export const registerUsers = (): void => registerTypes({ nodes: [asker, store] });

/** A node that uses a chat model of this package. */
export const asking = (parameters: INodeParameters = {}) =>
	withSubNodes(chain({ name: shows, type: 'test.asker', parameters }), [
		'ai_languageModel',
		chatModel({ model: byId('chat-1'), options: { maxRetries: 4 } }),
	]);

const ofSubNodes: Array<Pick<WorldOperation, 'name' | 'workflow' | 'isRight'>> = [
	{ name: 'chat model', workflow: asking(), isRight: answers },
	{ name: 'chat model, streamed', workflow: asking({ streams: true }), isRight: answers },
	{
		name: 'embeddings',
		workflow: withSubNodes(chain({ name: shows, type: 'test.store' }), [
			'ai_embedding' satisfies NodeConnectionType,
			embeddings({ model: byId('embed-1') }),
		]),
		isRight: ({ json }) => (json.vectors as unknown[][]).every(({ length }) => length === 256),
	},
];

/** Every operation of the package, with its downloads, and its AI nodes. */
export const worldOperations: WorldOperation[] = [
	...ofItems,
	ofNode('chat.complete, streamed', 'generation', modelGateway(streamed, settings), {
		isRight: answers,
	}),
	ofNode(
		'model.getAll',
		'read',
		modelGateway({ resource: 'model', operation: 'getAll' }, settings),
		{
			isRight: ({ json }) => typeof json.id === 'string',
		},
	),
	...waits,
	...ofSubNodes.map((operation) => ({ ...operation, kind: 'generation' as const, shows })),
];

/** The text of an item without a job. */
export const itemText = text;
