import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { asText, isObject, parseJson, toJson, type JsonObject } from '../../../shared/gateway/json';
import { linkProblem } from '../../../shared/gateway/links';
import { dataUrlOf, itemPicture } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile, type Source } from '../../../shared/n8n/files/urlOrFile';
import { bodyOf, type Field } from '../../../shared/n8n/parameters/field';
import {
	choiceField,
	fieldOf,
	linkField,
	looseText,
	withDefault,
	type Report,
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
	/** Further fields, such as the ID of the tool call that it answers. */
	more: JsonObject;
}

const imageUrl = 'messages[].content[].image_url.url';

const imageSource = urlOrFile({
	source: {
		displayName: 'Source',
		name: 'source',
		default: 'url',
		options: sourceChoices(),
	},
	url: linkField({
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
		linkProblem(link, 'add one entry for each (Add Image)') ??
		(/^(https?:\/\/|data:image\/)/i.test(link)
			? undefined
			: 'must be an https link or a data URL of a picture'),
	labels: { url: '', file: '' },
});

export const detailField = looseText({
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
		fields: [...imageSource.fields, ...(hasDetail ? [detailField] : [])],
		...own,
	});
	return { ...list, read: (place) => list.read(place).flatMap(readImage) };
}

function readImage(place: Place): MessageImage[] {
	const source = imageSource.read(place);
	const detail = detailField.read(place);
	return source ? [{ ...source, ...(detail !== undefined && { detail }) }] : [];
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

const shownFor = (role: string) => ({ show: { role: [role] } });

/**
 * What a message of a chat has besides, by its role. The specification names the roles of tools without showing
 * their fields; these are the ones of the common wire format.
 */
export const chatFields = [
	looseText({
		displayName: 'Tool Call ID',
		name: 'toolCallId',
		request: 'messages[].tool_call_id',
		displayOptions: shownFor('tool'),
		placeholder: 'e.g. {{ $json.tool_calls[0].id }}',
		description: 'The call that this message answers',
	}),
	looseText({
		displayName: 'Function Name',
		name: 'name',
		request: 'messages[].name',
		displayOptions: shownFor('function'),
		placeholder: 'e.g. {{ $json.function_call.name }}',
		description: 'The function whose result this message is',
	}),
	fieldOf(
		'json',
		{
			displayName: 'Tool Calls (JSON)',
			name: 'toolCalls',
			request: 'messages[].tool_calls',
			displayOptions: shownFor('assistant'),
			default: '',
			placeholder: 'e.g. {{ $json.tool_calls }}',
			description:
				'The calls with which the model answered, where the conversation goes on from them',
		},
		readToolCalls,
	),
] as const;

function readToolCalls(value: unknown, report: Report): unknown[] | undefined {
	const json = typeof value === 'string' ? parseJson(value) : toJson(value);
	if (Array.isArray(json)) return json.length > 0 ? json : undefined;
	const isNothing = value === undefined || value === null || asString(value)?.trim() === '';
	if (!isNothing) report('must be a list, as the answer of a model has it', 'unsendable');
	return undefined;
}

/**
 * The messages of a conversation.
 * @param roles what the menu offers; an expression may give any other
 * @param images where a message takes them
 * @param more further fields of a message
 */
export function messagesField(
	roles: readonly string[],
	{ images, more = [] }: { images?: Field<MessageImage[]>; more?: readonly Field[] } = {},
): Field<MessageInput[]> {
	const role = withDefault(
		choiceField({
			displayName: 'Role',
			name: 'role',
			request: 'messages[].role',
			allowArbitraryValues: true,
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
		fields: [role, content, ...(images ? [images] : []), ...more],
	});
	// n8n keeps what was filled in before the role was changed.
	const fieldsOf = (chosen: string) =>
		more.filter(({ property }) => property.displayOptions?.show?.role?.includes(chosen));
	const readMessage = (place: Place): MessageInput => ({
		role: role.read(place),
		images: images?.read(place) ?? [],
		content: content.read(place),
		more: bodyOf(place, fieldsOf(role.read(place))),
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

/** The roles whose messages a person writes. What a model or a tool gave may be empty, and so may one with pictures. */
const writtenRoles = ['user', 'system'];

function checkContent(message: MessageInput, place: Place): MessageInput {
	const { content: given, role, images } = message;
	const json = typeof given === 'object' ? toJson(given) : given;
	const { displayName } = content.property;
	if (typeof given === 'object' && given !== null && json === undefined) {
		place.report(displayName, 'cannot be written as JSON', 'unsendable');
	}
	const isEmpty = !Array.isArray(json) && (asString(json) ?? '').trim() === '';
	if (isEmpty && images.length === 0 && writtenRoles.includes(role)) {
		place.report(displayName, 'is empty');
	}
	return { ...message, content: Array.isArray(json) ? json : (asString(json) ?? '') };
}

function asString(json: unknown): string | undefined {
	if (typeof json === 'string') return json;
	return isObject(json) ? JSON.stringify(json) : asText(json);
}

/** The message as it is sent ("Resources", message): parts only where there are pictures. */
export async function sentMessage(
	{ role, content: given, images, more }: MessageInput,
	context: IExecuteFunctions,
	item: number,
): Promise<JsonObject> {
	if (images.length === 0) return { role, content: given, ...more };
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
	return { role, content: [...texts, ...pictures], ...more };
}
