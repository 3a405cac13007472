import { asText, excerpt, isObject, withoutUndefined, type JsonObject } from '../json';
import type { RefusalKind } from '../protocol/errorCodes';
import type { RawResponse } from './exchange';
import { Redaction } from './redaction';

/** A response that is no refusal: a 2xx, or a redirect that was not followed. */
export interface ServiceResponse extends RawResponse {
	/** Undefined when the body is not JSON. */
	json: unknown;
	requestId?: string;
	/** Whether it held the key, in whose place there are asterisks now. */
	isRedacted?: boolean;
}

/** Whether a link of a response carried the key: what is left of it leads nowhere. */
export function carriedKey(link: string, { isRedacted = false }: ServiceResponse): boolean {
	return isRedacted && Redaction.isMasked(link);
}

/** Thrown by parsers; the problem continues "the answer …". */
export class UnusableResponse extends Error {
	constructor(
		problem: string,
		/** The part of a text that arrived before it broke off. */
		readonly partialText?: string,
		/** The error object that the service put into a 2xx response. */
		readonly error?: unknown,
		/** Why the service withheld what was asked for, where the response says so. */
		readonly refusal?: RefusalKind,
	) {
		super(problem);
	}
}

/** The response is about another job than the one that was asked about, and so is an error in it. */
export class OtherJobResponse extends UnusableResponse {}

/** The fields of a response as they came, with the request id from the headers where the body has none. */
export interface ResponseFields extends JsonObject {
	request_id?: string;
}

/** @throws UnusableResponse when the body is not a JSON object */
export function bodyFields(response: ServiceResponse): ResponseFields {
	const { json, requestId } = response;
	if (!isObject(json)) throw new UnusableResponse(describeBody(response));
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
