import { beginningOf, excerpt, isObject, parseResponse, valueAt, withoutUndefined } from '../json';
import { maxRecordedLength } from '../protocol/bounds';
import { knownOrder, meaningOf, type RefusalKind } from '../protocol/errorCodes';
import { isWebPage, readReason } from '../reader/page';
import { reasonIn, requestIdOf, type ErrorObject } from '../reader/reason';
import { read } from '../reader/values';
import { GatewayError, type Failure, type Reach, type UnknownOutcome } from './gatewayError';
import { readNetworkError, type AddressProblem } from './networkError';
import { blamedModel, type OtherModel } from './otherModel';
import { refusalOf, type RefusedRequest } from './refusal';
import { verdictOf, type FailedRequest } from './verdict';

/** What the errors about a request need to know about it. */
export interface RequestInfo extends RefusedRequest {
	/** Continues "Could not …". */
	purpose: string;
	/** Whether the user wants it sent again when the response was lost; undefined: as the cost of the request says. */
	resendsLost?: boolean;
	/** The idempotency key of the order: sent again with it, the same order creates no second job. */
	idempotencyKey?: string;
	/** The requested model, if it is known to belong to another endpoint. */
	otherModel?: OtherModel;
	/** The host of a requested file. Failures name it, and quote the network's error in their message. */
	host?: string;
	/** Set when nothing of the response may be shown. */
	hidesResponse?: boolean;
	/** The address that was requested. A connection that was refused by another one is that of a proxy. */
	url?: string;
}

/** A response whose body has been read. */
interface FailedResponse {
	status: number;
	headers: Record<string, string>;
	/** The body as text, as much of it as arrived. */
	text: string;
	/** The body, if it has been parsed, which takes long for a large one; undefined when it is not JSON. */
	json?: unknown;
}

const bodyOf = (response: FailedResponse): unknown =>
	'json' in response ? response.json : parseResponse(response.text);

/** The whole body; of a very long one, the beginning and the length. */
export const truncateBody = (text: string) =>
	text.length > maxRecordedLength
		? `${beginningOf(text, maxRecordedLength)}… (cut: the first ${maxRecordedLength} of ${text.length} characters)`
		: text;

/**
 * A request without a response.
 * @param cause the network's own error, possibly wrapped
 * @param redaction for the network's error, which may quote the headers of the request
 */
export function noResponse(
	request: RequestInfo,
	cause: unknown,
	redaction: { text(text: string): string },
): GatewayError {
	const { isUnsent, isTimeout, isGarbled, problem, texts, address } = readNetworkError(cause);
	const reach = isUnsent ? 'unsent' : isGarbled ? 'unreadable' : 'lost';
	// Some HTTP clients advise a retry, without knowing that it may cost money.
	const own = texts.filter((text) => !/\bretry\b/i.test(text)).join(', ');
	const detail = excerpt(redaction.text(own));
	const { purpose, host, url } = request;
	const proxy = address !== undefined && !isAddressOf(address, url) ? address : undefined;
	const from = host === undefined ? '' : ` from ${host}`;
	const lost = isTimeout
		? `no response arrived${from} within the time limit`
		: isGarbled
			? `the response${from} is not valid HTTP`
			: `the connection was lost before the response arrived${from}`;
	const target = proxy === undefined ? (host ?? 'the gateway') : `the proxy ${proxy}`;
	const whatHappened = isUnsent ? `${target} could not be reached` : lost;
	const addressProblem =
		host !== undefined && problem && !proxy && addressProblemTexts[problem](host);
	return new GatewayError({
		message: `Could not ${purpose}: ${addressProblem || whatHappened}${host ? ` (${detail})` : ''}`,
		...{ reach, status: 0 },
		network: { detail, isTimeout, ...withoutUndefined({ host, problem, proxy }) },
		...judged(request, { reach, status: 0 }),
	});
}

