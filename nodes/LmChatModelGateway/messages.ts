import { fileTypeOf, headLength } from '../shared/service/files/fileType';
import {
	asText,
	isObject,
	jsonTextOf,
	withoutUndefined,
	type JsonObject,
} from '../shared/service/json';
import { badInput } from '../shared/n8n/errors/badInput';
import type { ContentOf, Message, MessageContent } from './aiNodeSdk';
import { isToolContext } from './toolContext';

/**
 * A conversation in the service's format ("Resources", message), which has no field for the names of messages.
 * Reasoning is left out, because models do not expect it back, unless it came with tool calls. The specification does
 * not show tool calls; these are the fields of the common wire format.
 * @throws GatewayError for a file that is not an image
 */
export function toServiceMessages(messages: Message[]): JsonObject[] {
	return messages.flatMap(({ role, content }): JsonObject[] => {
		if (role === 'tool') {
			const results = content.filter((part) => part.type === 'tool-result');
			return results.map(({ toolCallId, result }) => ({
				role,
				tool_call_id: toolCallId,
				content: resultContent(result),
			}));
		}
		if (role !== 'assistant') return [{ role, content: toServiceContent(content) }];

		const context = content
			.flatMap((part) => (part.type === 'provider' ? [part.value] : []))
			.find(isToolContext);
		const calls = content
			.filter((part) => part.type === 'tool-call')
			.map(({ toolCallId: id, toolName: name, input }) => ({
				...context?.calls[id ?? ''],
				id,
				type: 'function',
				function: { name, arguments: input },
			}));
		// LangChain returns a streamed response with one text for each chunk.
		const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
		const message = { role, content: text.join('') };
		return [calls.length > 0 ? { ...context?.message, ...message, tool_calls: calls } : message];
	});
}

/** A plain text unless there are images, because not every model accepts parts. */
function toServiceContent(content: MessageContent[]): string | JsonObject[] {
	const parts = content.filter((part) => part.type === 'text' || part.type === 'file');
	if (parts.every((part) => part.type === 'text')) return parts.map(({ text }) => text).join('\n');
	return parts.map((part) =>
		part.type === 'file' ? toServiceImage(part) : { type: 'text', text: part.text },
	);
}

function toServiceImage({ mediaType, data, providerMetadata }: ContentOf<'file'>): JsonObject {
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
	// n8n does not give the MIME type of every file.
	const head = Buffer.from(base64.slice(0, 2 * headLength), 'base64');
	const type = fileTypeOf(head)?.mimeType ?? mediaType;
	if (type?.startsWith('image/')) return `data:${type};base64,${base64}`;
	throw badInput([
		{
			field: 'A message to the chat model',
			problem: `has a file that is no image (${type ?? 'its type is not known'}); the gateway takes texts and images`,
		},
	]);
}

function resultContent(result: unknown): string | JsonObject[] {
	if (typeof result === 'string') return result;
	const isContent = Array.isArray(result) && result.length > 0 && result.every(isResultPart);
	return isContent ? toServiceContent(result) : jsonTextOf(result);
}

function isResultPart(part: unknown): part is MessageContent {
	return isObject(part) && (part.type === 'text' || part.type === 'file');
}
