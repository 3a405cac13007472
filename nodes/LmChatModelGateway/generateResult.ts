import { randomUUID } from 'crypto';
import type { Choice, Completion } from '../shared/service/chat/completion';
import { isEmpty } from '../shared/service/chat/fragments';
import { partsOf, textToShow } from '../shared/service/chat/message';
import { requestIdsOf, UnusableResponse } from '../shared/service/client/response';
import {
	asText,
	excerpt,
	isObject,
	jsonTextOf,
	parseJson,
	textAt,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../shared/service/json';
import { cutShort, finishReasons } from '../shared/service/protocol/chat';
import { unreadableArguments } from '../shared/n8n/agent/tool';
import { tokenUsageOf } from '../shared/n8n/agent/tokenUsage';
import type { ContentOf, FinishReason, GenerateResult } from './aiNodeSdk';
import { toolContextOf } from './toolContext';

/** Each `finish_reason` ("Resources", chat completion) with its name in the SDK. */
const sdkFinishReasons = new Map<string, FinishReason>([
	['stop', 'stop'],
	['length', 'length'],
	['content_filter', 'content-filter'],
	['tool_calls', 'tool-calls'],
	['function_call', 'tool-calls'],
]);

/**
 * The first choice of a completion, in the form of the SDK.
 * @param needsArguments whether a tool refuses a call without arguments
 * @throws UnusableResponse when the input of a tool call is no JSON object, and the tool might run without it; and for
 * an empty answer that was cut off or withheld
 */
export function toGenerateResult(
	completion: Completion,
	needsArguments: (tool: string) => boolean,
): GenerateResult {
	const { choices, usage, id, model } = completion;
	const [{ message, finish_reason }] = choices;
	const text = textToShow(message);
	const calls = callsOf(message);
	const made = withOwnIds(calls.map((call) => toolCall(call, finish_reason, needsArguments)));
	if (text.trim() === '' && calls.length === 0) throwIfCut(finish_reason);
	const context = toolContextOf(
		message,
		made.map(({ toolCallId }, position) => [toolCallId, calls[position]]),
	);
	return {
		id: asText(id),
		finishReason: sdkFinishReasons.get(finish_reason ?? '') ?? 'other',
		usage: tokenUsageOf(usage),
		message: {
			role: 'assistant',
			content: [
				...(text === '' ? [] : [{ type: 'text' as const, text }]),
				...made,
				...(context ? [{ type: 'provider' as const, value: context }] : []),
			],
		},
		providerMetadata: withoutUndefined({ finish_reason, model, ...requestIdsOf(completion) }),
	};
}

/** An agent shows no hint: it would end with an empty answer. */
function throwIfCut(end: Choice['finish_reason']): void {
	const cut = cutShort(end);
	if (!cut) return;
	const why = cut.why ?? `finish_reason ${excerpt(String(end), 50)}`;
	const isWithheld = cut.why === finishReasons.content_filter;
	throw new UnusableResponse(`has no text: ${why}`, {
		refusal: isWithheld ? 'refusedContent' : undefined,
	});
}

/** In the usual form, in the older one, or as parts of the content; not those of tools that the service runs itself. */
function callsOf({ tool_calls, function_call: call, content }: JsonObject): JsonObject[] {
	const lists = [[tool_calls].flat(), [{ function: call }], partsOf(content).map(callInPart)].map(
		(list) =>
			list
				.filter(isObject)
				.filter((each) => !isOfService(each) && !functionOf(each).every(isNothing)),
	);
	return lists.find((list) => list.length > 0) ?? [];
}

/** Parts of Gemini and Bedrock hold the call. */
const callInPart = (part: unknown) =>
	valueAt(part, 'type') === 'tool_use'
		? part
		: ['functionCall', 'function_call', 'toolUse']
				.map((name) => valueAt(part, name))
				.find(isObject);

const isOfService = ({ type }: JsonObject) => /_tool_use$/.test(String(type));

const isNothing = (value: unknown) => isEmpty(value) || value === '{}';

/** Some services put these into the call itself, or call them otherwise. */
function functionOf(call: JsonObject): [name: unknown, input: unknown] {
	const own = isObject(call.function) ? call.function : call;
	const { name, arguments: given, input, args, parameters } = own;
	return [name, given ?? input ?? args ?? parameters];
}

/** Each call needs its own ID, by which its result and its stream chunks are matched to it. */
function withOwnIds(calls: ContentOf<'tool-call'>[]) {
	const ids = new Set<string>();
	return calls.map((call) => {
		const { toolCallId: given } = call;
		const toolCallId = given && !ids.has(given) ? given : `call_${randomUUID()}`;
		ids.add(toolCallId);
		return { ...call, toolCallId };
	});
}

function toolCall(
	call: JsonObject,
	end: Choice['finish_reason'],
	needsArguments: (tool: string) => boolean,
): ContentOf<'tool-call'> {
	const [name, given] = functionOf(call);
	const toolName = asText(name);
	if (toolName === undefined) throw new UnusableResponse('calls a tool without naming it');
	const { input, text } = toInput(given);
	const cut = cutShort(end);
	if (input === undefined && (cut || !needsArguments(toolName))) {
		const isFull = cut?.why === finishReasons.length;
		const why = isFull ? ', because it was cut off at Max Tokens' : '';
		const problem = `calls the tool ${toolName} with what is no JSON object${why}`;
		throw new UnusableResponse(problem, { partialText: text });
	}
	return {
		type: 'tool-call',
		toolCallId: textAt(call, 'id', 'toolUseId'),
		toolName,
		// The tool refuses it, and the model reads why.
		input: input ?? jsonTextOf({ [unreadableArguments]: text }),
	};
}

/** The arguments of a call, as the JSON of an object unless they are none, and as they came. */
function toInput(given: unknown): { input?: string; text: string } {
	if (isObject(given)) return { input: JSON.stringify(given), text: '' };
	const json = asText(given) ?? (isEmpty(given) ? '{}' : jsonTextOf(given));
	// Some models put the JSON into a text again, or into a code fence.
	const text = (json.startsWith('"') && asText(parseJson(json))) || json;
	const [, bare = text] = /^```\w*\s(.*)```$/s.exec(text.trim()) ?? [];
	const value = parseJson(bare);
	// Some services write null or an empty list for no arguments.
	const none = value !== undefined && isEmpty(value) ? '{}' : undefined;
	return { input: isObject(value) ? bare : none, text: json };
}
