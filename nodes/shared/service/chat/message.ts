import { isObject, jsonTextOf, textAt, valueAt, withoutUndefined, type JsonObject } from '../json';
import { isEmpty } from './fragments';

/** A message of a chat ("Resources"), with the fields we use. */
export type Message = JsonObject & { content?: unknown };

/** The message of an answer. Some services put its fields into the answer itself, and its content under other names. */
export function messageIn(answer: JsonObject): Message {
	const { message, delta } = answer;
	if (typeof message === 'string' && answer.index !== undefined) return { content: message };
	if (isObject(message) && !isEmpty(message)) return message;
	if (isObject(delta) && !isEmpty(delta)) return delta;
	const { content, completion, output_text, text, output, messages } = answer;
	const { role, tool_calls, function_call, refusal, images, audio } = answer;
	const entries = [output, messages].map(contentOfEntries);
	const contents = [content, completion, output_text, text, ...entries];
	return {
		...withoutUndefined({ role, function_call, refusal, images, audio }),
		...withoutUndefined({ tool_calls: tool_calls ?? callsInEntries(output) }),
		content: contents.map(contentIn).find((each) => each !== undefined) ?? null,
	};
}

/** The content of all messages of a list, and the images beside them. */
function contentOfEntries(entries: unknown): unknown[] | undefined {
	if (!Array.isArray(entries)) return undefined;
	const isImage = (entry: unknown) => /^image/.test(textAt(entry, 'type') ?? '');
	const parts = entries.flatMap((entry: unknown) => {
		const content = valueAt(entry, 'content') ?? valueAt(entry, 'text');
		return content ?? (isImage(entry) ? entry : []);
	});
	return parts.length > 0 ? parts : undefined;
}

function callsInEntries(entries: unknown): JsonObject[] | undefined {
	const calls = [entries]
		.flat()
		.filter(isObject)
		.filter(({ type }) => type === 'function_call');
	return calls.length > 0 ? calls.map(asToolCall) : undefined;
}

/** A tool call of the Responses API as one of a chat. */
export const asToolCall = ({ call_id, id, name, arguments: input }: JsonObject): JsonObject => ({
	id: call_id ?? id,
	type: 'function',
	function: { name, arguments: input },
});

/** A text, a part or a list of them, which some services put into an object. */
export function contentIn(content: unknown): unknown {
	const given = isObject(content) ? (content.parts ?? content) : content;
	const isText = (typeof given === 'string' || isObject(given)) && isTextPart(given);
	return Array.isArray(given) || isText ? given : undefined;
}

/** @param content a text, a part, or a list of both ("Resources", message) */
export function partsOf(content: unknown): unknown[] {
	return [content].flat().filter((part) => part !== undefined && part !== null);
}

export const isTextPart = (part: unknown): boolean => textIn(part) !== undefined;

export const isThought = (part: unknown): boolean =>
	valueAt(part, 'thought') === true ||
	/^(?:thinking|reasoning|reasoning_text|summary_text)$/.test(textAt(part, 'type') ?? '');

/** Whether a message has thoughts of the model, in or beside its content. */
export const hasThoughts = ({ content, ...fields }: JsonObject): boolean =>
	partsOf(content).some(isThought) ||
	['reasoning_content', 'reasoning', 'thinking'].some((name) => !isEmpty(fields[name]));

/** Some services put a text into an object again, or write one such as `42` as a number. */
function textIn(part: unknown): string | undefined {
	if (isThought(part)) return undefined;
	const given = isObject(part) ? part.text : part;
	const text = isObject(given) ? given.value : given;
	return ['string', 'number', 'boolean'].includes(typeof text) ? String(text) : undefined;
}

export const textOf = ({ content }: JsonObject): string => partsOf(content).map(textIn).join('');

/** The words with which a model refuses to answer, or an empty text. */
export function refusalTextOf({ content, refusal }: JsonObject): string {
	if (typeof refusal === 'string' && refusal !== '') return refusal;
	const refusals = partsOf(content).map((part) => valueAt(part, 'refusal'));
	return refusals.filter((words) => typeof words === 'string').join('');
}

/** The answer, or the words with which the model refuses to give one. Some services parse an answer that is JSON. */
export function textToShow(message: JsonObject): string {
	const text = textOf(message);
	if (text.trim() !== '') return text;
	const { content } = message;
	const isParsed = isObject(content) && !isEmpty(content) && content.type === undefined;
	return refusalTextOf(message) || (isParsed ? jsonTextOf(content) : text);
}

/** The parts of a message besides its text, under the service's own names. */
export function otherContentOf(message: JsonObject): JsonObject {
	const { content, tool_calls, function_call, images, audio } = message;
	return withoutUndefined({
		// A part such as an image or a tool call has no text.
		content: partsOf(content).every(isTextPart) ? undefined : content,
		tool_calls,
		function_call,
		images,
		audio,
		refusal: refusalTextOf(message) || undefined,
	});
}
