import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { RecordedRequest, Route } from '../../../gateway';
import { picture } from '../data/samples';
import { byId } from './workflows';

/** An operation that sends a request for each item, which has the text of the item. */
export interface ItemOperation {
	name: string;
	route: Route;
	parameters: IDataObject;
}

const messages = { values: [{ role: 'user', content: '={{ $json.text }}' }] };
const prompt = { prompt: '={{ $json.text }}' };
const image = { ...prompt, download: false };

/** The operations whose calls are charged and create no job. */
export const generations = [
	{
		name: 'chat.complete',
		route: 'chat',
		parameters: { resource: 'chat', operation: 'complete', model: byId('chat-1'), messages },
	},
	{
		name: 'message.create',
		route: 'message',
		parameters: {
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), messages },
			maxTokens: 100,
			options: { versionHeaderName: 'vendor-version', versionHeaderValue: '2024-10-01' },
		},
	},
	{
		name: 'embedding.create',
		route: 'embedding',
		parameters: {
			...{ resource: 'embedding', operation: 'create', model: byId('embed-1') },
			...{ input: '={{ $json.text }}', options: { batchSize: 1 } },
		},
	},
	{
		name: 'image.generate',
		route: 'imageGenerate',
		parameters: { resource: 'image', operation: 'generate', model: byId('image-1'), ...image },
	},
	{
		name: 'image.edit',
		route: 'imageEdit',
		parameters: { resource: 'image', operation: 'edit', model: byId('image-edit-1'), ...image },
	},
	{
		name: 'image.chat',
		route: 'chat',
		parameters: { resource: 'image', operation: 'chat', model: byId('image-chat-1'), ...image },
	},
] as const satisfies ItemOperation[];

/** The operations that create a job. */
export const jobCreates: ItemOperation[] = [
	{
		name: 'referenceVideo.create',
		route: 'referenceVideoCreate',
		parameters: {
			...{ resource: 'referenceVideo', operation: 'create', model: byId('beta-2.7-r2v') },
			...{ ...prompt, mediaInput: 'json', mediaJson: '={{ $json.media }}' },
			options: { resolution: '720P', duration: 2 },
		},
	},
	{
		name: 'video.create',
		route: 'videoCreate',
		parameters: { resource: 'video', operation: 'create', model: byId('vid-3.1'), ...prompt },
	},
];

const taskId = { taskId: '={{ $json.text }}' };
const videoId = { videoId: '={{ $json.text }}' };

/** The operations that read something about a job. The text of an item is the ID of its job. */
export const jobReads: ItemOperation[] = [
	{
		name: 'referenceVideo.get',
		route: 'task',
		parameters: { resource: 'referenceVideo', operation: 'get', ...taskId },
	},
	{
		name: 'video.get',
		route: 'video',
		parameters: { resource: 'video', operation: 'get', ...videoId },
	},
	{
		name: 'video.getContent',
		route: 'videoContent',
		parameters: { resource: 'video', operation: 'getContent', ...videoId, download: false },
	},
];

const data = {
	...{ mimeType: 'image/png', fileName: 'a.png' },
	data: Buffer.from(picture('red', 32, 24)).toString('base64'),
};

/** Items with these texts, and with an image for the operations that need one. */
export const itemsWith = (texts: string[], fields: IDataObject = {}): INodeExecutionData[] =>
	texts.map((text) => ({ json: { text, ...fields }, binary: { data } }));

/** Whether a request is the one for the item with this text. */
export const isFor =
	(text: string) =>
	({ url, body }: Pick<RecordedRequest, 'url' | 'body'>): boolean =>
		`${url} ${JSON.stringify(body)}`.includes(text);
