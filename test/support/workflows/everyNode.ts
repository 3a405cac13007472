import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { Embeddings } from '../../../nodes/EmbeddingsModelGateway/embeddings';
import { operations } from '../../../nodes/ModelGateway/resources';
import { endpoints, type Endpoint } from '../../../nodes/shared/service/protocol/endpoints';
import { picture } from '../data/samples';
import { testNode } from './testNode';
import { byId, chain, credentialFor, withSubNodes } from './workflows';
import type { Gateway } from '../../../gateway';
import { resumeExecution, runWorkflow } from '../../harness';

/** An image for every parameter that needs one. */
export const png = Buffer.from(picture('red')).toString('base64');
const link = 'https://firm.example/a.png';

const prompt = 'A boat';
const image = { prompt, imageUrl: link, maskUrl: link };
const chat = { model: byId('chat-1'), messages: { values: [{ role: 'user', content: 'Hello' }] } };

/** Valid parameters of each operation. Every suite that goes through all operations takes them from here. */
const good: Record<string, INodeParameters> = {
	'referenceVideo create': {
		model: byId('alpha-1.1-r2v'),
		prompt,
		media: { values: [{ url: link }] },
	},
	'referenceVideo get': {},
	'video create': { model: byId('vid-3.1'), prompt },
	'video get': {},
	'video getContent': {},
	'image generate': { model: byId('image-1'), ...image },
	'image edit': { model: byId('image-edit-1'), ...image },
	'image chat': { model: byId('image-chat-1'), ...image },
	'chat complete': chat,
	'message create': chat,
	'embedding create': { model: byId('embed-1'), input: prompt },
	'model getAll': {},
};

function goodOf(operation: string): INodeParameters {
	const parameters = good[operation];
	if (parameters) return parameters;
	throw new Error(`Add valid parameters of “${operation}” to \`good\` in everyNode.ts`);
}

/** Prices so low that limits on the cost let some orders through. */
const prices = JSON.stringify({
	...Object.fromEntries(['alpha-1.1-r2v', 'vid-3.1'].map((model) => [model, { per_video: 0.001 }])),
	...Object.fromEntries(
		['image-1', 'image-edit-1', 'image-chat-1'].map((model) => [model, { per_image: 0.001 }]),
	),
});

interface Subject {
	type: string;
	/** The routes whose responses it reads. */
	routes: Array<keyof typeof endpoints>;
	parameters: INodeParameters;
	/** The output of a sub-node. */
	serves?: 'ai_languageModel' | 'ai_embedding';
}

/** Every operation, the wait node held and parked, and the AI sub-nodes. */
export const subjects: Array<[string, Subject]> = [
	...operations.map(({ resource, value, endpoint }): [string, Subject] => [
		`${resource.value} ${value}`,
		{
			type: 'modelGateway',
			routes: routesOf(endpoint),
			parameters: {
				resource: resource.value,
				operation: value,
				...goodOf(`${resource.value} ${value}`),
			},
		},
	]),
	['Wait for Video', wait({})],
	['Wait for Video, parked', wait({ whileWaiting: 'park' })],
	[
		'the chat model',
		{ type: 'lmChatModelGateway', parameters: chat, routes: ['chat'], serves: 'ai_languageModel' },
	],
	[
		'the embeddings',
		{
			type: 'embeddingsModelGateway',
			parameters: goodOf('embedding create'),
			routes: ['embedding'],
			serves: 'ai_embedding',
		},
	],
];

function wait(parameters: INodeParameters): Subject {
	return {
		type: 'modelGatewayWaitForVideo',
		parameters,
		routes: ['task', 'video', 'videoContent'],
	};
}

function routesOf(endpoint: Endpoint): Subject['routes'] {
	const routes = Object.keys(endpoints) as Subject['routes'];
	return routes.filter((route) => endpoints[route] === endpoint);
}

/** Accepts either of the AI sub-nodes, and uses the embeddings if it has them. */
export const user = testNode(
	'user',
	{ inputs: ['main', 'ai_languageModel', 'ai_embedding'] },
	async function () {
		await this.getInputConnectionData('ai_languageModel', 0);
		const [embeddings] = [
			await this.getInputConnectionData('ai_embedding', 0),
		].flat() as Embeddings[];
		return [[{ json: { vector: await embeddings?.embedQuery('A boat') } }]];
	},
);

/** The settings of one run. */
interface Trial {
	parameters?: INodeParameters;
	/** Continue On Fail. */
	continues: boolean;
	gateway: Pick<Gateway, 'url' | 'apiKey'>;
	json: IDataObject;
}

/** An error, as the editor or as the error output shows it. */
interface ShownError {
	message: string;
	record: IDataObject;
}

/** Runs the node for one item; a sub-node runs through the node that uses it. */
export async function tryNode(
	{ type, serves, ...subject }: Subject,
	{ parameters = subject.parameters, continues, gateway, json }: Trial,
): Promise<INodeExecutionData[] | ShownError> {
	const onError = continues ? ('continueRegularOutput' as const) : ('stopWorkflow' as const);
	const node = { name: 'Node', type: `n8n-nodes-model-gateway.${type}`, parameters };
	const shows = serves ? 'User' : 'Node';
	const started = await runWorkflow(
		serves
			? withSubNodes(chain({ name: shows, type: 'test.user', onError }), [serves, node])
			: chain({ ...node, onError }),
		{
			credentials: credentialFor(gateway, { advanced: true, prices }),
			input: [{ json, binary: { data: { mimeType: 'image/png', fileName: 'a.png', data: png } } }],
		},
	);
	// The first pass of a parked wait polls nothing.
	const result = started.status === 'waiting' ? await resumeExecution(started) : started;
	const failure = result.errorOf(shows);
	if (failure) return shown(failure.message, failure.context?.data as IDataObject | undefined);
	const items = [0, 1].flatMap((output) => result.items(shows, { output }));
	const details = items[0]?.json.details;
	return details ? shown(String(items[0].json.error), details as IDataObject) : items;
}

/** The wording of errors from JavaScript itself, or from a library that got invalid input. */
const mistakes =
	/undefined|not a function|not iterable|Cannot (read|convert|set)|call stack|Invalid (time|array|string)|malformed|circular|BigInt|serialize|\[object|^NaN|unknown error/i;

function shown(message: string, record: IDataObject | undefined): ShownError {
	// If n8n cannot evaluate a parameter, the message is n8n's own.
	const isOurs = record?.advice !== 'Nothing was sent for this item.';
	if (isOurs && mistakes.test(message)) throw new Error(`No error of ours: ${message}`);
	expect(message.length).toBeLessThan(12_000);
	expect(record).toMatchObject({ advice: expect.any(String), retry_can_help: expect.any(Boolean) });
	return { message, record: record ?? {} };
}
