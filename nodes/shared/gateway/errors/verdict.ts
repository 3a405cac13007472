import type { Cost } from '../protocol/endpoints';
import {
	balanceWords,
	errorCodes,
	knownOrder,
	moderationWords,
	notFoundWords,
	permissionWords,
	statusMeanings,
	statusWords,
	type ErrorMeaning,
	type RefusalKind,
} from '../protocol/errorCodes';
import type { ErrorObject } from './errorObject';

/**
 * How far a failed request got.
 * - `unsent`: it was never sent, since no connection could be made.
 * - `lost`: it was sent, and no response of the service came back; the service may have acted on it.
 * - `answered`: the service responded, and refused it.
 * - `unreadable`: a 2xx came, but its body cannot be used.
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

/** What a failure means; retries, error records, advice and the poller all follow it. */
export interface Verdict {
	/** Why the service refused; undefined when it did not. */
	refusal?: RefusalKind;
	/** The refusal in words that complete "Could not …:". */
	meaning?: string;
	/** Whether the same request is sent again without asking the user. */
	sendsAgain: boolean;
	/** Whether the same request can succeed later with nothing changed, when the user runs it again. */
	retryCanHelp: boolean;
	/** Whether a later poll of the same job may succeed: the job goes on when one of its polls fails. */
	pollCanHelp: boolean;
	billed: 'no' | 'unknown';
}

/**
 * Judges a failed request ("Errors" and "What the service does", billing rules); nothing else does. Pure, so that
 * every rule about money can be a row of a test table.
 * @param cost of the endpoint
 * @param resendsLost whether the user wants a job created again when the response to its creation was lost
 * @param idempotencyKey with which a job was ordered: sent again with it, the same order makes no second job
 */
export function verdictOn(
	{ reach, status, error = {} }: FailedRequest,
	cost: Cost,
	{ resendsLost = false, idempotencyKey }: Repetition = {},
): Verdict {
	const isRepeatable = cost !== 'job' || idempotencyKey !== undefined;
	switch (reach) {
		case 'none':
			return { sendsAgain: false, retryCanHelp: false, pollCanHelp: false, billed: 'no' };
		case 'unsent':
			return { sendsAgain: true, retryCanHelp: true, pollCanHelp: true, billed: 'no' };
		case 'lost': {
			// A call whose response was lost is not billed ("Errors", status 0), but the job it creates may be running.
			const isSafe = isRepeatable || resendsLost;
			const billed = cost === 'job' ? 'unknown' : 'no';
			return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
		}
		case 'unreadable': {
			// A 2xx had begun to arrive, so a generation or a job may have been billed.
			const isSafe = isRepeatable && cost !== 'generation';
			const billed = cost === 'read' ? 'no' : 'unknown';
			return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
		}
		case 'answered': {
			// It says that an earlier try arrived, and not what became of it.
			const isKnown = status === 409 && idempotencyKey !== undefined && !meaningOf(error);
			const verdict = isKnown
				? knownOrderVerdict
				: refusalVerdict(status, error, cost, isRepeatable);
			return { ...verdict, billed: isKnown ? 'unknown' : 'no' };
		}
	}
}

/** What is known of a request beside its cost that decides whether it is sent again. */
interface Repetition {
	resendsLost?: boolean;
	idempotencyKey?: string;
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
	cost: Cost,
	isRepeatable: boolean,
): Omit<Verdict, 'billed'> {
	const codeMeaning = meaningOf(error);
	const { refusal, meaning, isTransient } = refusalOf(status, error, cost);
	// What the code says of the request need not hold where the status says that it may pass; an empty account stays so.
	const mayPass = [408, 425, 429].includes(status) || status >= 500;
	const retryCanHelp = isTransient || (mayPass && refusal !== 'quotaExceeded');
	return {
		refusal,
		meaning,
		retryCanHelp,
		sendsAgain: retryCanHelp && isWorthRetrying(status, isRepeatable, codeMeaning),
		pollCanHelp: retryCanHelp || canKeepPolling(status, codeMeaning),
	};
}

/** Characters of a message that are searched for its cause. */
const maxJudged = 2_000;

/** Why the service refused. The code takes precedence: an empty balance has the same status as the rate limit. */
function refusalOf(status: number, error: ErrorObject, cost: Cost): ErrorMeaning {
	const { code = '', type = '' } = error;
	const message = (error.message ?? '').slice(0, maxJudged);
	const texts = [code, type, message];
	if (status === 429 && texts.some((text) => balanceWords.test(text))) {
		return errorCodes.quota_exceeded;
	}
	const codeMeaning = meaningOf(error);
	if (codeMeaning) return codeMeaning;
	// The type is left out, since it only repeats the status.
	const reason = `${code} ${message}`;
	// A read asks for nothing but what its address names.
	const isNotFound = cost === 'read' && [400, 422].includes(status) && notFoundWords.test(reason);
	if (isNotFound) return statusMeanings[404];
	const effectiveStatus = status < 400 ? statusOf(error) : status;
	const byStatus =
		statusMeanings[effectiveStatus] ?? statusMeanings[effectiveStatus < 500 ? 400 : 500];
	if (effectiveStatus !== 400 && effectiveStatus !== 403) return byStatus;
	const isModerated = moderationWords.test(reason);
	const isForbidden = effectiveStatus === 403 && permissionWords.test(reason);
	// When the response names both causes, or neither, either is possible.
	if (isModerated === isForbidden) return byStatus;
	return { ...byStatus, refusal: isModerated ? 'moderated' : 'notPermitted' };
}

/** The status that fits an error inside a 2xx response. */
function statusOf({ code, type }: ErrorObject): number {
	const [status] = statusWords.find(([, words]) => words.test(`${code} ${type}`)) ?? [400];
	return status;
}

/** Whether a transient refusal may pass within seconds, and sending again cannot pay for a job twice. */
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
 * Whether polling continues after a refusal that no retry can help. The job itself goes on, so an empty balance or
 * an unknown error does not end it, unless the status is a 4xx other than 429.
 */
function canKeepPolling(status: number, codeMeaning: ErrorMeaning | undefined): boolean {
	const isUndecided = codeMeaning === undefined || codeMeaning.refusal === 'quotaExceeded';
	return isUndecided && (status < 400 || status === 429 || status >= 500);
}

/** The meaning of an error's code, or else of its type ("Error codes seen"). */
export function meaningOf({ code, type }: ErrorObject): ErrorMeaning | undefined {
	for (const name of [code, type]) {
		if (name !== undefined && Object.hasOwn(errorCodes, name)) return errorCodes[name];
	}
	return undefined;
}
