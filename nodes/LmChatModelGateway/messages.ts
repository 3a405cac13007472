import { badInput } from '../shared/n8n/errors/badInput';
import { imageType } from '../shared/gateway/images/imageType';
import { asText, withoutUndefined, isObject, type JsonObject } from '../shared/gateway/json';
import type {
	FileContent,
	Message,
	MessageContent,
	TextContent,
	ToolCallContent,
	ToolResultContent,
} from './aiNodeSdk';

/**
 * A conversation as the service takes it ("Resources", message). Names of messages are left out: the
 * service shows no field for them. So is reasoning, which models do not want to be given back.
 * @throws GatewayError for a file that is no picture
 */
export function toServiceMessages(messages: Message[]): JsonObject[] {
	return messages.flatMap(({ role, content }): JsonObject[] => {
		if (role === 'tool') return content.filter(isToolResult).map(sentToolResult);
		if (role !== 'assistant') return [{ role, content: sentContent(content) }];

		const calls = content.filter((part) => part.type === 'tool-call').map(sentCall);
		// An answer that was streamed comes back as one text for each piece of it.
		const text = content.filter(isText).map((part) => part.text);
		return [{ role, content: text.join(''), ...(calls.length > 0 && { tool_calls: calls }) }];
	});
}

/** A text wherever there are no pictures: not every model takes parts. */
function sentContent(content: MessageContent[]): string | JsonObject[] {
	const parts = content.filter((part) => part.type === 'text' || part.type === 'file');
	if (parts.every(isText)) return parts.map(({ text }) => text).join('\n');
	return parts.map((part) =>
		part.type === 'file' ? sentPicture(part) : { type: 'text', text: part.text },
	);
}

function sentPicture({ mediaType, data, providerMetadata }: FileContent): JsonObject {
	const url = asText(providerMetadata?.url);
	return {
		type: 'image_url',
		image_url: withoutUndefined({
			url: url ?? dataUrlOf(data ?? '', mediaType),
			detail: asText(providerMetadata?.detail),
		}),
	};
}

function dataUrlOf(data: string | Uint8Array, mediaType: string | undefined): string {
	const base64 = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
	if (/^data:image\//i.test(base64)) return base64;
	// n8n does not name the type of every file.
	const head = Buffer.from(base64.slice(0, 64), 'base64');
	const type = mediaType ?? imageType(head)?.mimeType;
	if (type?.startsWith('image/')) return `data:${type};base64,${base64}`;
	throw badInput([
		{
			field: 'A message to the chat model',
			problem: `has a file that is no picture (${type ?? 'its type is not known'}); the gateway takes texts and pictures`,
		},
	]);
}

/** Tool calls are not shown by the specification: this is how the wire format has them. */
function sentCall({ toolCallId, toolName, input }: ToolCallContent): JsonObject {
	return { id: toolCallId, type: 'function', function: { name: toolName, arguments: input } };
}

function sentToolResult({ toolCallId, result }: ToolResultContent): JsonObject {
	return { role: 'tool', tool_call_id: toolCallId, content: resultContent(result) };
}

function resultContent(result: unknown): string | JsonObject[] {
	if (typeof result === 'string') return result;
	const isContent = Array.isArray(result) && result.length > 0 && result.every(isResultPart);
	return isContent ? sentContent(result) : (JSON.stringify(result) ?? '');
}

function isResultPart(part: unknown): part is MessageContent {
	return isObject(part) && (part.type === 'text' || part.type === 'file');
}

const isText = (part: MessageContent): part is TextContent => part.type === 'text';
const isToolResult = (part: MessageContent): part is ToolResultContent =>
	part.type === 'tool-result';
