import {
	asText,
	isObject,
	jsonTextOf,
	toJson,
	withoutUndefined,
	type JsonObject,
} from '../../../shared/service/json';
import { reasoningRefuses } from '../../../shared/service/protocol/endpoints';
import { dataUrlOf, itemImage } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile, type Source } from '../../../shared/n8n/files/urlOrFile';
import type { ItemRun } from '../../../shared/n8n/items/work';
import { accidentIn, accidentInJson } from '../../../shared/n8n/parameters/accidentalText';
import { bodyOf, fieldOf, type Field, type Report } from '../../../shared/n8n/parameters/field';
import {
	choiceField,
	linkField,
	listField,
	uncheckedText,
	withDefault,
	type Facts,
} from '../../../shared/n8n/parameters/fieldKinds';
import { reportAccident } from '../../../shared/n8n/parameters/values';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';

/** An image of a message: a link, or a file of the item that is sent as a data URL. */
type MessageImage = Source & { detail?: string };

const imageUrl = 'messages[].content[].image_url.url';

const imageSource = urlOrFile({
	source: choiceField('source', 'Source', { default: 'url', options: sourceChoices() }),
	url: linkField('url', 'URL', {
		request: imageUrl,
		placeholder: 'e.g. https://example.com/photo.png',
		description: 'An https link or a data URL',
	}),
	file: uncheckedText('binaryField', 'Input Binary Field', {
		request: imageUrl,
		default: 'data',
		hint: 'The name of the input field with the image',
	}),
	find: itemImage,
	links: { multipleLinksHint: 'add one entry for each (Add Image)', takesDataUrl: true },
	labels: { url: '', file: '' },
});

export const detailField = uncheckedText('detail', 'Detail', {
	request: 'messages[].content[].image_url.detail',
	placeholder: 'e.g. high',
	description: 'How closely the model looks at the image, for models that support it',
});

/** The images of a message. @param hasDetail whether each image has its own Detail */
export function imagesField({
	hasDetail,
	...facts
}: Facts & { hasDetail: boolean }): Field<MessageImage[]> {
	return listField('images', 'Images', {
		placeholder: 'Add Image',
		entry: {
			label: 'Image',
			fields: [...imageSource.fields, ...(hasDetail ? [detailField] : [])],
		},
		read: (entries) =>
			entries.flatMap((scope) => {
				const source = imageSource.read(scope);
				const detail = detailField.read(scope);
				return source ? [{ ...source, ...withoutUndefined({ detail }) }] : [];
			}),
		...facts,
	});
}

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
 * @param json the field for content as JSON
 * @param more other fields of a message
 * @param earlier the description of a list of earlier messages, which may be empty
 */
export function messagesField(
	roles: readonly string[],
	{
		images,
		json,
		more = [],
		earlier,
	}: {
		images?: Field<MessageImage[]>;
		json?: Field;
		more?: readonly Field[];
		earlier?: string;
	},
): Field<MessageInput[]> {
	const role = withDefault(
		choiceField('role', 'Role', {
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
		const chosen = role.read(scope);
		const message = {
			role: chosen,
			images: images?.read(scope) ?? [],
			more: bodyOf(scope, fieldsOf(chosen)),
		};
		const own = json?.read(scope);
		if (!json || own === undefined) {
			return checkContent({ ...message, content: content.read(scope) }, scope);
		}
		const { displayName } = json.property;
		reportAccident(accidentInJson(own), (...problem) => scope.report(displayName, ...problem));
		return { ...message, content: own };
	};
	const isEarlier = earlier !== undefined;
	const label = isEarlier ? 'Earlier Message' : 'Message';
	return listField(isEarlier ? 'earlierMessages' : 'messages', `${label}s`, {
		request: 'messages',
		typeOptions: { sortable: true },
		placeholder: 'Add Message',
		default: isEarlier ? {} : { values: [{ role: 'user', content: '' }] },
		description: earlier,
		entry: {
			label,
			fields: [role, content, ...[images, json].filter((field) => field !== undefined), ...more],
		},
		read(entries, report) {
			if (entries.length === 0 && !isEarlier) report('must have at least one message');
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
	const isWritten = writtenRoles.includes(role);
	const { displayName } = content.property;
	const report: Report = (...problem) => scope.report(displayName, ...problem);
	if (given !== undefined && json === undefined) report('cannot be written as JSON', 'unsendable');
	const sent = Array.isArray(json) ? json : plainText(json);
	const isEmpty = typeof sent === 'string' && sent.trim() === '';
	if (isEmpty && images.length === 0 && isWritten) report('is empty');
	const accident = typeof json === 'string' && isWritten ? accidentIn(json) : accidentInJson(json);
	reportAccident(accident, (problem, kind) => report(problem, isWritten ? kind : 'hint'));
	return { ...message, content: sent };
}

/** A text as it is, an object as JSON, and no value as an empty text. */
function plainText(json: unknown): string {
	if (typeof json === 'string' || typeof json === 'boolean') return String(json);
	return isObject(json) ? jsonTextOf(json) : (asText(json) ?? '');
}

/** @returns the messages as they are sent ("Resources", message) */
export const messagesToSend = async (
	messages: MessageInput[],
	run: ItemRun,
): Promise<JsonObject[]> =>
	await Promise.all(messages.map(async (message) => await messageToSend(message, run)));

/** Uses parts only where the message has images, and none for an empty text, which some models refuse. */
async function messageToSend(
	{ role, content: given, images, more }: MessageInput,
	{ context, item }: ItemRun,
): Promise<JsonObject> {
	if (images.length === 0) return { role, content: given, ...more };
	const hasText = String(given).trim() !== '';
	const texts = Array.isArray(given) ? given : hasText ? [{ type: 'text', text: given }] : [];
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
