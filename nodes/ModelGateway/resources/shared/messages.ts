import type { IBinaryData, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { toJson, asText, isObject, type JsonObject } from '../../../shared/gateway/json';
import { messageRoles } from '../../../shared/gateway/protocol/resources';
import { dataUrlOf } from '../../../shared/n8n/files/binary';
import type { ItemParameters } from '../../../shared/n8n/parameters/itemParameters';

/** A picture in a message: a link, or a file of the item that becomes a data URL when it is sent. */
export type MessageImage = ({ url: string } | { file: IBinaryData }) & { detail?: string };

/** A message as it was given; files are loaded only when their item is sent. */
export interface MessageInput {
	role: string;
	/** A text, or parts that an expression gave. */
	content: unknown;
	images: MessageImage[];
}

/** The messages of a conversation. @param more what a message takes besides its text and role */
export const messagesField = (
	roles: readonly string[],
	more: INodeProperties[] = [],
): INodeProperties => ({
	displayName: 'Messages',
	name: 'messages',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Message',
	default: { values: [{ role: 'user', content: '' }] },
	options: [
		{
			displayName: 'Message',
			name: 'values',
			values: [
				{
					displayName: 'Content',
					name: 'content',
					type: 'string',
					typeOptions: { rows: 3 },
					default: '',
				},
				...more,
				{
					displayName: 'Role',
					name: 'role',
					type: 'options',
					options: roles.map((value) => ({
						name: value[0].toUpperCase() + value.slice(1),
						value,
					})),
					default: 'user',
				},
			],
		},
	],
});

/** Where a picture comes from, for messages and image prompts. */
export const imageSourceFields: INodeProperties[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{ name: 'File of an Earlier Node', value: 'binary' },
			{ name: 'URL', value: 'url' },
		],
		default: 'url',
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/photo.png',
		displayOptions: { show: { source: ['url'] } },
		description: 'An https link or a data URL',
	},
	{
		displayName: 'Input Binary Field',
		name: 'binaryField',
		type: 'string',
		default: 'data',
		displayOptions: { show: { source: ['binary'] } },
		hint: 'The name of the input field with the picture',
	},
];

/** Reads pictures; problems are reported under `field`. */
export function readImages(
	entries: unknown,
	parameters: ItemParameters,
	field: string,
): MessageImage[] {
	const list = Array.isArray(entries) ? entries.filter(isObject) : [];
	return list.flatMap((entry, index): MessageImage[] => {
		const name = `${field}Image ${index + 1}`;
		const detail = asText(entry.detail);
		const extra = detail === undefined ? {} : { detail };
		if (entry.source === 'binary') {
			const file = parameters.picture(asText(entry.binaryField) ?? 'data', name);
			return file ? [{ file, ...extra }] : [];
		}
		const url = asText(entry.url) ?? '';
		if (!/^(https?:\/\/|data:image\/)/i.test(url)) {
			parameters.report(name, 'must be an https link or a data URL of a picture');
		}
		return [{ url, ...extra }];
	});
}

export function readMessages(parameters: ItemParameters): MessageInput[] {
	const entries = parameters.entries('messages.values');
	if (entries.length === 0) parameters.report('Messages', 'must have at least one message');
	return entries.map((entry, index) => {
		const field = `Message ${index + 1}: `;
		const role = asText(entry.role) ?? 'user';
		if (!(messageRoles as readonly string[]).includes(role)) {
			parameters.report(
				`${field}Role`,
				`must be one of ${messageRoles.join(', ')} (it is "${role}")`,
			);
		}
		const images = readImages((entry.images as JsonObject | undefined)?.values, parameters, field);
		const given = entry.content;
		const content = typeof given === 'object' ? toJson(given) : given;
		const isEmpty = (asString(content) ?? '').trim() === '';
		if (isEmpty && !Array.isArray(content) && images.length === 0 && role !== 'assistant') {
			const isOther = typeof given === 'object' && given !== null;
			parameters.report(`${field}Content`, isOther ? 'cannot be written as JSON' : 'is empty');
		}
		return { role, content: Array.isArray(content) ? content : (asString(content) ?? ''), images };
	});
}

function asString(content: unknown): string | undefined {
	if (typeof content === 'string') return content;
	return isObject(content) ? JSON.stringify(content) : asText(content);
}

/** The message as it is sent ("Resources", message): parts only where there are pictures. */
export async function sentMessage(
	{ role, content, images }: MessageInput,
	context: IExecuteFunctions,
	item: number,
): Promise<JsonObject> {
	if (images.length === 0) return { role, content };
	const texts = Array.isArray(content) ? content : [{ type: 'text', text: content }];
	const pictures = await Promise.all(
		images.map(async (image) => ({
			type: 'image_url',
			image_url: {
				url: 'file' in image ? await dataUrlOf(image.file, context, item) : image.url,
				...(image.detail !== undefined && { detail: image.detail }),
			},
		})),
	);
	return { role, content: [...texts, ...pictures] };
}
