import { asText, withoutUndefined, excerpt, isObject, type JsonObject } from '../json';
import type { RawResponse } from './exchange';

/** An answer with a good status. */
export interface ServiceResponse extends RawResponse {
	/** Undefined when the body is not JSON. */
	json: unknown;
	requestId?: string;
}

/** Thrown by parsers: the problem continues "the answer …". */
export class UnusableResponse extends Error {
	constructor(
		problem: string,
		/** What can be kept of a text that broke off. */
		readonly partialText?: string,
		/** The error object that the service put into a good answer. */
		readonly error?: unknown,
	) {
		super(problem);
	}
}

/** The fields of an answer as they came, with the request id of the head where the body has none. */
export interface ResponseFields extends JsonObject {
	request_id?: string;
}

/** @throws Unusable when the body is no JSON object */
export function bodyFields(answer: ServiceResponse): ResponseFields {
	const { json, requestId } = answer;
	if (!isObject(json)) throw new UnusableResponse(describeBody(answer));
	return { ...json, ...withoutUndefined({ request_id: asText(json.request_id) ?? requestId }) };
}

/** What is wrong with a body that should have been JSON; continues "the answer …". */
export function describeBody({ text, headers, json, broken }: ServiceResponse): string {
	if (broken !== undefined) return `broke off: ${broken}`;
	if (text.trim() === '') return 'is empty';
	if (json !== undefined) return `has an unexpected form: ${excerpt(text, 120)}`;
	return isWebPage({ text, headers })
		? 'is a web page instead of JSON'
		: `is not JSON: ${excerpt(text, 120)}`;
}

export function isWebPage({ text, headers }: Pick<ServiceResponse, 'text' | 'headers'>): boolean {
	return /html/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(text);
}
