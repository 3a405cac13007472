import { isObject, type JsonObject } from '../json';

/**
 * An event of a streamed answer of "Endpoints" 5 as a chunk of a chat; any other as it is. The specification shows none;
 * these are those of endpoints of this kind.
 */
export function asChunk(event: JsonObject): JsonObject {
	const { type, index, usage } = event;
	if (!/^(?:message|content_block)_/.test(String(type))) return event;
	const [message, delta, part] = [event.message, event.delta, event.content_block].map((given) =>
		isObject(given) ? given : {},
	);
	const { content, ...fields } = message;
	const { text, thinking, partial_json: input, stop_reason: finish_reason } = { ...part, ...delta };
	const call = { index, function: { arguments: input } };
	const tool = { ...call, id: part.id, type: 'function', function: { name: part.name } };
	const isTool = part.type === 'tool_use';
	const calls = isTool ? [tool] : input === undefined ? undefined : [call];
	const piece = { content: text ?? content, reasoning: thinking, tool_calls: calls };
	const ended = type === 'message_delta' ? delta : {};
	return { ...fields, ...ended, type, usage, choices: [{ index: 0, delta: piece, finish_reason }] };
}
