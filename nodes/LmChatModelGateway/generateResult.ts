import { randomUUID } from 'crypto';
import { textToShow, type Completion } from '../shared/gateway/chat/completion';
import { requestIdsOf, UnusableResponse } from '../shared/gateway/client/response';
import {
	asText,
	isObject,
	jsonTextOf,
	parseJson,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../shared/gateway/json';
import { cutShort } from '../shared/gateway/protocol/chat';
import { tokenUsageOf } from '../shared/n8n/agent/tokenUsage';
import type { FinishReason, GenerateResult, ToolCallContent } from './aiNodeSdk';

/** "Resources", chat completion: each `finish_reason` with its name in the SDK. */
const sdkFinishReasons = new Map<string, FinishReason>([
	['stop', 'stop'],
	['length', 'length'],
	['content_filter', 'content-filter'],
	['tool_calls', 'tool-calls'],
	['function_call', 'tool-calls'],
]);

/**
 * The first choice of a completion, in the form of the SDK.
 * @throws UnusableResponse when the input of a tool call was cut off
 */
export function toGenerateResult(completion: Completion): GenerateResult {
	const { choices, usage, id } = completion;
	const [{ message, finish_reason }] = choices;
	const text = textToShow(message);
	// `function_call` is the older form of tool calls.
	const { function_call: call, tool_calls: given = call ? [{ function: call }] : [] } = message;
	const calls = Array.isArray(given) ? given.filter(isObject) : [];
	return {
		id: asText(id),
		finishReason: sdkFinishReasons.get(finish_reason ?? '') ?? 'other',
		usage: tokenUsageOf(usage),
		message: {
			role: 'assistant',
			content: [
				...(text === '' ? [] : [{ type: 'text' as const, text }]),
				...withOwnIds(calls.map((call) => toolCall(call, finish_reason))),
			],
		},
		providerMetadata: withoutUndefined({ finish_reason, ...requestIdsOf(completion) }),
	};
}

/** Each call with an ID of its own, by which its result and its stream chunks are matched to it. */
function withOwnIds(calls: ToolCallContent[]): ToolCallContent[] {
	const ids = new Set<string>();
	return calls.map((call) => {
		const { toolCallId: given } = call;
		const toolCallId = given && !ids.has(given) ? given : `call_${randomUUID()}`;
		ids.add(toolCallId);
		return { ...call, toolCallId };
	});
}

function toolCall(call: JsonObject, finishReason: string | undefined): ToolCallContent {
	const toolName = asText(valueAt(call, 'function.name'));
	if (toolName === undefined) throw new UnusableResponse('calls a tool without naming it');
	return {
		type: 'tool-call',
		toolCallId: asText(call.id),
		toolName,
		input: toInput(valueAt(call, 'function.arguments'), toolName, finishReason),
	};
}

/**
 * The arguments of a call as JSON. What cannot be read goes to the tool under a name that no tool has: the tool refuses
 * it, and the model reads why.
 */
function toInput(given: unknown, tool: string, finishReason: string | undefined): string {
	if (isObject(given)) return JSON.stringify(given);
	const json = asText(given) ?? '{}';
	if (isObject(parseJson(json))) return json;
	// Some models put the JSON into a text again, or into a code fence.
	const text = (json.startsWith('"') && asText(parseJson(json))) || json;
	const [, bare = text] = /^```\w*\s(.*)```$/s.exec(text.trim()) ?? [];
	if (isObject(parseJson(bare))) return bare;
	if (cutShort(finishReason) === undefined) return jsonTextOf({ [unreadable]: json });
	throw new UnusableResponse(
		`calls the tool ${tool} with what is no JSON object, because it was cut off at Max Tokens`,
		json,
	);
}

/** The name of the arguments of a tool call that are no JSON. */
export const unreadable = 'arguments_that_are_no_json';
