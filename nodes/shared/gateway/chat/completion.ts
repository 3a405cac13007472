import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ServiceResponse,
} from '../client/response';
import { asIndex, isObject, type JsonObject } from '../json';

/** One choice of a chat completion ("Resources"), with the fields we use. */
export interface Choice extends JsonObject {
	index: number;
	message: JsonObject & { content?: unknown };
	finish_reason?: string;
}

export interface Completion extends JsonObject {
	choices: Choice[];
}

/** @throws UnusableResponse when it has no choices */
export function completion(response: ServiceResponse): Completion {
	const { json } = response;
	if (!isObject(json) || !Array.isArray(json.choices))
		throw new UnusableResponse(describeBody(response));
	const choices = json.choices.filter(isObject).map((choice, position) => ({
		...choice,
		index: asIndex(choice.index) ?? position,
		message: isObject(choice.message) ? choice.message : { content: choice.text ?? null },
	}));
	if (choices.length === 0) throw new UnusableResponse('has no choices');
	return { ...withRequestIds(json, response), choices: choices as Choice[] };
}

/** The text of a message, whether its content is a text or a list of parts ("Resources", message). */
export function textOf({ content }: Choice['message']): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content
		.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
		.join('');
}
