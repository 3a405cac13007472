import type { IExecuteFunctions } from 'n8n-workflow';
import { asText, isObject, toJson, type JsonObject } from '../../../shared/gateway/json';
import { dataUrlOf } from '../../../shared/n8n/files/itemFile';
import { reasoningRefuses } from '../../../shared/gateway/protocol/endpoints';
import { bodyOf, type Field } from '../../../shared/n8n/parameters/field';
import { choiceField, fieldOf, withDefault } from '../../../shared/n8n/parameters/fieldKinds';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';
import { listField } from '../../../shared/n8n/parameters/listField';
import type { MessageImage } from './messageImages';

/** A message as it was given; files are loaded only when their item is sent. */
export interface MessageInput {
	role: string;
	/** A text, or parts that an expression gave. */
	content: unknown;
	images: MessageImage[];
	/** Further fields, such as the ID of the tool call that it answers. */
	more: JsonObject;
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
				...(refusedRoles.includes(value) && { description: 'Reasoning models refuse it' }),
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
	// n8n keeps what was filled in before the role was changed. Of a role that is in no menu, it shows all fields.
	const fieldsOf = (chosen: string) =>
		roles.includes(chosen)
			? more.filter(({ property }) => property.displayOptions?.show?.role?.includes(chosen))
			: more;
	const readMessage = (scope: Scope): MessageInput => ({
		role: role.read(scope),
		images: images?.read(scope) ?? [],
		content: content.read(scope),
		more: bodyOf(scope, fieldsOf(role.read(scope))),
	});
	return {
		...list,
		read(parameters) {
			const scopes = list.read(parameters);
			const { displayName } = list.property;
			if (scopes.length === 0) parameters.report(displayName, 'must have at least one message');
			return scopes.map((scope) => checkContent(readMessage(scope), scope));
		},
	};
}

const refusedRoles: readonly string[] = reasoningRefuses.roles;

/** The roles whose messages a person writes. What a model or a tool gave may be empty, and so may one with pictures. */
const writtenRoles = ['user', 'system'];

function checkContent(message: MessageInput, scope: Scope): MessageInput {
	const { content: given, role, images } = message;
	const json = typeof given === 'object' ? toJson(given) : given;
	const { displayName } = content.property;
	if (typeof given === 'object' && given !== null && json === undefined) {
		scope.report(displayName, 'cannot be written as JSON', 'unsendable');
	}
	const sent = Array.isArray(json) ? json : plainText(json);
	const isEmpty = typeof sent === 'string' && sent.trim() === '';
	if (isEmpty && images.length === 0 && writtenRoles.includes(role)) {
		scope.report(displayName, 'is empty');
	}
	return { ...message, content: sent };
}

/** A text as it is, an object as JSON, and nothing as an empty text. */
function plainText(json: unknown): string {
	if (typeof json === 'string') return json;
	return isObject(json) ? JSON.stringify(json) : (asText(json) ?? '');
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
