import { excerpt, isObject, parseJson, valueAt, withoutUndefined } from '../json';
import type { Cost } from '../protocol/endpoints';
import { readErrorObject, requestIdOf, type ErrorObject } from './errorObject';
import { GatewayError, type Failure, type Remedy } from './gatewayError';
import { readNetworkError } from './networkError';
import { meaningOf, verdictOn, type Reach, type Verdict } from './verdict';

/** What a request was for. */
export interface RequestInfo {
	/** Continues "Could not …". */
	purpose: string;
	cost: Cost;
	/** Whether the user wants a job created again when the answer to its creation was lost. */
	resendsLost?: boolean;
	/** Who is asked, where it is not the gateway; its failures name the network's own words in the message. */
	host?: string;
}

/** What is left of an answer once its body has been read. */
export interface FailedResponse {
	status: number;
	headers: Record<string, string>;
	/** Body as text, as far as it came. */
	text: string;
}

/** In characters: enough for every error object, too little to fill an execution's log. */
export const truncateBody = (text: string) => text.slice(0, 20_000);

/**
 * A request that got no answer.
 * @param cause the network's own error, possibly wrapped
 */
export function noAnswer(request: RequestInfo, cause: unknown): GatewayError {
	const { isUnsent, isTimeout, texts } = readNetworkError(cause);
	const reach = isUnsent ? 'unsent' : 'lost';
	// Some senders add an advice of their own to send again, which knows nothing of money.
	const detail = excerpt(texts.filter((text) => !/\bretry\b/i.test(text)).join(', '));
	const { purpose, host } = request;
	const lost = isTimeout
		? 'no answer came within the time limit'
		: 'the connection was lost before the answer came';
	const happened = isUnsent ? `${host ?? 'the gateway'} could not be reached` : lost;
	const remedies: Remedy[] = isUnsent
		? [{ about: 'unreachable', detail }]
		: [
				{ about: 'lost', detail, isTimeout },
				...(request.cost === 'job' ? mayBeAccepted : [{ about: 'lostIsNotBilled' } as const]),
			];
	return new GatewayError({
		message: `Could not ${purpose}: ${happened}${host ? ` (${detail})` : ''}`,
		remedies,
		reach,
		status: 0,
		...judged(verdictOn({ reach, status: 0 }, request.cost, request)),
	});
}

/** A create whose fate is unknown is the one case where sending again can cost. */
const mayBeAccepted: Remedy[] = [{ about: 'mayBeAccepted' }];

/**
 * An answer with a status that is no success ("Errors", both tables and the codes).
 * @param retryAfter milliseconds the service asked to wait
 */
export function refused(
	request: RequestInfo,
	response: FailedResponse,
	retryAfter?: number,
): GatewayError {
	const { status } = response;
	const error = readErrorObject(parseJson(response.text));
	const answered = verdictOn({ reach: 'answered', status, error }, request.cost, request);
	const reach: Reach = isOfProxy(response) ? 'lost' : 'answered';
	const verdict = reach === 'lost' ? verdictOn({ reach, status }, request.cost, request) : answered;
	const { refusal, meaning = '' } = answered;
	const reason = error?.message ?? (error ? meaning : `${meaning}, without saying why`);
	return new GatewayError({
		message: `Could not ${request.purpose}: ${excerpt(reason)} (${[`HTTP ${status}`, error?.code].filter(Boolean).join(', ')})`,
		remedies: [
			...(refusal ? [{ about: 'refusal', refusal } as const] : []),
			...(reach === 'lost' && request.cost === 'job' ? mayBeAccepted : []),
			...(retryAfter ? [{ about: 'retryAfter', milliseconds: retryAfter } as const] : []),
		],
		reach,
		...factsOf(response, error),
		...judged({ ...verdict, refusal }),
		...(retryAfter !== undefined && { retryAfter }),
	});
}

/** A proxy that gave up waiting says so in forms of its own, which tell nothing about what the service did. */
function isOfProxy({ status, text }: FailedResponse): boolean {
	const body = parseJson(text);
	const error = valueAt(body, 'error');
	const isKnown = meaningOf(readErrorObject(body) ?? {}) !== undefined;
	const isOwn = isKnown || (isObject(error) && readErrorObject({ error }) !== undefined);
	return !isOwn && (status >= 500 || status === 408);
}

/**
 * A 2xx with a body that is of no use: cut, empty, a web page, not JSON, without its fields.
 * @param problem continues "the answer …"
 * @param kept what came of a text before it broke off, and the error object that it broke off with
 */
export function unreadable(
	request: RequestInfo,
	response: FailedResponse,
	problem: string,
	{ partialText = '', error }: { partialText?: string; error?: unknown } = {},
): GatewayError {
	const { status } = response;
	return new GatewayError({
		message: `Could not ${request.purpose}: the answer ${excerpt(problem, 1000)} (HTTP ${status})`,
		remedies: [
			{ about: partialText === '' ? 'rawBody' : 'partialText' },
			...(request.cost === 'job' ? mayBeAccepted : []),
		],
		reach: 'unreadable',
		...factsOf(response, readErrorObject({ error })),
		...judged(verdictOn({ reach: 'unreadable', status }, request.cost, request)),
		...(partialText !== '' && { partial_text: partialText }),
	});
}

/** What an answer tells about itself. */
function factsOf({ status, headers, text }: FailedResponse, error: ErrorObject = {}) {
	const { code, type, param } = error;
	const request_id = requestIdOf(headers, parseJson(text));
	return {
		status,
		...withoutUndefined({ code, type, param, request_id }),
		raw_body: truncateBody(text),
	};
}

/** What a verdict says, as the failure shows it. */
function judged({
	refusal,
	sendsAgain,
	retryCanHelp,
	pollCanHelp,
	billed,
}: Verdict): Pick<Failure, 'billed' | 'retry_can_help'> & Partial<Failure> {
	return {
		billed,
		retry_can_help: retryCanHelp,
		sendsAgain,
		pollCanHelp,
		...(refusal && { refusal }),
	};
}
