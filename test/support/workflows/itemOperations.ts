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

function operation(name: string, route: Route, parameters: IDataObject): ItemOperation {
	const [resource, value] = name.split('.');
	return { name, route, parameters: { resource, operation: value, ...parameters } };
}

const text = '={{ $json.text }}';
const chat = { model: byId('chat-1'), messages: { values: [{ role: 'user', content: text }] } };
const image = { prompt: text, download: false };
const version = { versionHeaderName: 'vendor-version', versionHeaderValue: '2024-10-01' };
const media = { mediaInput: 'json', mediaJson: '={{ $json.media }}' };

/** The operations whose calls are charged and create no job. */
export const generations = [
	operation('chat.complete', 'chat', chat),
	operation('message.create', 'message', { ...chat, maxTokens: 100, options: version }),
	operation('embedding.create', 'embedding', {
		model: byId('embed-1'),
		input: text,
		options: { batchSize: 1 },
	}),
	operation('image.generate', 'imageGenerate', { model: byId('image-1'), ...image }),
	operation('image.edit', 'imageEdit', { model: byId('image-edit-1'), ...image }),
	operation('image.chat', 'chat', { model: byId('image-chat-1'), ...image }),
];

/** The operations that create a job. */
export const jobCreates = [
	operation('referenceVideo.create', 'referenceVideoCreate', {
		model: byId('beta-2.7-r2v'),
		prompt: text,
		...media,
		options: { resolution: '720P', duration: 2 },
	}),
	operation('video.create', 'videoCreate', { model: byId('vid-3.1'), prompt: text }),
];

/** The operations that read something about a job. The text of an item is the ID of its job. */
export const jobReads = [
	operation('referenceVideo.get', 'task', { taskId: text }),
	operation('video.get', 'video', { videoId: text }),
	operation('video.getContent', 'videoContent', { videoId: text, download: false }),
];

const data = {
	mimeType: 'image/png',
	fileName: 'a.png',
	data: Buffer.from(picture('red', 32, 24)).toString('base64'),
};

/** Items with these texts, and with an image for the operations that need one. */
export const itemsWith = (texts: string[], fields: IDataObject = {}): INodeExecutionData[] =>
	texts.map((text) => ({ json: { text, ...fields }, binary: { data } }));

export const isFor =
	(text: string) =>
	({ url, body }: Pick<RecordedRequest, 'url' | 'body'>): boolean =>
		`${url} ${JSON.stringify(body)}`.includes(text);
