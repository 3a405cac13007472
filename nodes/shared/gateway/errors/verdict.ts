import type { Cost } from '../protocol/endpoints';
import {
	balanceWords,
	errorCodes,
	moderationWords,
	permissionWords,
	statusMeanings,
	statusWords,
	type ErrorMeaning,
	type RefusalKind,
} from '../protocol/errorCodes';
import type { ErrorObject } from './errorObject';

/**
 * How far a failed request got.
 * - `unsent`: it never left, or nobody was there to take it.
 * - `lost`: it left, and no answer of the service came back; the service may have acted on it.
 * - `answered`: the service answered, and refused.
 * - `unreadable`: a 2xx came, but no answer that can be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'answered' | 'unreadable' | 'none';

/** What is known of one request that failed. */
export interface FailedRequest {
	reach: Reach;
	/** HTTP status; 0 without an answer. */
	status: number;
	/** What the service said. */
	error?: ErrorObject;
}

/** What a failure means; retry, error record, advice and poller all go by it. */
export interface Verdict {
	/** Why the service refused; undefined where it did not. */
	refusal?: RefusalKind;
	/** The same, in words that complete "Could not …:". */
	meaning?: string;
	/** Whether the same request is sent again without asking the user. */
	sendsAgain: boolean;
	/** Whether the same request can succeed later with nothing changed, when the user runs it again. */
	retryCanHelp: boolean;
	/** Whether a later poll of the same job may succeed: the job goes on, whatever its polls meet. */
	pollCanHelp: boolean;
	billed: 'no' | 'unknown';
}

/**
 * The one judgement on a failed request ("Errors" and "What the service does", billing rules). Pure, so that
 * every rule about money can be a row in a test.
 * @param cost of the endpoint
 * @param resendsLost whether the user wants a job created again when the answer to its creation was lost
 */
export function verdictOn(
	{ reach, status, error = {} }: FailedRequest,
	cost: Cost,
	{ resendsLost = false } = {},
): Verdict {
	switch (reach) {
		case 'none':
			return { sendsAgain: false, retryCanHelp: false, pollCanHelp: false, billed: 'no' };
		case 'unsent':
			return { sendsAgain: true, retryCanHelp: true, pollCanHelp: true, billed: 'no' };
		case 'lost': {
			// A lost answer is not billed ("Errors", status 0); yet a job may run whose creation was lost.
			const isSafe = cost !== 'job' || resendsLost;
			const billed = cost === 'job' ? 'unknown' : 'no';
			return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
		}
		case 'unreadable': {
			// A 2xx had begun to arrive: whatever generates has been paid for.
			const isSafe = cost === 'read';
			const billed = isSafe ? 'no' : 'unknown';
			return { sendsAgain: isSafe, retryCanHelp: isSafe, pollCanHelp: true, billed };
		}
		case 'answered':
			return { ...refusalVerdict(status, error, cost), billed: 'no' };
	}
}

function refusalVerdict(status: number, error: ErrorObject, cost: Cost): Omit<Verdict, 'billed'> {
	const known = meaningOf(error);
	const { refusal, meaning, isTransient } = refusalOf(status, error);
	// What a server in trouble says of a request need not be so; an empty account stays empty.
	const retryCanHelp = isTransient || (status >= 500 && refusal !== 'quotaExceeded');
	return {
		refusal,
		meaning,
		retryCanHelp,
		sendsAgain: retryCanHelp && isWorthAnotherTry(status, cost, known),
		pollCanHelp: retryCanHelp || pollsGoOn(status, known),
	};
}

/** Why the service refused: its code says more than the status, which an empty balance shares with the rate limit. */
function refusalOf(status: number, error: ErrorObject): ErrorMeaning {
	const said = [error.code, error.type, error.message].filter((text) => text !== undefined);
	if (status === 429 && said.some((text) => balanceWords.test(text))) {
		return errorCodes.quota_exceeded;
	}
	const known = meaningOf(error);
	if (known) return known;
	const own = status < 400 ? statusOf(error) : status;
	const byStatus = statusMeanings[own] ?? statusMeanings[own < 500 ? 400 : 500];
	if (own !== 400 && own !== 403) return byStatus;
	// Types go with the status: they say no more than it does.
	const reason = `${error.code ?? ''} ${error.message ?? ''}`;
	const isModerated = moderationWords.test(reason);
	const isForbidden = own === 403 && permissionWords.test(reason);
	// Where the answer names both causes, or none, either may be meant.
	if (isModerated === isForbidden) return byStatus;
	return { ...byStatus, refusal: isModerated ? 'moderated' : 'notPermitted' };
}

/** The status that belongs to an error which came with a 2xx. */
function statusOf({ code, type }: ErrorObject): number {
	const [status] = statusWords.find(([, words]) => words.test(`${code} ${type}`)) ?? [400];
	return status;
}

/** Whether a refusal that passes may pass within seconds, and no job is paid twice by asking again. */
function isWorthAnotherTry(status: number, cost: Cost, known: ErrorMeaning | undefined): boolean {
	if (status === 429) return true;
	if (status === 408 || status === 425) return cost !== 'job';
	// A job is ordered again only when the answer names a cause that passes.
	return status >= 500 && (cost !== 'job' || known?.isTransient === true);
}

/** Once there is money again, the polls go on: the job never stopped. So does a 2xx with an error of no known cause. */
function pollsGoOn(status: number, known: ErrorMeaning | undefined): boolean {
	const isOpen = known === undefined || known.refusal === 'quotaExceeded';
	return isOpen && (status < 400 || status === 429 || status >= 500);
}

/** What the code, or the type, of an error means ("Error codes seen"). */
export function meaningOf({ code, type }: ErrorObject): ErrorMeaning | undefined {
	for (const name of [code, type]) {
		if (name !== undefined && Object.hasOwn(errorCodes, name)) return errorCodes[name];
	}
	return undefined;
}
