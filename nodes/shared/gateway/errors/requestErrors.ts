import { beginningOf, excerpt, isObject, parseResponse, valueAt, withoutUndefined } from '../json';
import { maxRecordedLength } from '../protocol/bounds';
import { knownOrder, meaningOf, type RefusalKind } from '../protocol/errorCodes';
import { reasonIn, requestIdOf, type ErrorObject } from '../reader/reason';
import { GatewayError, type Failure, type Reach, type UnknownOutcome } from './gatewayError';
import { readNetworkError, type AddressProblem } from './networkError';
import { blamedModel, type OtherModel } from './otherModel';
import { refusalOf, type RefusedRequest } from './refusal';
import { isWebPage, readReason } from '../reader/page';

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
	const { isUnsent, isTimeout, problem, texts, address } = readNetworkError(cause);
	const reach = isUnsent ? 'unsent' : 'lost';
	// Some HTTP clients advise a retry, without knowing that it may cost money.
	const own = texts.filter((text) => !/\bretry\b/i.test(text)).join(', ');
	const detail = excerpt(redaction.text(own));
	const { purpose, host, url } = request;
	const proxy = address !== undefined && !isAddressOf(address, url) ? address : undefined;
	const from = host === undefined ? '' : ` from ${host}`;
	const lost = isTimeout
		? `no response arrived${from} within the time limit`
		: `the connection was lost before the response arrived${from}`;
	const target = proxy === undefined ? (host ?? 'the gateway') : `the proxy ${proxy}`;
	const whatHappened = isUnsent ? `${target} could not be reached` : lost;
	const addressProblem =
		host !== undefined && problem && !proxy && addressProblemTexts[problem](host);
	return new GatewayError({
		message: `Could not ${purpose}: ${addressProblem || whatHappened}${host ? ` (${detail})` : ''}`,
		...{ reach, status: 0 },
		network: { detail, isTimeout, ...withoutUndefined({ host, problem, proxy }) },
		...chargeOf(request, { reach }),
		retry_can_help: isUnsent || isSafeToRepeat(request),
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
	return new GatewayError({
		message: `Could not ${request.purpose}: the gateway redirects to ${excerpt(location)}`,
		...{ reach, status },
		...(why === 'carriesKey' ? { linkCarriesKey: true } : { redirect: why }),
		...chargeOf(request, { reach }),
		retry_can_help: false,
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
	const said = reasonIn(body);
	const error = said ?? { message: readReason(text, headers) };
	const isService = isFromService(body, said);
	const reach: Reach = !isService && (status >= 500 || status === 408) ? 'proxied' : 'answered';
	const { refusal, meaning, isTransient } = meaningFor(request, response, error, isService);
	const charge = chargeOf(request, { reach, refusal });
	// What may have been accepted is recorded as an order, so a retry does not send it again.
	const canRetry =
		charge.billed === 'no'
			? isTransient
			: isSafeToRepeat({ ...request, resendsLost: request.resendsLost ?? false });
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
		...charge,
		retry_can_help: canRetry,
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
	if (isKnown) return { ...refusal, ...knownOrder, isTransient: true };
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
	return isKnown || (isObject(error) && reasonIn({ error }) !== undefined);
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
			error: reasonIn({ error }),
		}),
		...withoutUndefined({ refusal }),
		...chargeOf(request, { reach: 'unreadable' }),
		retry_can_help: request.cost === 'read' || request.idempotencyKey !== undefined,
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

/** Whether the same request makes nothing twice when its first response was lost. */
function isSafeToRepeat({ cost, resendsLost, idempotencyKey }: RequestInfo): boolean {
	return cost === 'read' || idempotencyKey !== undefined || (resendsLost ?? cost !== 'job');
}

/**
 * Whether the failed request may have been accepted and charged ("Errors", status 0, and "What the service does",
 * billing rules). A call without a response is not charged, but the job it creates may be running. What a proxy did
 * with a request before it responded by itself is unknown.
 */
function chargeOf(
	{ cost, resendsLost = false, idempotencyKey }: RequestInfo,
	{ reach, refusal }: Pick<Failure, 'reach' | 'refusal'>,
): Pick<Failure, 'cost' | 'billed' | 'mayBeAccepted' | 'idempotencyKey'> {
	const isJob = cost === 'job';
	const isUndelivered = isJob && refusal === 'responseNotDelivered';
	const isUnknown =
		cost !== 'read' &&
		((reach === 'lost' && isJob) ||
			reach === 'proxied' ||
			reach === 'unreadable' ||
			isUndelivered ||
			refusal === 'knownOrder');
	if (!isUnknown) return { cost, billed: 'no' };
	// After an unreadable response, the order is not sent again, whatever the user wants.
	const isUnbilled = isJob && reach !== 'unreadable';
	const outcome: UnknownOutcome = { isUnbilled, isResent: resendsLost && isUnbilled };
	return {
		...{ cost, billed: 'unknown' },
		...(refusal !== 'knownOrder' && { mayBeAccepted: outcome }),
		...(idempotencyKey !== undefined && { idempotencyKey }),
	};
}
