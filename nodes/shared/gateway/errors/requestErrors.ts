import { excerpt, isObject, parseResponse, valueAt, withoutUndefined } from '../json';
import { knownOrder, type RefusalKind } from '../protocol/errorCodes';
import { readErrorObject, requestIdOf, type ErrorObject } from './errorObject';
import { GatewayError, type Failure, type Remedy } from './gatewayError';
import { readNetworkError, type AddressProblem } from './networkError';
import { blamedModel, type OtherModel } from './otherModel';
import { meaningOf } from './refusal';
import { verdictOn, type JudgedRequest, type Reach, type Verdict } from './verdict';

/** What the errors about a request need to know about it. */
export interface RequestInfo extends JudgedRequest {
	/** Continues "Could not …". */
	purpose: string;
	/** The requested model, if it is known to belong to another endpoint. */
	otherModel?: OtherModel;
	/** The host of a requested file. Failures name it, and quote the network's error in their message. */
	host?: string;
}

/** A response whose body has been read. */
interface FailedResponse {
	status: number;
	headers: Record<string, string>;
	/** The body as text, as much of it as arrived. */
	text: string;
}

/** Maximum number of characters of a body that a failure keeps: it is the only record of the failure ("Errors"). */
const maxBodyLength = 1_000_000;

/** The whole body; of a very long one, the beginning and the length. */
export const truncateBody = (text: string) =>
	text.length > maxBodyLength
		? `${text.slice(0, maxBodyLength)}… (cut: the first ${maxBodyLength} of ${text.length} characters)`
		: text;

/**
 * A request without a response.
 * @param cause the network's own error, possibly wrapped
 */
export function noResponse(request: RequestInfo, cause: unknown): GatewayError {
	const { isUnsent, isTimeout, problem, texts } = readNetworkError(cause);
	const reach = isUnsent ? 'unsent' : 'lost';
	// Some HTTP clients advise a retry, without knowing that it may cost money.
	const detail = excerpt(texts.filter((text) => !/\bretry\b/i.test(text)).join(', '));
	const { purpose, host } = request;
	const from = host === undefined ? '' : ` from ${host}`;
	const lost = isTimeout
		? `no response arrived${from} within the time limit`
		: `the connection was lost before the response arrived${from}`;
	const whatHappened = isUnsent ? `${host ?? 'the gateway'} could not be reached` : lost;
	const addressProblem = host !== undefined && problem && addressProblemTexts[problem](host);
	const remedies: Remedy[] = isUnsent
		? [{ about: 'unreachable', detail, host, problem }]
		: [
				{ about: 'lost', detail, isTimeout, host, problem },
				...(request.cost === 'job'
					? unknownOutcomeRemedies(request, { isUnbilled: true })
					: [{ about: 'lostIsNotBilled' } as const]),
			];
	return new GatewayError({
		message: `Could not ${purpose}: ${addressProblem || whatHappened}${host ? ` (${detail})` : ''}`,
		remedies,
		reach,
		status: 0,
		...failureFields(verdictOn({ reach, status: 0 }, request), request),
	});
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
		remedies: [{ about: 'linkCarriesKey' }],
		reach: 'unreadable',
		status: 0,
		billed: 'no',
		retry_can_help: false,
	});
}

/** The remedies about the link of a file, for when the file itself is known to exist. */
export function linkRemedies({ remedies }: Pick<Failure, 'remedies'>): Remedy[] {
	return remedies.filter(
		(remedy) =>
			remedy.about === 'linkCarriesKey' ||
			remedy.about === 'unreachable' ||
			(remedy.about === 'lost' && remedy.problem !== undefined),
	);
}

/** A request that was held back for too long, and not sent. @param holder what held it back */
export function heldBack(purpose: string, holder: string): GatewayError {
	return new GatewayError({
		message: `Could not ${purpose}: ${holder} held the request back for too long`,
		remedies: [{ about: 'nothingMoreSent' }],
		reach: 'none',
		status: 0,
		billed: 'no',
		retry_can_help: true,
		pollCanHelp: true,
		isHeldBack: true,
	});
}

