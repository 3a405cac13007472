import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ServiceResponse,
} from '../client/response';
import { asIndex, asText, isObject, valueAt, withoutUndefined, type JsonObject } from '../json';
import { maxChoices } from '../protocol/bounds';
import { brokeOffWithError, endsWithError, errorIn, errorInChoice } from './answerError';

/** One choice of a chat completion ("Resources"), with the fields we use. */
export interface Choice extends JsonObject {
	index: number;
	message: JsonObject & { content?: unknown };
	finish_reason?: string;
}

export interface Completion extends JsonObject {
	choices: Choice[];
}

/** @throws UnusableResponse when it has no choices, or an error in place of an answer or of the rest of one */
export function completion(response: ServiceResponse): Completion {
	const whole = anyCompletion(response);
	const broken = brokenAnswer(whole);
	if (broken) throw broken;
	return whole;
}

/** A completion that may have errors in it. @throws UnusableResponse when it has no choices */
export function anyCompletion(response: ServiceResponse): Completion {
	const { json } = response;
	const parts = isObject(json) ? [json, ...wrappers.map((name) => json[name])] : [];
	const whole = parts.filter(isObject).find((part) => answersIn(part) !== undefined);
	const given = whole && answersIn(whole);
	if (!isObject(json) || !given) throw new UnusableResponse(describeBody(response));
	const choices = given.filter(isObject).slice(0, maxChoices).map(asChoice);
	if (choices.length === 0) throw new UnusableResponse('has no choices');
	const usage = json.usage ?? whole.usage;
	return { ...withRequestIds(json, response), ...withoutUndefined({ usage }), choices };
}

/** Where other services put the whole completion. */
const wrappers = ['output', 'data', 'result', 'response'];

/** The answers of a completion, in the form of the specification or of other services; undefined if it is none. */
function answersIn(part: JsonObject): unknown[] | undefined {
	const { choices, candidates, message, text } = part;
	const list = [choices, candidates].find(Array.isArray);
	const isAnswer = isObject(message) || typeof text === 'string';
	const { done_reason, finish_reason } = part;
	const only = withoutUndefined({ message, text, finish_reason: finish_reason ?? done_reason });
	return list ?? (isAnswer ? [only] : undefined);
}

function asChoice(given: JsonObject, position: number): Choice {
	const { content, finishReason } = given;
	const message = [given.message, given.delta].find(isObject);
	// Some services put the parts of an answer into its content.
	const parts = isObject(content) ? content.parts : content;
	const finish_reason = asText(given.finish_reason ?? finishReason);
	return {
		...given,
		index: asIndex(given.index) ?? position,
		message: message ?? { content: given.text ?? parts ?? null },
		...withoutUndefined({ finish_reason }),
	};
}

/** Why a completion is not whole: it, or one of its answers, has an error. */
export function brokenAnswer(whole: Completion): UnusableResponse | undefined {
	const { choices } = whole;
	const error = [errorIn(whole), ...choices.map(errorInChoice)].find(Boolean);
	if (error === undefined && !choices.some(endsWithError)) return undefined;
	const texts = choices.map(({ message }) => textOf(message)).filter((text) => text !== '');
	return brokeOffWithError(error, texts.join('\n\n'));
}

/** The parts of a message's content, which may be a text, a part, or a list of both ("Resources", message). */
export function partsOf(content: unknown): unknown[] {
	return [content].flat().filter((part) => part !== undefined && part !== null);
}

export const isTextPart = (part: unknown): boolean => textIn(part) !== undefined;

function textIn(part: unknown): string | undefined {
	const text = isObject(part) ? part.text : part;
	return typeof text === 'string' ? text : undefined;
}

/** The text of a message; empty when it has none. */
export function textOf({ content }: JsonObject): string {
	if (typeof content === 'string') return content;
	return partsOf(content)
		.map((part) => textIn(part) ?? '')
		.join('');
}

/** The words with which a model refuses to answer; empty when it does not. */
export function refusalOf({ content, refusal }: JsonObject): string {
	if (typeof refusal === 'string' && refusal !== '') return refusal;
	const refusals = partsOf(content).map((part) => valueAt(part, 'refusal'));
	return refusals.filter((words) => typeof words === 'string').join('');
}

/** The text for a person: the answer, or the words with which the model refuses to give one. */
export function textToShow(message: JsonObject): string {
	const text = textOf(message);
	return text.trim() === '' ? refusalOf(message) || text : text;
}

/** What a message has besides its text, under the service's own names. */
export function otherContentOf(message: JsonObject): JsonObject {
	const { content, tool_calls, function_call, images, audio } = message;
	return withoutUndefined({
		// A part such as an image or a tool call has no text.
		content: partsOf(content).every(isTextPart) ? undefined : content,
		...{ tool_calls, function_call, images, audio },
		refusal: refusalOf(message) || undefined,
	});
}
