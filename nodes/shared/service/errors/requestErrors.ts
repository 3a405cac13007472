import { beginningOf, excerpt, isObject, parseResponse, valueAt, withoutUndefined } from '../json';
import { parseUrl } from '../links';
import { maxRecordedLength } from '../protocol/bounds';
import { deniedBy, refusalOfCode, refusals, type RefusalKind } from '../protocol/errorCodes';
import { isWebPage, readReason } from '../reader/page';
import { hasError, reasonIn, requestIdOf, type ErrorObject } from '../reader/reason';
import { read } from '../reader/values';
import { GatewayError, type Failure, type FailureKind, type Reach } from './gatewayError';
import { addressProblems, readNetworkError } from './networkError';
import { isModelBlamed, jobNamedIn, refusalOf, refusesModel } from './refusal';
import { verdictOf, type FailedRequest, type SentRequest } from './verdict';

export interface RequestInfo extends SentRequest {
	/** Continues "Could not …". */
	purpose: string;
	/** The requested model, if it is known to belong to another endpoint. */
	otherModel?: Failure['otherModel'];
	/** Whether a file is requested, whose host is not the service: its refusals are about the link. */
	isFile?: true;
	host?: string;
	hidesResponse?: boolean;
	/** If another address refused the connection, that is a proxy's. */
	url?: string;
}

interface FailedResponse {
	status: number;
	headers: Record<string, string>;
	/** As much of the body as arrived. */
	text: string;
	/** Set if the body has been parsed, which takes long for a large one; undefined then when it is not JSON. */
	json?: unknown;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
}

const bodyOf = (response: FailedResponse): unknown =>
	'json' in response ? response.json : parseResponse(response.text);

/** The whole body; of a very long one, the beginning and the length. */
export const truncateBody = (text: string) =>
	text.length > maxRecordedLength
		? `${beginningOf(text, maxRecordedLength)}… (cut: the first ${maxRecordedLength} of ${text.length} characters)`
		: text;

/** @param whatHappened continues "Could not …: " */
function failed(
	request: RequestInfo,
	whatHappened: string,
	facts: FailedRequest & Partial<Failure>,
): GatewayError {
	const { purpose, cost, idempotencyKey } = request;
	const { charged, helps } = verdictOf(facts, request);
	return new GatewayError({
		message: `Could not ${purpose}: ${whatHappened}`,
		...facts,
		cost,
		billed: charged,
		retry_can_help: helps,
		...(charged !== 'no' && withoutUndefined({ idempotencyKey })),
	});
}

/** @param cause the network's own error, possibly wrapped, which may quote the headers of the request */
export function noResponse(
	request: RequestInfo,
	cause: unknown,
	redaction: { text(text: string): string },
): GatewayError {
	const { reach, kind: said, text, address } = readNetworkError(cause);
	const { host, url } = request;
	const proxy = address !== undefined && !isAddressOf(address, url) ? address : undefined;
	const kind: FailureKind | undefined = proxy === undefined ? said : 'deadProxy';
	const network = text && ` (${excerpt(redaction.text(text))})`;
	const target = proxy === undefined ? (host ?? 'the gateway') : `the proxy ${proxy}`;
	const problem = kind && problems[kind];
	const unreached = `${target} could not be reached${problem ? `: ${problem}` : ''}`;
	const whatHappened = reach === 'unsent' ? unreached : lostBy(kind, host);
	const facts = { reach, status: 0, ...withoutUndefined({ kind, host }) };
	return failed(request, whatHappened + network, facts);
}

const problems: Partial<Record<FailureKind, string>> = addressProblems;

/** Whether this address may be that of the URL: a name may resolve to any IP address, so only the port tells. */
function isAddressOf(address: string, url?: string): boolean {
	const parsed = parseUrl(url ?? '');
	if (!parsed) return true;
	const { port, protocol } = parsed;
	return address.endsWith(`:${port || (protocol === 'http:' ? '80' : '443')}`);
}

function lostBy(kind?: FailureKind, host?: string): string {
	const from = host === undefined ? '' : ` from ${host}`;
	if (kind === 'timeout') return `no response arrived${from} within the time limit`;
	return kind === 'garbled'
		? `the response${from} is not valid HTTP`
		: `the connection was lost before the response arrived${from}`;
}

/** The gateway, or a proxy, put the key into the link of a file, which is made and charged. */
export const linkCarriesKey = (purpose: string): GatewayError =>
	new GatewayError({
		message: `Could not ${purpose}: its link carries the API key`,
		reach: 'unreadable',
		kind: 'linkCarriesKey',
		billed: 'yes',
	});

/** A redirect that is not followed. @param location the target, without the key */
export function redirected(
	request: RequestInfo,
	{ status, location }: { status: number; location: string },
	kind: 'foreignRedirect' | 'uselessRedirect' | 'linkCarriesKey',
): GatewayError {
	// With 303, a server sends the client to the result of what it has done (RFC 9110, 15.4.4); old ones use 301 and 302.
	const reach = request.cost !== 'read' && status <= 303 ? 'proxied' : 'answered';
	const whatHappened = `the gateway redirects to ${excerpt(location)}`;
	return failed(request, whatHappened, { reach, kind, status });
}

