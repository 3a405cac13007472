import type { IDataObject, INode } from 'n8n-workflow';
import {
	byId,
	createReferenceVideo,
	modelGateway,
	waitForVideo,
} from '../../engine/support/workflows';
import type { Gateway, Route as GatewayRoute } from '../../gateway';
import { earlierJob } from '../../support/earlierJobs';

/**
 * What it costs to send a request again decides what a fault may lead to.
 * - `creates`: perhaps a second paid job.
 * - `generates`: nothing when the answer was lost, all of it when it came.
 * - `reads`: nothing.
 * - `polls`: nothing, and the next one comes anyway.
 * - `downloads`: nothing; the service gives the link to the video again.
 * - `fetches`: nothing; the link to the picture is the only one.
 */
export type Cost = 'creates' | 'generates' | 'reads' | 'polls' | 'downloads' | 'fetches';

/** A request of ours. */
export interface FaultRoute {
	name: string;
	cost: Cost;
	/** What the faults hit. */
	route: GatewayRoute;
	/** The node that sends it, and the fields of its item. */
	node: ReturnType<typeof modelGateway>;
	fields?: (gateway: Gateway, video: Uint8Array) => IDataObject;
	/** Of a download: the answer that leads to its link. */
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
	waitForVideo(
		{ pollIntervalSeconds: 10, timeoutMinutes: 3 },
		{ ...settings, parameters: { download } },
	);

const withMedia: FaultRoute['fields'] = () => ({
	media: [{ type: 'reference_image', url: 'https://media.example/a.png' }],
});

/** A job that has ended well. */
const finished =
	(kind: 'task' | 'video'): FaultRoute['fields'] =>
	(gateway, video) => {
		const { id } = earlierJob(gateway, kind, video);
		return kind === 'task' ? { task_id: id } : { id };
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
		...{ name: 'referenceVideo.create', cost: 'creates', route: 'referenceVideoCreate' },
		...{ node: createReferenceVideo({}, settings), fields: withMedia },
	},
	{
		...{ name: 'video.create', cost: 'creates', route: 'videoCreate' },
		node: act('video', 'create', { model: byId('vid-3.1'), prompt: 'A boat' }),
	},
	{ name: 'chat.complete', cost: 'generates', route: 'chat', node: chat() },
	{
		name: 'chat.complete, streamed',
		cost: 'generates',
		route: 'chat',
		node: chat({ stream: true }),
	},
	{
		...{ name: 'message.create', cost: 'generates', route: 'message' },
		node: act('message', 'create', {
			...{ model: byId('chat-1'), maxTokens: 100 },
			messages: { values: [{ role: 'user', content: 'What is a fault, in many words?' }] },
		}),
	},
	{
		...{ name: 'embedding.create', cost: 'generates', route: 'embedding' },
		node: act('embedding', 'create', { model: byId('embed-1'), input: 'A boat' }),
	},
	{
		...{ name: 'image.generate', cost: 'generates', route: 'imageGenerate' },
		node: draw('generate', 'image-1'),
	},
	{
		...{ name: 'image.edit', cost: 'generates', route: 'imageEdit' },
		node: draw('edit', 'image-edit-1'),
	},
	{
		...{ name: 'image.chat', cost: 'generates', route: 'chat' },
		node: draw('chat', 'image-chat-1'),
	},
	{ name: 'model.getAll', cost: 'reads', route: 'models', node: act('model', 'getAll') },
	{
		...{ name: 'referenceVideo.get', cost: 'reads', route: 'task' },
		...{ node: act('referenceVideo', 'get', taskId), fields: task.fields },
	},
	{
		...{ name: 'video.get', cost: 'reads', route: 'video' },
		...{ node: act('video', 'get', videoId), fields: job.fields },
	},
	{
		...{ name: 'video.getContent', cost: 'reads', route: 'videoContent', fields: job.fields },
		node: act('video', 'getContent', { ...videoId, download: false }),
	},
	{
		...{ name: 'Wait for Video, a task', cost: 'polls', route: 'task' },
		...{ node: wait(false), fields: task.fields },
	},
	{
		...{ name: 'Wait for Video, a video job', cost: 'polls', route: 'video' },
		...{ node: wait(false), fields: job.fields },
	},
	{
		...{ name: 'Wait for Video, content', cost: 'polls', route: 'videoContent' },
		...{ node: wait(false), fields: job.fields },
	},
	{
		...{ name: 'the file of a task', cost: 'downloads', route: 'download' },
		...{ node: wait(true), ...task },
	},
	{
		...{ name: 'the file of a video job', cost: 'downloads', route: 'download' },
		...{ node: wait(true), ...job },
	},
	{
		...{ name: 'the file of video.getContent', cost: 'downloads', route: 'download' },
		...{ node: act('video', 'getContent', { ...videoId, download: true }), ...job },
	},
	{
		...{ name: 'the file of a picture', cost: 'fetches', route: 'download' },
		node: draw('generate', 'image-1', true),
		leader: { route: 'imageGenerate', answer: (url) => ({ data: [{ url }] }) },
	},
];