/** Whether a connection to this address was one to the host of the URL: a name may resolve to any IP address. */
function isAddressOf(address: string, url?: string): boolean {
	if (url === undefined || !URL.canParse(url)) return true;
	const { port, protocol } = new URL(url);
	return address.endsWith(`:${port || (protocol === 'http:' ? '80' : '443')}`);
}

const addressProblemTexts: Record<AddressProblem, (host: string) => string> = {
	notFound: (host) => `the host ${host} is not found`,
	refused: (host) => `${host} refuses the connection`,
	blocked: (host) => `n8n's SSRF protection blocks ${host}`,
	notTls: (host) => `${host} does not speak https`,
	badCertificate: (host) => `the TLS certificate of ${host} is not accepted`,
};

/** The gateway, or a proxy, put the key into the link of a file. */
export function linkCarriesKey({ purpose }: Pick<RequestInfo, 'purpose'>): GatewayError {
	return new GatewayError({
		message: `Could not ${purpose}: its link carries the API key`,
		...{ reach: 'unreadable', status: 0, billed: 'no', retry_can_help: false },
		linkCarriesKey: true,
	});
}

/** The link of a file, or a redirect from it, leads where the gateway could not reach. Nothing was sent there. */
export function linkLeadsInside(
	{ purpose }: Pick<RequestInfo, 'purpose'>,
	host: string,
): GatewayError {
	return new GatewayError({
		message: `Could not ${purpose}: its link leads to an address inside your network (${host})`,
		...{ reach: 'none', status: 0, billed: 'no', retry_can_help: false },
		linkLeadsInside: true,
	});
}

/** A redirect that is not followed. @param location the target, without the key */
export function redirected(
	request: RequestInfo,
	{ status, location }: { status: number; location: string },
	why: NonNullable<Failure['redirect']> | 'carriesKey',
): GatewayError {
	// With 303, a server sends the client to the result of what it has done (RFC 9110, 15.4.4); old ones use 301 and 302.
	const reach = request.cost !== 'read' && status <= 303 ? 'proxied' : 'answered';
	const said = why === 'carriesKey' ? ({ linkCarriesKey: true } as const) : { redirect: why };
	return new GatewayError({
		message: `Could not ${request.purpose}: the gateway redirects to ${excerpt(location)}`,
		...{ reach, status },
		...said,
		...judged(request, { reach, status, ...said }),
	});
}

/** A request that was held back for too long, and not sent. @param holder what held it back */
export function heldBack(purpose: string, holder: string): GatewayError {
	return new GatewayError({
		message: `Could not ${purpose}: ${holder} held the request back for too long`,
		...{ reach: 'none', status: 0, billed: 'no', retry_can_help: true, isHeldBack: true },
	});
}

/**
 * A response that is not a 2xx, or carries an error ("Errors", both tables and the codes).
 * @param retryAfter milliseconds the service asked to wait
 */
export function refused(
	request: RequestInfo,
	response: FailedResponse,
	retryAfter?: number,
): GatewayError {
	const { status, headers, text } = response;
	const body = bodyOf(response);
	const said = reasonIn(read(body));
	const error = said ?? { message: readReason(text, headers) };
	const isService = isFromService(body, said);
	const reach: Reach = !isService && (status >= 500 || status === 408) ? 'proxied' : 'answered';
	const { refusal, meaning } = meaningFor(request, response, error, isService);
	const blamed = blamedModel(request.otherModel, status, error);
	const noReason = request.hidesResponse ? responseHidden : 'the response gives no reason';
	const serviceMessage = error.message ?? (said ? meaning : `${meaning}; ${noReason}`);
	const reason = blamed
		? `${blamed.id} is a model of another kind; the service said: ${serviceMessage}`
		: serviceMessage;
	return new GatewayError({
		message: `Could not ${request.purpose}: ${excerpt(reason)} (${[`HTTP ${status}`, said?.code].filter(Boolean).join(', ')})`,
		reach,
		...responseFields(response, { body, error: said }),
		...withoutUndefined({ refusal, otherModel: blamed, retryAfter }),
		...(!isService && { isPage: true }),
		...judged(request, { reach, status, refusal, ...said }),
	});
}

