import type { GatewayError } from '../errors/gatewayError';
import { asText, excerpt, isObject, withoutUndefined, type JsonObject } from '../json';
import type { RefusalKind } from '../protocol/errorCodes';
import { isWebPage } from '../reader/page';
import { requestIdOf } from '../reader/reason';
import { Redaction } from './redaction';

/** A response, or as much of it as arrived. */
export interface RawResponse {
	status: number;
	headers: Record<string, string>;
	text: string;
	/** The address that responded, after redirects. */
	url: string;
	/** Why the body ended early. */
	broken?: string;
	/** Why n8n could not read it to its end. Continues "the response …". */
	excess?: string;
	/** The target of a redirect to a file. */
	location?: string;
	/** A redirect that was not followed. It is an error unless the body has what was requested. */
	redirect?: GatewayError;
	/** The body is a file and was left unread. */
	isFile?: boolean;
}

/** A response that is no refusal: a 2xx, or a redirect that was not followed. */
export interface ServiceResponse extends RawResponse {
	/** Undefined when the body is not JSON. */
	json: unknown;
	requestId?: string;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
	/** Whether it contained the key, which asterisks now replace. */
	isRedacted?: boolean;
}

/** Whether a link carried the key, which is redacted, so that it leads nowhere. */
export const linkCarriedKey = (
	link: string,
	{ isRedacted = false }: Pick<ServiceResponse, 'isRedacted'>,
): boolean => isRedacted && Redaction.isMasked(link);

/** Thrown by parsers; the problem continues "the response …". */
export class UnusableResponse extends Error {
	constructor(
		problem: string,
		readonly more: {
			/** The part of a text that arrived before it broke off. */
			partialText?: string;
			/** The part of a streamed answer that arrived, in the form of a whole one. */
			partialAnswer?: JsonObject;
			/** The error object that the service put into a 2xx response. */
			error?: unknown;
			/** Why the service withheld the result, if the response says so. */
			refusal?: RefusalKind;
		} = {},
	) {
		super(problem);
	}
}

/** The response, with any error in it, is about another job than the requested one. */
export class OtherJobResponse extends UnusableResponse {}

export interface ResponseFields extends JsonObject {
	request_id?: string;
	/** The request id from the headers, when the body has another one. */
	http_request_id?: string;
}

/** @throws UnusableResponse when the body is not a JSON object */
export function bodyFields(response: ServiceResponse): ResponseFields {
	const { json } = response;
	// A list of one is that one.
	const fields: unknown = Array.isArray(json) && json.length === 1 ? json[0] : json;
	if (!isObject(fields)) throw new UnusableResponse(describeBody(response));
	return withRequestIds(fields, response);
}

export function withRequestIds(
	fields: JsonObject,
	{ headers, requestId }: Pick<ServiceResponse, 'headers' | 'requestId'>,
): ResponseFields {
	const own = asText(fields.request_id);
	const fromHeader = requestIdOf(headers);
	const http_request_id = own !== undefined && fromHeader !== own ? fromHeader : undefined;
	return {
		...withoutUndefined({ http_request_id }),
		...fields,
		...withoutUndefined({ request_id: own ?? requestId ?? fromHeader }),
	};
}

/** For an output that has only some of the fields. */
export const requestIdsOf = ({ request_id, http_request_id }: JsonObject): JsonObject =>
	withoutUndefined({ request_id, http_request_id });

/**
 * The fields of a response, with some that a node sets itself, or removes with `undefined`. The values they displace are
 * kept as `service_…`.
 */
export function withOwnFields(fields: JsonObject, own: JsonObject): JsonObject {
	const displaced = Object.entries(own).flatMap(([name, value]) => {
		const given = Object.hasOwn(fields, name) ? fields[name] : undefined;
		const isKept = isObject(given) || Array.isArray(given) || asText(given) !== asText(value);
		return isKept && (given ?? '') !== '' ? [[`service_${name}`, given] as const] : [];
	});
	return withoutUndefined({ ...Object.fromEntries(displaced), ...fields, ...own });
}

/** The problem with a body that should have been JSON; continues "the response …". */
export function describeBody({ text, headers, json, broken, excess }: ServiceResponse): string {
	if (excess !== undefined) return excess;
	if (broken !== undefined) return `broke off: ${broken}`;
	if (text.trim() === '') return 'is empty';
	if (json !== undefined) return `has an unexpected form: ${excerpt(text, 120)}`;
	return isWebPage({ text, headers })
		? 'is a web page instead of JSON'
		: `is not JSON: ${excerpt(text, 120)}`;
}