/** Sending again can be charged twice only when the request creates a job and its outcome is unknown. */
function unknownOutcomeRemedies(
	{ cost, idempotencyKey, resendsLost }: RequestInfo,
	{ isUnbilled }: { isUnbilled: boolean },
): Remedy[] {
	const hasKey = idempotencyKey !== undefined;
	// After an unreadable response, the order is not sent again, whatever the user wants.
	const isResent = resendsLost && isUnbilled;
	return cost === 'job' ? [{ about: 'mayBeAccepted', hasKey, isUnbilled, isResent }] : [];
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
	const { status } = response;
	// Parsed only once: a large body takes long.
	const body = parseResponse(response.text);
	const error = readErrorObject(body);
	const refusalVerdict = verdictOn({ reach: 'answered', status, error }, request);
	const reach: Reach = isFromProxy(status, body) ? 'lost' : 'answered';
	const verdict = reach === 'lost' ? verdictOn({ reach, status }, request) : refusalVerdict;
	const { refusal, meaning = '' } = refusalVerdict;
	const mayBeAccepted = verdict.billed === 'unknown' && refusal !== knownOrder.refusal;
	const blamed = blamedModel(request.otherModel, status, error);
	const serviceMessage =
		error?.message ?? (error ? meaning : `${meaning}; the response gives no reason`);
	const reason = blamed
		? `${blamed.id} is a model of another kind; the service said: ${serviceMessage}`
		: serviceMessage;
	return new GatewayError({
		message: `Could not ${request.purpose}: ${excerpt(reason)} (${[`HTTP ${status}`, error?.code].filter(Boolean).join(', ')})`,
		remedies: [
			...(blamed ? [{ about: 'otherModel', model: blamed } as const] : []),
			// Some of this advice is to run again, which is wrong when a job may have been accepted.
			...(refusal && !blamed && !mayBeAccepted ? [{ about: 'refusal', refusal } as const] : []),
			...(mayBeAccepted ? unknownOutcomeRemedies(request, { isUnbilled: true }) : []),
			...(retryAfter ? [{ about: 'retryAfter', milliseconds: retryAfter } as const] : []),
		],
		reach,
		...responseFields(response, { body, error }),
		...failureFields({ ...verdict, refusal }, request),
		...(retryAfter !== undefined && { retryAfter }),
	});
}

/** Whether a proxy responded instead of the service, so that it is unknown what the service did. */
function isFromProxy(status: number, body: unknown): boolean {
	const error = valueAt(body, 'error');
	const isKnown = meaningOf(readErrorObject(body) ?? {}) !== undefined;
	const isFromService = isKnown || (isObject(error) && readErrorObject({ error }) !== undefined);
	return !isFromService && (status >= 500 || status === 408);
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
		remedies: [
			refusal
				? { about: 'refusal', refusal }
				: { about: partialText === '' ? 'rawBody' : 'partialText' },
			...unknownOutcomeRemedies(request, { isUnbilled: false }),
		],
		reach: 'unreadable',
		...responseFields(response, {
			body: parseResponse(response.text),
			error: readErrorObject({ error }),
		}),
		...failureFields({ ...verdictOn({ reach: 'unreadable', status }, request), refusal }, request),
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

/** The fields of a failure that come from the verdict. */
function failureFields(
	{ refusal, sendsAgain, triesOtherBase, retryCanHelp, pollCanHelp, billed }: Verdict,
	{ idempotencyKey }: RequestInfo,
): Pick<Failure, 'billed' | 'retry_can_help'> & Partial<Failure> {
	return {
		billed,
		retry_can_help: retryCanHelp,
		sendsAgain,
		pollCanHelp,
		...(triesOtherBase && { triesOtherBase }),
		...(refusal && { refusal }),
		...(billed === 'unknown' && idempotencyKey && { idempotencyKey }),
	};
}
