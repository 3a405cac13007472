import { isObject, type JsonObject } from '../json';
import { isEmpty } from './fragments';

/** Whether this is the type of an event of a streamed answer of "Endpoints" 5. */
export const isMessageEvent = (type: unknown): boolean =>
	/^(?:message|content_block)_/.test(String(type));

/**
 * An event of a streamed answer of "Endpoints" 5 as a chunk of a chat; any other as it is. The specification shows none;
 * these are those of endpoints of this kind.
 */
export function asChunk(event: JsonObject): JsonObject {
	const { type, index } = event;
	if (!isMessageEvent(type)) return event;
	const [message, delta, part] = [event.message, event.delta, event.content_block].map((given) =>
		isObject(given) ? given : {},
	);
	const { content, ...fields } = message;
	const { text, thinking, partial_json, stop_reason: finish_reason } = { ...part, ...delta };
	const usage = event.usage ?? fields.usage;
	const call = { index, function: { arguments: partial_json } };
	const calls = isToolUse(part)
		? [{ index, ...beginOf(part) }]
		: partial_json === undefined
			? undefined
			: [call];
	const piece = { content: text ?? content, reasoning: thinking, tool_calls: calls };
	const ended = type === 'message_delta' ? delta : {};
	return { ...fields, ...ended, type, usage, choices: [{ index: 0, delta: piece, finish_reason }] };
}

/** A tool of the service has a type of its own, such as `server_tool_use`, and is not called by its user. */
const isToolUse = ({ type }: JsonObject) => /(?:^|_)tool_use$/.test(String(type));

/** Some services send the arguments at once, in place of pieces that follow. */
const beginOf = ({ id, type, name, input }: JsonObject) => ({
	id,
	type: type === 'tool_use' ? 'function' : type,
	function: { name, arguments: isEmpty(input) ? undefined : input },
});