/** Said in place of a response that may not be shown. */
export const responseHidden =
	'the response is not shown, because it comes from inside your network';

/** Why the response refuses the request. */
function meaningFor(
	request: RequestInfo,
	{ status, headers, text }: FailedResponse,
	error: ErrorObject,
	isService: boolean,
): ReturnType<typeof refusalOf> {
	const refusal = refusalOf(status, error, request);
	// The 409 says that an earlier try arrived, but not how it ended.
	const isKnown = status === 409 && request.idempotencyKey !== undefined && !meaningOf(error);
	if (isKnown) return knownOrder;
	const { 'www-authenticate': challenge = '', 'proxy-authenticate': ofProxy = '' } = headers;
	const isOfProxy = /^(basic|digest|ntlm|negotiate)\b/i.test(challenge) || ofProxy !== '';
	const wantsLogin = (status === 401 && isOfProxy && !isService) || status === 407;
	if (wantsLogin) return { ...refusal, refusal: 'proxyLogin' };
	const isRefusedByProxy = status === 403 && !isService && isWebPage({ headers, text });
	return isRefusedByProxy ? { ...refusal, refusal: 'proxyRefusal' } : refusal;
}

/** Whether the response is the service's own: it has the error object, or a code of the service. */
function isFromService(body: unknown, said: ErrorObject = {}): boolean {
	const error = valueAt(body, 'error');
	const isKnown = meaningOf(said) !== undefined;
	return isKnown || (isObject(error) && reasonIn(read({ error })) !== undefined);
}

/**
 * A 2xx with an unusable body: truncated, empty, a web page, not JSON, or without the fields needed.
 * @param problem continues "the response …"
 * @param details the text that arrived before the response broke off, the error object with which it broke off, and
 * why the service withheld the rest
 */
export function unreadable(
	request: RequestInfo,
	response: FailedResponse,
	problem: string,
	{
		partialText = '',
		error,
		refusal,
	}: { partialText?: string; error?: unknown; refusal?: RefusalKind } = {},
): GatewayError {
	const { status } = response;
	return new GatewayError({
		message: `Could not ${request.purpose}: the response ${excerpt(problem, 1000)} (HTTP ${status})`,
		reach: 'unreadable',
		...responseFields(response, {
			body: bodyOf(response),
			error: reasonIn(read({ error })),
		}),
		...withoutUndefined({ refusal }),
		...judged(request, { reach: 'unreadable', status }),
		...(partialText !== '' && { partial_text: partialText }),
	});
}

/** The fields of a failure that come from the response. */
function responseFields(
	{ status, headers, text }: FailedResponse,
	{ body, error = {} }: { body: unknown; error?: ErrorObject },
) {
	const { code, type, param } = error;
	const request_id = requestIdOf(headers, body);
	return {
		status,
		...withoutUndefined({ code, type, param, request_id }),
		raw_body: truncateBody(text),
	};
}

/** What the failure means for the order, and for sending it again. */
function judged(
	request: RequestInfo,
	failure: FailedRequest,
): Pick<Failure, 'cost' | 'billed' | 'retry_can_help' | 'mayBeAccepted' | 'idempotencyKey'> {
	const { cost, resendsLost = false, idempotencyKey } = request;
	const { charged, helps } = verdictOf(failure, request);
	const verdict = { cost, billed: charged, retry_can_help: helps };
	if (charged === 'no') return verdict;
	// After an unreadable response, the order is not sent again, whatever the user wants.
	const isUnbilled = cost === 'job' && failure.reach !== 'unreadable';
	const outcome: UnknownOutcome = { isUnbilled, isResent: resendsLost && isUnbilled };
	return {
		...verdict,
		...(failure.refusal !== 'knownOrder' && { mayBeAccepted: outcome }),
		...(idempotencyKey !== undefined && { idempotencyKey }),
	};
}
