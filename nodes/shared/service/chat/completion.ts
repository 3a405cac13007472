import {
	bodyFields,
	describeBody,
	UnusableResponse,
	type ServiceResponse,
} from '../client/response';
import {
	asIndex,
	asText,
	excerpt,
	isObject,
	jsonTextOf,
	textAt,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { maxChoices } from '../protocol/bounds';
import { hasError, reasonIn } from '../reader/reason';
import { mayBeAccepted } from '../reader/refusal';
import { named, read } from '../reader/values';
import { words } from '../words';
import { isEmpty } from './fragments';
import { contentIn, messageIn, refusalTextOf, textOf, type Message } from './message';

/** One choice of a chat completion ("Resources"), with the fields we use. */
export interface Choice extends JsonObject {
	index: number;
	message: Message;
	/** In the service's word; null while it goes on. */
	finish_reason?: string | null;
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

/** As {@link completion}, but with the errors that are in it. */
export function anyCompletion(response: ServiceResponse): Completion {
	const fields = bodyFields(response);
	const whole = completionIn(fields);
	if (whole === undefined)
		throw new UnusableResponse(describeBody(response), { error: errorIn(fields) });
	if (whole.choices.length === 0) {
		const why = refusalIn(fields);
		throw new UnusableResponse(why ? `has no choices: ${why}` : 'has no choices');
	}
	return whole;
}

/** The reason why something went wrong, which a response may give beside its answers. */
export function refusalIn(fields: JsonObject): string | undefined {
	const others = read({ ...fields, choices: undefined });
	return mayBeAccepted(others) ? undefined : reasonIn(others)?.message;
}

/** Other services put the whole answer there. */
const wrappers = ['output', 'data', 'result', 'response'];
/** Some of these are the text itself. */
const textNames = ['output', 'result', 'response'];

/**
 * The answers of a model as a completion, whether they have the form of the specification, one that it does not show
 * ("Endpoints" 5), or that of another service. Other fields stay as they are.
 */
export function completionIn(fields: JsonObject): Completion | undefined {
	const choices = choicesIn(fields) ?? onlyTextIn(fields);
	if (choices === undefined) return undefined;
	const places = [fields, ...wrappers.map((name) => fields[name]), ...choices];
	const usage = places.map((place) => valueAt(place, 'usage')).find(isObject);
	return { ...fields, ...withoutUndefined({ usage }), choices };
}

/** The choices of {@link completionIn}. */
export function choicesIn(fields: JsonObject): Choice[] | undefined {
	// Some services put it around the answer.
	const finish_reason = endOf(fields);
	for (const name of [undefined, ...wrappers]) {
		const part = name === undefined ? fields : fields[name];
		const answers = isObject(part) ? answersIn(part) : undefined;
		if (!answers) continue;
		const withEnd = (answer: JsonObject) =>
			finish_reason && !endOf(answer) ? { ...answer, finish_reason } : answer;
		return answers.filter(isObject).slice(0, maxChoices).map(withEnd).map(asChoice);
	}
	// The last piece of a stream may have nothing but its end.
	const isPiece = (value: unknown) =>
		['string', 'number'].includes(typeof value) && (value !== '' || finish_reason !== undefined);
	const text = textNames.map((name) => fields[name]).find(isPiece);
	return text === undefined ? undefined : [asChoice({ text, finish_reason }, 0)];
}

/** Other services put a text under these names, wherever it is. */
const isText = named(`
		content text generated_text generation output_text answer reply output result results response
		predictions data
	`);

const isEnd = named('finish_reason stop_reason done_reason');

/** The text under any usual name, unless the answer says that something went wrong. */
function onlyTextIn(fields: JsonObject): Choice[] | undefined {
	const answer = read(fields);
	const texts = answer.values.filter((value) => typeof value.value === 'string' && isText(value));
	if (texts.length === 0 || !mayBeAccepted(answer)) return undefined;
	const [first] = texts;
	// A list may be the text in pieces.
	const all = first.isEntry
		? texts.filter(({ path }) => path.join() === first.path.join())
		: [first];
	const finish_reason = answer.values.find(isEnd)?.value;
	return [asChoice({ text: all.map(({ value }) => value).join(''), finish_reason }, 0)];
}

/** The list of choices, or the part itself if it is an answer: has content, calls a tool, refuses, or has ended. */
function answersIn(part: JsonObject): unknown[] | undefined {
	const list = [part.choices, part.candidates].find(Array.isArray);
	if (list) return list;
	const message = messageIn(part);
	const finish_reason = endOf(part);
	const hasContent = contentIn(message.content) !== undefined;
	const { content } = isObject(part.message) ? message : part;
	const isEnded = content === null && finish_reason !== undefined;
	const isAnswer = hasContent || isEnded || callsTool(message) || refusalTextOf(message) !== '';
	return isAnswer ? [{ message, finish_reason }] : undefined;
}

function asChoice(given: JsonObject, position: number): Choice {
	const index = asIndex(given.index) ?? position;
	const end = withoutUndefined({ finish_reason: endOf(given) });
	return { ...given, index, message: messageIn(given), ...end };
}

const endNames = words(`
		finish_reason finishReason done_reason stop_reason stopReason incomplete_details.reason
	`);

const endOf = (answer: JsonObject) => textAt(answer, ...endNames);

const callsTool = ({ tool_calls, function_call }: JsonObject) =>
	Array.isArray(tool_calls) || isObject(function_call);

/** The error in an answer or a part of it; undefined for one that says nothing. */
function errorIn(part: unknown): unknown {
	if (!isObject(part)) return undefined;
	const { error } = part;
	if ((error ?? null) !== null && hasError(read({ error }))) return error === true ? part : error;
	// Gemini gives no answer to such a prompt.
	const blocked = textAt(part, 'promptFeedback.blockReason');
	if (blocked !== undefined) return { message: `moderation blocked the prompt (${blocked})` };
	return part.type === 'error' || part.object === 'error' ? part : undefined;
}

export function errorInChoice(choice: unknown): unknown {
	const parts = [choice, valueAt(choice, 'delta'), valueAt(choice, 'message')];
	return parts.map(errorIn).find((error) => error !== undefined);
}

/** @param error without the API key; undefined when the response does not say more */
export function brokeOffWithError(
	error: unknown,
	partialText: string,
	partialAnswer?: JsonObject,
): UnusableResponse {
	const part = { partialText, partialAnswer };
	if (error === undefined) return new UnusableResponse('broke off with an error', part);
	const message = reasonIn(read({ error }))?.message ?? excerpt(JSON.stringify(error));
	return new UnusableResponse(`broke off with an error: ${message}`, { ...part, error });
}

export function brokenAnswer(whole: Completion): UnusableResponse | undefined {
	const { choices } = whole;
	const error = [errorIn(whole), ...choices.map(errorInChoice)].find(Boolean);
	const isBroken = choices.some(({ finish_reason }) => finish_reason === 'error');
	const isWhole = error === undefined && !isBroken;
	return isWhole ? undefined : brokeOffWithError(error, generatedIn(choices));
}

/** The text of each answer, or else its reasoning, tool calls and other parts. */
export function generatedIn(choices: Choice[]): string {
	const isFrame = (name: string) => /^(?:role|id|type|object|name|error)$/.test(name);
	const texts = choices.flatMap(({ message }) => {
		const parts = Object.entries(message).flatMap(([name, value]) =>
			isFrame(name) || isEmpty(value) ? [] : (asText(value) ?? jsonTextOf(value)),
		);
		return textOf(message) || parts;
	});
	return texts.filter(Boolean).join('\n\n');
}
