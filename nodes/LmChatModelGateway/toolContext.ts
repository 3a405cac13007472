import { isEmpty } from '../shared/service/chat/fragments';
import {
	asText,
	isObject,
	parseJson,
	textAt,
	valueAt,
	type JsonObject,
} from '../shared/service/json';

/**
 * Fields of a message and its tool calls that a service wants back with the results: the thoughts before the calls, and
 * their signatures. Services of reasoning models refuse the next request without them.
 */
interface ToolContext extends JsonObject {
	message: JsonObject;
	/** By the ID of the call. */
	calls: Record<string, JsonObject>;
}

/** Fields of several services; the specification shows none of them. */
const messageFields = ['reasoning_content', 'reasoning_details', 'thinking_blocks'];
const callFields = [
	'extra_content',
	'thought_signature',
	'thoughtSignature',
	'provider_specific_fields',
];

/**
 * @param calls the calls as the service sent them, with their IDs
 * @returns undefined when there is nothing to send back
 */
export function toolContextOf(
	message: JsonObject,
	calls: ReadonlyArray<readonly [id: string, call: JsonObject]>,
): ToolContext | undefined {
	if (calls.length === 0) return undefined;
	const given = calls.map(([id, call]) => [id, pick(call, callFields)] as const);
	// In a stream, thoughts come in pieces, of which only the last is signed: the service would refuse these.
	const areWhole = [message.thinking_blocks].flat().every(isSigned);
	const { thinking_blocks, ...others } = message;
	const context = {
		message: pick(areWhole ? { ...others, thinking_blocks } : others, messageFields),
		calls: Object.fromEntries(given.filter(([, fields]) => !isEmpty(fields))),
	};
	return isEmpty(context.message) && isEmpty(context.calls) ? undefined : context;
}

const isSigned = (block: unknown) => textAt(block, 'signature', 'data') !== undefined;

const pick = (object: JsonObject, names: string[]): JsonObject =>
	Object.fromEntries(
		names.flatMap((name) => (isEmpty(object[name]) ? [] : [[name, object[name]]])),
	);

/**
 * The only field of a LangChain message that n8n's agents of all versions keep until the results of its tools are sent,
 * with one text in it for each message.
 */
const keptField = '__gemini_function_call_thought_signatures__';

export const toKwargs = (context: unknown): JsonObject => ({
	[keptField]: { 'model-gateway': JSON.stringify(context) },
});

/** The context that {@link toKwargs} kept; another model's signature there is none. */
export function contextInKwargs(kwargs: unknown): ToolContext | undefined {
	const kept = valueAt(kwargs, keptField);
	const [text] = isObject(kept) ? Object.values(kept) : [];
	const context = parseJson(asText(text) ?? '');
	return isToolContext(context) ? context : undefined;
}

export const isToolContext = (value: unknown): value is ToolContext =>
	isObject(value) && isObject(value.message) && isObject(value.calls);
