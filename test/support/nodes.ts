// Nodes with valid parameters, for tests of responses, errors, files and strangers.
import type { Gateway } from '../../gateway';
import {
	registerTypes,
	runWorkflow,
	type RunOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../harness';
import { picture } from './data/samples';
import {
	asTool,
	byId,
	chain,
	credentialFor,
	modelGateway,
	withSubNodes,
	type Node,
	type NodeSettings,
} from './workflows/workflows';
import { agent } from './workflows/agent';

/** JSON with named fields: parameters, a body, an item. */
export type Fields = NonNullable<Parameters<typeof modelGateway>[0]>;
export type Address = Pick<Gateway, 'url' | 'apiKey'>;

const chat = { messages: { values: [{ role: 'user', content: '={{ $json.text ?? "Hello" }}' }] } };
const prompt = '={{ $json.text ?? "A boat" }}';
const media = { values: [{ type: 'reference_image', url: 'https://firm.example/a.png' }] };

/** Valid parameters of each operation, whose prompt is the text of its item. */
export const operations = {
	'chat.complete': { model: byId('chat-1'), ...chat },
	'message.create': { model: byId('chat-1'), ...chat, maxTokens: 100 },
	'embedding.create': { model: byId('embed-1'), input: prompt },
	'image.generate': { model: byId('image-1'), prompt },
	'image.edit': { model: byId('image-edit-1'), prompt },
	'image.chat': { model: byId('image-chat-1'), prompt },
	'referenceVideo.create': { model: byId('alpha-1.1-r2v'), prompt, media },
	'referenceVideo.get': { taskId: '={{ $json.task_id }}' },
	'video.create': { model: byId('vid-3.1'), prompt },
	'video.get': { videoId: '={{ $json.id }}' },
	'video.getContent': { videoId: '={{ $json.id }}' },
	'model.getAll': { returnAll: true },
} satisfies Record<string, Fields>;

export type Operation = keyof typeof operations;

export const allOperations = Object.keys(operations) as Operation[];

/** The operations that are charged and create no job. */
export const generations = allOperations.filter((name) => /^(chat|message|embed|image)/.test(name));

/** The action node, called Node. */
export function nodeFor(name: Operation, more: Fields = {}, settings: NodeSettings = {}): Node {
	const [resource, operation] = name.split('.');
	const parameters = { resource, operation, ...operations[name], ...more };
	return modelGateway(parameters, { name: 'Node', ...settings });
}

export const png = Buffer.from(picture('red', 64, 48));

/** A file as n8n holds it in an item. */
export const fileOf = (bytes: Uint8Array, fileName = 'photo.png', mimeType = 'image/png') => ({
	fileName,
	mimeType,
	data: Buffer.from(bytes).toString('base64'),
});

/** One item for each JSON, each with an image in the binary field `data`. */
export const itemsOf = (...items: Fields[]) =>
	items.map((json) => ({ json, binary: { data: fileOf(png) } }));

/** Runs nodes behind a manual trigger; its output is one item with an image, unless another one is given. */
export async function run(
	to: Address,
	nodes: Node | Node[],
	{ credential, ...options }: RunOptions & { credential?: Fields } = {},
): Promise<WorkflowRun> {
	return await runWorkflow(chain(...[nodes].flat()), {
		credentials: credentialFor(to, credential),
		input: itemsOf({}),
		...options,
	});
}

/** Settings of a node that gives a failed item to the next node. */
export const continues: NodeSettings = { onError: 'continueRegularOutput' };

/** Runs an operation, and returns the details of its failure: those of a failed item. */
export async function detailsOf(
	to: Address,
	name: Operation,
	{ parameters, ...options }: Parameters<typeof run>[2] & { parameters?: Fields } = {},
): Promise<Fields> {
	const result = await run(to, nodeFor(name, parameters, continues), options);
	const { error, details } = result.items('Node')[0].json;
	expect(error).toEqual(expect.any(String));
	return details as Fields;
}

/** A workflow in which an agent calls this node as its tool. */
function withTool(node: Node): WorkflowJson {
	registerTypes({ nodes: [agent] });
	const caller = { name: 'Agent', type: 'test.agent' };
	return withSubNodes(chain(caller), ['ai_tool', asTool(node, 'Tool')]);
}

/** The reply of a node to the agent that calls it once: one or more items as JSON. */
export async function toolResult(to: Address, node: Node, input: Fields = {}): Promise<Fields[]> {
	const credentials = credentialFor(to);
	const result = await runWorkflow(withTool(node), { credentials, input: [{ json: input }] });
	return JSON.parse(String(result.items('Agent')[0].json.answer)) as Fields[];
}
