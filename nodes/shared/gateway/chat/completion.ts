import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { isObject, asIndex, type JsonObject } from '../json';

/** "Resources", chat completion: one of its choices, in the fields we use. */
export interface Choice extends JsonObject {
	index: number;
	message: JsonObject & { content?: unknown };
	finish_reason?: string;
}

export interface Completion extends JsonObject {
	choices: Choice[];
}

/** @throws Unusable when there is no choice in it */
export function completion(answer: ServiceResponse): Completion {
	const { json } = answer;
	if (!isObject(json) || !Array.isArray(json.choices))
		throw new UnusableResponse(describeBody(answer));
	const choices = json.choices.filter(isObject).map((choice, position) => ({
		...choice,
		index: asIndex(choice.index) ?? position,
		message: isObject(choice.message) ? choice.message : { content: choice.text ?? null },
	}));
	if (choices.length === 0) throw new UnusableResponse('has no choices');
	const withId = answer.requestId === undefined ? {} : { request_id: answer.requestId };
	return { ...json, ...withId, choices: choices as Choice[] };
}

/** The text of a message, whichever form its content has ("Resources", message). */
export function textOf({ content }: Choice['message']): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content
		.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
		.join('');
}
