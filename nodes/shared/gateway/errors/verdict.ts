import { knownOrder, type ErrorMeaning, type RefusalKind } from '../protocol/errorCodes';
import type { ErrorObject } from './errorObject';
import { meaningOf, refusalOf, type RefusedRequest } from './refusal';

/**
 * How far a failed request got.
 * - `unsent`: it was never sent, because no connection could be made.
 * - `lost`: it was sent, but no response of the service arrived; the service may have acted on it.
 * - `answered`: the service responded, and refused it.
 * - `unreadable`: a 2xx arrived, but its body cannot be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'answered' | 'unreadable' | 'none';

/** What is known about one request that failed. */
export interface FailedRequest {
	reach: Reach;
	/** HTTP status; 0 without a response. */
	status: number;
	/** The error object of the response. */
	error?: ErrorObject;
}

/** What the verdict needs to know about the request that failed. */
export interface JudgedRequest extends RefusedRequest {
	/** Whether the user wants a job created again when the response to its creation was lost. */
	resendsLost?: boolean;
	/** The idempotency key of the order: sent again with it, the same order creates no second job. */
	idempotencyKey?: string;
}

/** What a failure means; retries, error records, advice and the poller all follow it. */
export interface Verdict {
	/** Why the service refused; undefined when it did not. */
	refusal?: RefusalKind;
	/** The refusal in words that complete "Could not …:". */
	meaning?: string;
	/** Whether the same request is sent again without asking the user. */
	sendsAgain: boolean;
	/** Whether the other base URL is used next, because the gateway may be out of reach at this one. */
	triesOtherBase?: boolean;
	/** Whether the same request can succeed later with nothing changed, when the user runs it again. */
	retryCanHelp: boolean;
	/** Whether a later poll of the same job may succeed: a failed poll does not end the job. */
	pollCanHelp: boolean;
	billed: 'no' | 'unknown';
}

/** The statuses of a proxy that cannot reach the server behind it (RFC 9110, 15.6.3 to 15.6.5). */
const unreachableStatuses = [502, 503, 504];

/**
 * Judges a failed request ("Errors" and "What the service does", billing rules); nothing else does. Pure, so that
 * every rule about money can be a row of a test table.
 */
export function verdictOn(
	{ reach, status, error = {} }: FailedRequest,
	request: JudgedRequest,
): Verdict {
	const { cost, idempotencyKey } = request;
	const isRepeatable = cost !== 'job' || idempotencyKey !== undefined;
	switch (reach) {
		case 'none':
			return { sendsAgain: false, retryCanHelp: false, pollCanHelp: false, billed: 'no' };
		case 'unsent':
			return {
				...{ sendsAgain: true, retryCanHelp: true, pollCanHelp: true, billed: 'no' },
				triesOtherBase: true,
			};
		case 'lost': {
			// A proxy may have passed the order on.
			const isUnreachable = cost !== 'job' && unreachableStatuses.includes(status);
			return { ...lostVerdict(request), triesOtherBase: status === 0 || isUnreachable };
		}
		case 'unreadable': {
			// A 2xx had begun to arrive, so a generation or a job may be charged.
			const isSafe = isRepeatable && cost !== 'generation';
			const billed = cost === 'read' ? 'no' : 'unknown';
			return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
		}
		case 'answered': {
			const refusal = refusalVerdict(status, error, request);
			// The service had a response to deliver, perhaps that of a job it created.
			const isUndelivered = cost === 'job' && meaningOf(error)?.refusal === 'responseNotDelivered';
			if (isUndelivered) return { ...refusal, ...lostVerdict(request) };
			// The 409 says that an earlier try arrived, but not how it ended.
			const isKnown = status === 409 && idempotencyKey !== undefined && !meaningOf(error);
			return isKnown ? { ...knownOrderVerdict, billed: 'unknown' } : { ...refusal, billed: 'no' };
		}
	}
}

/** A call whose response was lost is not charged ("Errors", status 0), but the job it creates may be running. */
function lostVerdict({ cost, resendsLost = false, idempotencyKey }: JudgedRequest): Verdict {
	const isSafe = cost !== 'job' || idempotencyKey !== undefined || resendsLost;
	const billed = cost === 'job' ? 'unknown' : 'no';
	return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
}

const knownOrderVerdict = {
	...knownOrder,
	sendsAgain: true,
	retryCanHelp: true,
	pollCanHelp: true,
};

function refusalVerdict(
	status: number,
	error: ErrorObject,
	request: JudgedRequest,
): Omit<Verdict, 'billed'> {
	const codeMeaning = meaningOf(error);
	const { refusal, meaning, isTransient } = refusalOf(status, error, request);
	const isRepeatable = request.cost !== 'job' || request.idempotencyKey !== undefined;
	return {
		refusal,
		meaning,
		retryCanHelp: isTransient,
		sendsAgain: isTransient && isWorthRetrying(status, isRepeatable, codeMeaning),
		pollCanHelp: isTransient || canKeepPolling(status, codeMeaning),
	};
}

/** Whether a transient refusal may pass within seconds, and sending again cannot create a second job. */
function isWorthRetrying(
	status: number,
	isRepeatable: boolean,
	codeMeaning: ErrorMeaning | undefined,
): boolean {
	if (status === 429) return true;
	if (status === 408 || status === 425) return isRepeatable;
	// A job is created again, without a key, only when the error code is known to be transient.
	return status >= 500 && (isRepeatable || codeMeaning?.isTransient === true);
}

/**
 * Whether polling continues after a refusal that no retry can help. The job itself continues, so an empty balance or
 * an unknown error does not end the polling, unless the status is a 4xx other than 429.
 */
function canKeepPolling(status: number, codeMeaning: ErrorMeaning | undefined): boolean {
	const isUndecided = codeMeaning === undefined || codeMeaning.refusal === 'quotaExceeded';
	return isUndecided && (status < 400 || status === 429 || status >= 500);
}
