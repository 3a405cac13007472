import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { asText, isObject, toJson, type JsonObject } from '../../../shared/gateway/json';
import { messageRoles } from '../../../shared/gateway/protocol/resources';
import { dataUrlOf } from '../../../shared/n8n/files/binary';
import { itemPicture } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile, type Source } from '../../../shared/n8n/files/urlOrFile';
import type { Field } from '../../../shared/n8n/parameters/field';
import {
	choiceField,
	fieldOf,
	looseText,
	withDefault,
} from '../../../shared/n8n/parameters/fieldKinds';
import type { Place } from '../../../shared/n8n/parameters/itemParameters';
import { listField } from '../../../shared/n8n/parameters/listField';

/** A picture in a message: a link, or a file of the item that becomes a data URL when it is sent. */
export type MessageImage = Source & { detail?: string };

/** A message as it was given; files are loaded only when their item is sent. */
export interface MessageInput {
	role: string;
	/** A text, or parts that an expression gave. */
	content: unknown;
	images: MessageImage[];
}

const imageUrl = 'messages[].content[].image_url.url';

const imageSource = urlOrFile({
	source: {
		displayName: 'Source',
		name: 'source',
		default: 'url',
		options: sourceChoices(),
	},
	url: looseText({
		displayName: 'URL',
		name: 'url',
		request: imageUrl,
		placeholder: 'e.g. https://example.com/photo.png',
		description: 'An https link or a data URL',
	}),
	file: looseText({
		displayName: 'Input Binary Field',
		name: 'binaryField',
		request: imageUrl,
		default: 'data',
		hint: 'The name of the input field with the picture',
	}),
	find: itemPicture,
	linkProblem: (link) =>
		/^(https?:\/\/|data:image\/)/i.test(link)
			? undefined
			: 'must be an https link or a data URL of a picture',
	labels: { url: '', file: '' },
});

const detail = looseText({
	displayName: 'Detail',
	name: 'detail',
	request: 'messages[].content[].image_url.detail',
	placeholder: 'e.g. high',
	description: 'How closely the model looks at the image, for models that support it',
});

/** Pictures for a message. @param hasDetail whether each says how closely to look at it */
export function imagesField({
	hasDetail,
	...own
}: Pick<INodeProperties, 'description' | 'typeOptions'> & { hasDetail: boolean }): Field<
	MessageImage[]
> {
	const list = listField({
		displayName: 'Images',
		name: 'images',
		placeholder: 'Add Image',
		entry: 'Image',
		fields: [...(hasDetail ? [detail] : []), ...imageSource.fields],
		...own,
	});
	return { ...list, read: (place) => list.read(place).flatMap(readImage) };
}

function readImage(place: Place): MessageImage[] {
	const source = imageSource.read(place);
	const closeness = detail.read(place);
	return source ? [{ ...source, ...(closeness !== undefined && { detail: closeness }) }] : [];
}

const content = fieldOf(
	'string',
	{
		displayName: 'Content',
		name: 'content',
		request: 'messages[].content',
		typeOptions: { rows: 3 },
	},
	(value) => value,
);

/** The messages of a conversation. @param images where a message takes them */
export function messagesField(
	roles: readonly string[],
	images?: Field<MessageImage[]>,
): Field<MessageInput[]> {
	const role = withDefault(
		choiceField({
			displayName: 'Role',
			name: 'role',
			request: 'messages[].role',
			rule: { type: 'string', values: messageRoles },
			options: roles.map((value) => ({
				name: value[0].toUpperCase() + value.slice(1),
				value,
			})),
			default: 'user',
		}),
	);
	const list = listField({
		displayName: 'Messages',
		name: 'messages',
		request: 'messages',
		typeOptions: { sortable: true },
		placeholder: 'Add Message',
		default: { values: [{ role: 'user', content: '' }] },
		entry: 'Message',
		fields: [content, ...(images ? [images] : []), role],
	});
	const readMessage = (place: Place): MessageInput => ({
		role: role.read(place),
		images: images?.read(place) ?? [],
		content: content.read(place),
	});
	return {
		...list,
		read(parameters) {
			const places = list.read(parameters);
			const { displayName } = list.property;
			if (places.length === 0) parameters.report(displayName, 'must have at least one message');
			return places.map((place) => checkContent(readMessage(place), place));
		},
	};
}

/** An answer of the model that an earlier node gave may be empty, and so may a message that has pictures. */
function checkContent({ content: given, role, images }: MessageInput, place: Place): MessageInput {
	const json = typeof given === 'object' ? toJson(given) : given;
	const isEmpty = (asString(json) ?? '').trim() === '';
	if (isEmpty && !Array.isArray(json) && images.length === 0 && role !== 'assistant') {
		const isOther = typeof given === 'object' && given !== null;
		place.report(content.property.displayName, isOther ? 'cannot be written as JSON' : 'is empty');
	}
	return { role, content: Array.isArray(json) ? json : (asString(json) ?? ''), images };
}

function asString(json: unknown): string | undefined {
	if (typeof json === 'string') return json;
	return isObject(json) ? JSON.stringify(json) : asText(json);
}

/** The message as it is sent ("Resources", message): parts only where there are pictures. */
export async function sentMessage(
	{ role, content: given, images }: MessageInput,
	context: IExecuteFunctions,
	item: number,
): Promise<JsonObject> {
	if (images.length === 0) return { role, content: given };
	const texts = Array.isArray(given) ? given : [{ type: 'text', text: given }];
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