/** A request that was not sent. @param holder what held it back */
export const heldBack = (purpose: string, holder: string): GatewayError =>
	new GatewayError({
		message: `Could not ${purpose}: ${holder} held the request back for too long`,
		kind: 'heldBack',
		retry_can_help: true,
	});

/** A response that is not a 2xx, or carries an error ("Errors", both tables and the codes). */
export function refused(request: RequestInfo, response: FailedResponse): GatewayError {
	const { status, headers, text, retryAfter } = response;
	const body = bodyOf(response);
	const said = reasonIn(read(body));
	const isService = isFromService(body, said);
	const error = said ?? (isService ? {} : { message: readReason(text, headers) });
	const reach: Reach = !isService && (status >= 500 || status === 408) ? 'proxied' : 'answered';
	const kind = kindOf(request, response, error, isService);
	const { meaning } = refusals[kind];
	const isOfService = isService && !request.isFile;
	const denies = isOfService ? deniedBy(kind, status) : undefined;
	const isOfModel = isOfService && refusesModel(kind, error, { cost: request.cost, status });
	const { otherModel: model } = request;
	const otherModel = model && isModelBlamed(model, kind, error) ? model : undefined;
	const noReason = request.hidesResponse ? responseHidden : 'the response gives no reason';
	const serviceMessage = error.message ?? (said ? meaning : `${meaning}; ${noReason}`);
	const reason = otherModel
		? `${otherModel.id} is a model of another kind; the service said: ${serviceMessage}`
		: serviceMessage;
	const code = said?.code === undefined ? '' : `, ${said.code}`;
	const isOfJob = kind === 'timedOut' && request.cost === 'job';
	const job = isOfJob ? jobNamedIn(text, request) : undefined;
	return failed(request, `${excerpt(reason)} (HTTP ${status}${code})`, {
		reach,
		kind,
		...responseFields(response, body, said),
		...withoutUndefined({ otherModel, retryAfter, denies, job }),
		...(isOfModel && { refusesModel: true as const }),
	});
}

export const responseHidden =
	'the response is not shown, because it comes from inside your network';

function kindOf(
	request: RequestInfo,
	response: FailedResponse,
	error: ErrorObject,
	isService: boolean,
): RefusalKind {
	const { status } = response;
	if (request.isFile) return linkRefusal(status);
	// The 409 says that an earlier try arrived, but not how it ended.
	const isKnown = status === 409 && request.idempotencyKey !== undefined && !refusalOfCode(error);
	if (isKnown) return 'knownOrder';
	if (status === 407 || (!isService && isFromProxy(response))) return 'proxy';
	return refusalOf(status, error, request, response.text);
}

/** A storage host is not the service, so its error codes say nothing. */
function linkRefusal(status: number): RefusalKind {
	if (status === 429) return 'tooManyRequests';
	if (status === 410) return 'gone';
	return status >= 500 || status === 408 ? 'serverError' : 'notFound';
}

/** Whether a proxy before the service refuses the request, or asks for a login of its own. */
function isFromProxy({ status, headers, text }: FailedResponse): boolean {
	const { 'www-authenticate': challenge = '', 'proxy-authenticate': ofProxy = '' } = headers;
	const wantsLogin = /^(basic|digest|ntlm|negotiate)\b/i.test(challenge) || ofProxy !== '';
	return status === 401 ? wantsLogin : status === 403 && isWebPage({ headers, text });
}

/** Whether the response has an error object that says something, or a code of the service. A proxy's has neither. */
function isFromService(body: unknown, said: ErrorObject = {}): boolean {
	const error = valueAt(body, 'error');
	const isKnown = refusalOfCode(said) !== undefined;
	return isKnown || (isObject(error) && hasError(read({ error })));
}

/**
 * A 2xx with an unusable body: truncated, empty, a web page, not JSON, or without the fields needed.
 * @param problem continues "the response …"
 * @param details the text before the response broke off, the error object with which it did, and what is wrong with it
 */
export function unreadable(
	request: RequestInfo,
	response: FailedResponse,
	problem: string,
	{
		partialText = '',
		error,
		kind = 'unreadable',
	}: { partialText?: string; error?: unknown; kind?: FailureKind } = {},
): GatewayError {
	const whatHappened = `the response ${excerpt(problem, 1000)} (HTTP ${response.status})`;
	return failed(request, whatHappened, {
		reach: 'unreadable',
		kind,
		...responseFields(response, bodyOf(response), reasonIn(read({ error }))),
		...(partialText !== '' && { partial_text: partialText }),
	});
}

function responseFields(
	{ status, headers, text }: FailedResponse,
	body: unknown,
	{ code, type, param }: ErrorObject = {},
) {
	const request_id = requestIdOf(headers, body);
	return {
		status,
		raw_body: truncateBody(text),
		...withoutUndefined({ code, type, param, request_id }),
	};
}
