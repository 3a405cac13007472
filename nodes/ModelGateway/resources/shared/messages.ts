import type { INodeProperties } from 'n8n-workflow';
import {
	asText,
	isObject,
	jsonTextOf,
	toJson,
	type JsonObject,
} from '../../../shared/service/json';
import { dataUrlOf } from '../../../shared/n8n/files/itemFile';
import { reasoningRefuses } from '../../../shared/service/protocol/endpoints';
import type { ItemRun } from '../../../shared/n8n/items/work';
import { accidentIn, accidentInJson } from '../../../shared/n8n/parameters/accidentalText';
import { bodyOf, fieldOf, type Field, type Report } from '../../../shared/n8n/parameters/field';
import { choiceField, listField, withDefault } from '../../../shared/n8n/parameters/fieldKinds';
import { reportAccident } from '../../../shared/n8n/parameters/values';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';
import type { MessageImage } from './messageImages';

/** A message as the user gave it. Its files are loaded only when their item is sent. */
export interface MessageInput {
	role: string;
	/** A text, or parts that an expression gave. */
	content: unknown;
	images: MessageImage[];
	/** Other fields, such as the ID of the tool call that it answers. */
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
 * @param roles the choices of the menu; an expression may give other roles
 * @param images the field for images, where messages accept them
 * @param json the field for content as JSON, where messages accept it
 * @param more other fields of a message
 * @param optional set when the list may be empty: its name, label and description
 */
export function messagesField(
	roles: readonly string[],
	{
		images,
		json,
		more = [],
		optional,
	}: {
		images?: Field<MessageImage[]>;
		json?: Field;
		more?: readonly Field[];
		optional?: Pick<INodeProperties, 'displayName' | 'name' | 'description'>;
	} = {},
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
	// When the role is changed, n8n keeps the values of fields that it hides. So only the fields of the chosen role are
	// read. For a role that is not in the menu, n8n shows all fields.
	const fieldsOf = (chosen: string) =>
		roles.includes(chosen)
			? more.filter(({ property }) => property.displayOptions?.show?.role?.includes(chosen))
			: more;
	const readMessage = (scope: Scope): MessageInput => {
		const message = {
			role: role.read(scope),
			images: images?.read(scope) ?? [],
			more: bodyOf(scope, fieldsOf(role.read(scope))),
		};
		const own = json?.read(scope);
		return own === undefined
			? checkContent({ ...message, content: content.read(scope) }, scope)
			: { ...message, content: own };
	};
	return listField({
		displayName: 'Messages',
		name: 'messages',
		request: 'messages',
		typeOptions: { sortable: true },
		placeholder: 'Add Message',
		default: optional ? {} : { values: [{ role: 'user', content: '' }] },
		...optional,
		entry: {
			label: optional ? 'Earlier Message' : 'Message',
			fields: [role, content, ...[images, json].filter((field) => field !== undefined), ...more],
		},
		read(entries, report) {
			if (entries.length === 0 && !optional) report('must have at least one message');
			return entries.map(readMessage);
		},
	});
}

const refusedRoles: readonly string[] = reasoningRefuses.roles;

/** Roles whose messages users write. These must not be empty unless they have images; those of models and tools may. */
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
	const isWritten = writtenRoles.includes(role);
	if (isEmpty && images.length === 0 && isWritten) scope.report(displayName, 'is empty');
	const accident = typeof json === 'string' && isWritten ? accidentIn(json) : accidentInJson(json);
	const reportOrHint: Report = (problem, kind) =>
		scope.report(displayName, problem, isWritten ? kind : 'hint');
	reportAccident(accident, reportOrHint);
	return { ...message, content: sent };
}

/** A text as it is, an object as JSON, and nothing as an empty text. */
function plainText(json: unknown): string {
	if (typeof json === 'string' || typeof json === 'boolean') return String(json);
	return isObject(json) ? jsonTextOf(json) : (asText(json) ?? '');
}

/** The messages as they are sent ("Resources", message). */
export const messagesToSend = async (
	messages: MessageInput[],
	run: Pick<ItemRun, 'context' | 'item'>,
): Promise<JsonObject[]> =>
	await Promise.all(messages.map(async (message) => await messageToSend(message, run)));

/** Uses parts only where the message has images. */
async function messageToSend(
	{ role, content: given, images, more }: MessageInput,
	{ context, item }: Pick<ItemRun, 'context' | 'item'>,
): Promise<JsonObject> {
	if (images.length === 0) return { role, content: given, ...more };
	const texts = Array.isArray(given) ? given : [{ type: 'text', text: given }];
	const imageParts = await Promise.all(
		images.map(async (image) => ({
			type: 'image_url',
			image_url: {
				url: 'file' in image ? await dataUrlOf(image.file, context, item) : image.url,
				...(image.detail !== undefined && { detail: image.detail }),
			},
		})),
	);
	return { role, content: [...texts, ...imageParts], ...more };
}
