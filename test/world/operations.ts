import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
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
import { testNode } from '../support/workflows/testNode';
import {
	byId,
	chain,
	chatModel,
	embeddings,
	modelGateway,
	waitForVideo,
	withSubNodes,
} from '../support/workflows/workflows';

/** Something that a user does with this package, and how its right result looks. */
export interface WorldOperation {
	name: string;
	/** Whether it is charged. */
	isPaid: boolean;
	workflow: ReturnType<typeof chain> | ReturnType<typeof withSubNodes>;
	/** The fields of its item. */
	fields?: (gateway: Gateway) => Promise<IDataObject>;
	isRight: (
		item: INodeExecutionData,
		run: WorkflowRun,
		gateway: Gateway,
	) => boolean | Promise<boolean>;
}

const text = 'A walk on the beach';
/** The node whose result or error the user reads. */
const settings = { name: 'Node' };

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
	'chat.complete': answers,
	'message.create': answers,
	'image.generate': isImage,
	'image.edit': isImage,
	'image.chat': isImage,
	'embedding.create': ({ json }) => JSON.stringify(json).length > 1000,
	'referenceVideo.create': isJob,
	'video.create': isJob,
	'referenceVideo.get': isStatus,
	'video.get': isStatus,
	'video.getContent': isVideo,
};
const fieldsOf: Record<string, WorldOperation['fields']> = {
	'referenceVideo.create': withMedia,
	'referenceVideo.get': finished('task'),
	'video.get': finished('video'),
	'video.getContent': finished('video'),
};

const items: ItemOperation[] = [...jobCreates, ...generations, ...jobReads];
const ofItems = items.map(({ name, route, parameters }): WorldOperation => {
	const downloads = 'download' in parameters && { download: true };
	return {
		name,
		isPaid: endpoints[route as keyof typeof endpoints].cost !== 'read',
		workflow: chain(modelGateway({ ...parameters, ...downloads }, settings)),
		fields: fieldsOf[name],
		isRight: rightOf[name],
	};
});

const streamed = { ...generations[0].parameters, options: { stream: true } };
const models = { resource: 'model', operation: 'getAll' };

const waits = (['task', 'video'] as const).map((kind): WorldOperation => ({
	name: `wait (${kind})`,
	isPaid: false,
	workflow: chain(waitForVideo({ options: { pollIntervalSeconds: 3 } }, settings)),
	fields: finished(kind),
	isRight: isVideo,
}));

/** The chat model of LangChain, as far as it is used here. */
interface LangChainModel {
	invoke(text: string): Promise<{ content: IDataObject[string] }>;
	stream(text: string): Promise<AsyncIterable<{ content: unknown }>>;
}

/** Uses its connected chat model as an AI node does. */
const asker = testNode(
	'asker',
	{
		inputs: ['main', { type: 'ai_languageModel', required: true, maxConnections: 1 }],
		properties: [{ displayName: 'Streams', name: 'streams', type: 'boolean', default: false }],
	},
	async function () {
		const connected = await this.getInputConnectionData('ai_languageModel', 0);
		const [model] = [connected].flat() as LangChainModel[];
		const prompt = String(this.getInputData()[0].json.text);
		if (this.getNodeParameter('streams', 0) !== true) {
			return [[{ json: { content: (await model.invoke(prompt)).content } }]];
		}
		let content = '';
		for await (const chunk of await model.stream(prompt)) content += String(chunk.content);
		return [[{ json: { content } }]];
	},
);

const store = embeddingsUser(async (connected) => ({
	vectors: await connected.embedDocuments([text, 'A boat']),
}));

export const registerUsers = (): void => registerTypes({ nodes: [asker, store] });

/** A node that uses a chat model of this package. */
export const asking = (parameters: INodeParameters = {}) =>
	withSubNodes(chain({ ...settings, type: 'test.asker', parameters }), [
		'ai_languageModel',
		chatModel({ model: byId('chat-1'), options: { maxRetries: 4 } }),
	]);
const storing = withSubNodes(chain({ ...settings, type: 'test.store' }), [
	'ai_embedding',
	embeddings({ model: byId('embed-1') }),
]);

const others: Array<[string, WorldOperation['workflow'], Right]> = [
	['chat.complete, streamed', chain(modelGateway(streamed, settings)), answers],
	['chat model', asking(), answers],
	['chat model, streamed', asking({ streams: true }), answers],
	[
		'embeddings',
		storing,
		({ json }) => (json.vectors as unknown[][]).every(({ length }) => length === 256),
	],
];

/** Every operation of the package, with its downloads, and its AI nodes. */
export const worldOperations: WorldOperation[] = [
	...ofItems,
	...others.map(([name, workflow, isRight]) => ({ name, isPaid: true, workflow, isRight })),
	{
		name: 'model.getAll',
		isPaid: false,
		workflow: chain(modelGateway(models, settings)),
		isRight: ({ json }) => typeof json.id === 'string',
	},
	...waits,
];

/** The text of an item without a job. */
export const itemText = text;
