import { messageRoles } from '../../nodes/shared/service/protocol/chat';
import { invalidParameter } from '../errors';
import { readObject } from '../fields';
import { readPictureLink, type PictureLink } from '../pictures';
import { readPrompt } from '../prompts';
import { tokensOf } from '../tokens';

/** One message of a conversation. */
export interface ChatMessage {
	role: (typeof messageRoles)[number];
	/** Its text, or its text parts joined by line breaks. */
	text: string;
	pictures: PictureLink[];
}

type Content = Pick<ChatMessage, 'text' | 'pictures'>;

/** "Resources", message. Fields of tool calls are not shown, and are ignored. */
export function readMessages(value: unknown): ChatMessage[] {
	if (!Array.isArray(value) || value.length === 0) {
		throw invalidParameter('messages', 'an array of at least one message');
	}
	return value.map((message, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(value: unknown, param: string): ChatMessage {
	const message = readObject(value, param);
	const role = messageRoles.find((known) => known === message.role);
	if (!role) throw invalidParameter(`${param}.role`, `one of ${messageRoles.join(', ')}`);

	// A message in which a model calls tools has no content.
	const given = message.content ?? (role === 'assistant' ? '' : undefined);
	const content = readContent(given, `${param}.content`);
	const { text, pictures } = content;
	if (role === 'user' && (text || !pictures.length)) readPrompt(text, `${param}.content`);
	return { role, ...content };
}

function readContent(content: unknown, param: string): Content {
	if (typeof content === 'string') return { text: content, pictures: [] };
	if (!Array.isArray(content)) throw invalidParameter(param, 'a text or an array of parts');

	const parts = content.map((part, index) => readPart(part, `${param}[${index}]`));
	const texts = parts.map(({ text }) => text).filter(Boolean);
	return { text: texts.join('\n'), pictures: parts.flatMap(({ pictures }) => pictures) };
}

function readPart(value: unknown, param: string): Content {
	const { type, text, image_url: image } = readObject(value, param);
	if (type === 'text' && typeof text === 'string') return { text, pictures: [] };
	if (type === 'image_url') {
		const { url, detail = '' } = readObject(image, `${param}.image_url`);
		if (typeof detail !== 'string') throw invalidParameter(`${param}.image_url.detail`, 'a text');
		return { text: '', pictures: [readPictureLink(url, `${param}.image_url.url`)] };
	}
	throw invalidParameter(param, 'a part of type text or image_url');
}

/** The request of a chat: the last message of the user, or the last message of all. */
export function requestOf(messages: ChatMessage[]): ChatMessage {
	return messages.findLast(({ role }) => role === 'user') ?? messages[messages.length - 1];
}

const summaryTokens = 20;

/** The start of the request of a chat, on one line. */
export function summaryOf(messages: ChatMessage[]): string {
	const tokens = tokensOf(requestOf(messages).text.replace(/\s+/g, ' ').trim());
	const start = tokens.slice(0, summaryTokens).join('');
	return tokens.length > summaryTokens ? `${start}…` : start;
}
