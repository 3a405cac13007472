import { isObject, type JsonObject } from '../json';
import { choicesIn } from './completion';
import { isEmpty } from './fragments';
import { asToolCall } from './message';

export const isMessageEvent = (type: unknown): boolean =>
	/^(?:message|content_block)_/.test(String(type));

/** An event of "Endpoints" 5 or of the Responses API as a chunk of a chat. The specification shows neither. */
export function asChunk(event: JsonObject): JsonObject {
	const { type } = event;
	if (isMessageEvent(type)) return messageChunk(event);
	return /^response\.\w/.test(String(type)) ? responseChunk(event) : event;
}

function messageChunk(event: JsonObject): JsonObject {
	const { type, index } = event;
	const [message, delta, part] = [event.message, event.delta, event.content_block].map((given) =>
		isObject(given) ? given : {},
	);
	const { content, ...fields } = message;
	const { text, thinking, partial_json, stop_reason: finish_reason } = { ...part, ...delta };
	const usage = event.usage ?? fields.usage;
	const call = isToolUse(part) ? beginOf(part) : { function: { arguments: partial_json } };
	const hasCall = isToolUse(part) || partial_json !== undefined;
	const tool_calls = hasCall ? [{ index, ...call }] : undefined;
	const piece = { content: text ?? content, reasoning: thinking, tool_calls };
	const ended = type === 'message_delta' ? delta : {};
	return { ...fields, ...ended, type, usage, choices: [{ index: 0, delta: piece, finish_reason }] };
}

/** A tool that the service runs itself has a type such as `server_tool_use`. */
const isToolUse = ({ type }: JsonObject) => /(?:^|_)tool_use$/.test(String(type));

/** Some services send all arguments at once. */
const beginOf = ({ id, type, name, input }: JsonObject) => ({
	id,
	type: type === 'tool_use' ? 'function' : type,
	function: { name, arguments: isEmpty(input) ? undefined : input },
});

/** The last event has the whole answer, which may have come in no pieces. */
function responseChunk(event: JsonObject): JsonObject {
	const { type, output_index: index, delta, item, response } = event;
	if (isObject(response)) {
		const isEnd = /\.(?:completed|incomplete)$/.test(String(type));
		const [answer = { index: 0, message: {} }] = choicesIn(response) ?? [];
		const finish_reason = answer.finish_reason ?? response.status ?? 'stop';
		return { ...response, type, choices: isEnd ? [{ ...answer, finish_reason }] : [] };
	}
	const begun = type === 'response.output_item.added' && isObject(item) ? item : {};
	const [, name = ''] = /^response\.(\w+)\.delta$/.exec(String(type)) ?? [];
	const pieces: Record<string, JsonObject> = {
		output_text: { content: delta },
		refusal: { refusal: delta },
		reasoning_text: { reasoning: delta },
		reasoning_summary_text: { reasoning: delta },
		function_call_arguments: { tool_calls: [{ index, function: { arguments: delta } }] },
	};
	const call = { tool_calls: [{ index, ...asToolCall(begun) }] };
	const piece = begun.type === 'function_call' ? call : pieces[name];
	return { type, choices: piece ? [{ index: 0, delta: piece }] : [] };
}
