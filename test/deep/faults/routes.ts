import type { IDataObject, INode } from 'n8n-workflow';
import {
	byId,
	createReferenceVideo,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';
import type { Gateway, Route as GatewayRoute } from '../../../gateway';
import { endpoints, type Cost } from '../../../nodes/shared/service/protocol/endpoints';
import { earlierJob } from '../../support/workflows/earlierJobs';

/**
 * The cost of sending a request again, which decides what a fault may lead to. It is the cost of the endpoint,
 * unless more than a single request is involved:
 * - `poll`: nothing, and the next one comes anyway.
 * - `download`: nothing; the service gives the link to the video again.
 * - `fetch`: nothing, but there is no other link to the image.
 */
export type Repetition = Cost | 'poll' | 'download' | 'fetch';

/** A request of this package. */
export interface FaultRoute {
	name: string;
	/** Set if it is more than a single request. */
	repetition?: Exclude<Repetition, Cost>;
	/** The route of the gateway that the faults hit. */
	route: GatewayRoute;
	/** The node that sends it, and the fields of its item. */
	node: Node;
	fields?: (gateway: Gateway, video: Uint8Array) => IDataObject;
	/** For a download: the response with its link. */
	leader?: { route: GatewayRoute; answer: (link: string) => object };
}

const settings: Partial<INode> = { name: 'Call', onError: 'continueErrorOutput' };

const act = (resource: string, operation: string, parameters: IDataObject = {}) =>
	modelGateway({ resource, operation, ...parameters }, settings);

const chat = (options: IDataObject = {}) => {
	const messages = { values: [{ role: 'user', content: 'What is a fault, in many words?' }] };
	return act('chat', 'complete', { model: byId('chat-1'), messages, options });
};

const draw = (operation: string, model: string, download = false) =>
	act('image', operation, { model: byId(model), prompt: 'A boat', download });

const wait = (download: boolean) =>
	waitForVideo({ download, options: { pollIntervalSeconds: 10, timeoutMinutes: 3 } }, settings);

const withMedia: FaultRoute['fields'] = () => ({
	media: [{ type: 'reference_image', url: 'https://media.example/a.png' }],
});

/** A completed job, with the fields of its create. */
const finished =
	(kind: 'task' | 'video'): FaultRoute['fields'] =>
	(gateway, video) => {
		const { id } = earlierJob(gateway, kind, video);
		return kind === 'task' ? { task_id: id } : { id, status: 'queued' };
	};

const taskId = { taskId: '={{ $json.task_id }}' };
const videoId = { videoId: '={{ $json.id }}' };
const task = {
	fields: finished('task'),
	leader: { route: 'task', answer: (result_url: string) => ({ status: 'completed', result_url }) },
} as const;
const job = {
	fields: finished('video'),
	leader: { route: 'videoContent', answer: (url: string) => ({ url }) },
} as const;

/** "Endpoints" 1 to 13, and each way to a file. */
export const routes: FaultRoute[] = [
	{
		name: 'referenceVideo.create',
		route: 'referenceVideoCreate',
		node: createReferenceVideo({}, settings),
		fields: withMedia,
	},
	{
		name: 'video.create',
		route: 'videoCreate',
		node: act('video', 'create', { model: byId('vid-3.1'), prompt: 'A boat' }),
	},
	{ name: 'chat.complete', route: 'chat', node: chat() },
	{
		name: 'chat.complete, streamed',
		route: 'chat',
		node: chat({ stream: true }),
	},
	{
		name: 'message.create',
		route: 'message',
		node: act('message', 'create', {
			model: byId('chat-1'),
			maxTokens: 100,
			messages: { values: [{ role: 'user', content: 'What is a fault, in many words?' }] },
		}),
	},
	{
		name: 'embedding.create',
		route: 'embedding',
		node: act('embedding', 'create', { model: byId('embed-1'), input: 'A boat' }),
	},
	{ name: 'image.generate', route: 'imageGenerate', node: draw('generate', 'image-1') },
	{ name: 'image.edit', route: 'imageEdit', node: draw('edit', 'image-edit-1') },
	{ name: 'image.chat', route: 'chat', node: draw('chat', 'image-chat-1') },
	{ name: 'model.getAll', route: 'models', node: act('model', 'getAll') },
	{
		name: 'referenceVideo.get',
		route: 'task',
		node: act('referenceVideo', 'get', taskId),
		fields: task.fields,
	},
	{ name: 'video.get', route: 'video', node: act('video', 'get', videoId), fields: job.fields },
	{
		name: 'video.getContent',
		route: 'videoContent',
		fields: job.fields,
		node: act('video', 'getContent', { ...videoId, download: false }),
	},
	{
		name: 'Wait for Video, a task',
		repetition: 'poll',
		route: 'task',
		node: wait(false),
		fields: task.fields,
	},
	{
		name: 'Wait for Video, a video job',
		repetition: 'poll',
		route: 'video',
		node: wait(false),
		fields: job.fields,
	},
	{
		name: 'Wait for Video, content',
		repetition: 'poll',
		route: 'videoContent',
		node: wait(false),
		fields: job.fields,
	},
	{
		name: 'the file of a task',
		repetition: 'download',
		route: 'download',
		node: wait(true),
		...task,
	},
	{
		name: 'the file of a video job',
		repetition: 'download',
		route: 'download',
		node: wait(true),
		...job,
	},
	{
		name: 'the file of video.getContent',
		repetition: 'download',
		route: 'download',
		node: act('video', 'getContent', { ...videoId, download: true }),
		...job,
	},
	{
		name: 'the file of an image',
		repetition: 'fetch',
		route: 'download',
		node: draw('generate', 'image-1', true),
		leader: { route: 'imageGenerate', answer: (url) => ({ data: [{ url }] }) },
	},
];

export function repetitionOf({ repetition, route }: FaultRoute): Repetition {
	if (repetition !== undefined) return repetition;
	if (!(route in endpoints)) throw new TypeError(`${route} is no single request`);
	return endpoints[route as keyof typeof endpoints].cost;
}
