import { GatewayError } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { isGuess, type Match } from './match';
import type { Answered, Knowledge } from './order';

/** What decides about an order apart from what is known of it: the user's options, its Order Key, and the limits. */
export interface DecisionInput {
	/** Whether it is sent again when its response was lost. */
	resendsLost: boolean;
	/** The key by which the gateway recognises the order. */
	idempotencyKey?: string;
	/** Hash of the parameters that say what is ordered: see `Order.written`. */
	written: string;
	/**
	 * How other orders used its Order Key: not at all, for the same request, or for another one. `free` also without a
	 * key; `unknown` when n8n's database could not be read.
	 */
	keyUse: 'free' | 'same' | 'other' | 'unknown';
	/** What to do when its Order Key was used before. */
	ifOrderedBefore: 'skip' | 'drop' | 'fail';
	/** Whether to release its Order Key instead of ordering. */
	releasesKey: boolean;
	/** `free` also when the order is already counted; `unknown` when earlier tries cannot be looked up. */
	executionLimit: LimitStatus;
	/** Counted in n8n's database; `unknown` when it could not be read. */
	dailyLimit: LimitStatus;
}

/** Whether limits allow an order. `full`: no more orders are allowed. `costly`: it costs more than what is left. */
export type LimitStatus = 'free' | 'full' | 'costly' | 'unknown';

export type Decision =
	| { do: 'send'; parts: object[]; idempotencyKey?: string }
	/** Sent again with its idempotency key, so that the gateway makes no second job. */
	| { do: 'sendUnderKey'; known: Match['known']; idempotencyKey: string }
	| { do: 'reuse'; known: Answered }
	/** Nothing is ordered, but the item does not fail. */
	| { do: 'leaveOut'; because: 'keyUsed' | 'keyReleased' }
	| { do: 'refuse'; because: Reason; known?: Match['known'] };

export type Reason =
	/** It was sent, and its response was lost. */
	| 'lost'
	/** It was sent, and nothing else is known. */
	| 'sent'
	/** An earlier try sent an order that may be this one with other words. */
	| 'reworded'
	/** Its Order Key was used before. */
	| 'keyUsed'
	/** Its Order Key was used for another order. */
	| 'keyOfOther'
	| 'keyUnknown'
	| 'limit'
	| 'costLimit'
	| 'limitOfDay'
	| 'costLimitOfDay'
	| 'dayUnknown'
	/** Earlier tries cannot be looked up. */
	| 'triesUnknown'
	/** The record of orders that n8n stored with the execution cannot be read. */
	| 'unreadable';

/**
 * Decides what to do with an order. Pure. Every rule about paying twice is a row of its test.
 * @param found what earlier tries know of it; undefined when they know nothing
 */
export function decide(found: Match | undefined, input: DecisionInput): Decision {
	if (input.releasesKey) {
		return input.keyUse === 'unknown'
			? { do: 'refuse', because: 'keyUnknown' }
			: { do: 'leaveOut', because: 'keyReleased' };
	}
	const known = found?.known;
	switch (known?.state) {
		case 'answered':
			if (isGuess(found as Match)) return { do: 'refuse', because: 'reworded', known };
			if (found?.by === 'key' && known.written !== input.written)
				return { do: 'refuse', because: 'keyOfOther' };
			return { do: 'reuse', known };
		case 'sent':
		case 'lost':
			return decideSent(found as Match, input);
		case 'new':
		case undefined:
			return decideNew(known?.parts ?? [], input);
	}
}

/** An order that was sent and may have been accepted. */
function decideSent({ known, by }: Match, input: DecisionInput): Decision {
	const { resendsLost, idempotencyKey } = input;
	if (known.isUnderWay && !idempotencyKey) return { do: 'refuse', because: 'sent', known };
	// The gateway recognises it only when both the key and the request are the same.
	const isRecognised = by === 'request' && known.idempotencyKey === idempotencyKey;
	if (isRecognised && idempotencyKey !== undefined) {
		return withinLimits(input, { do: 'sendUnderKey', known, idempotencyKey });
	}
	if (resendsLost) return withinLimits(input, { do: 'send', parts: [], idempotencyKey });
	if (isGuess({ by })) return { do: 'refuse', because: 'reworded', known };
	if (known.state === 'lost') return { do: 'refuse', because: 'lost', known };
	return { do: 'refuse', because: by === 'request' ? 'sent' : 'reworded', known };
}

function decideNew(parts: object[], input: DecisionInput): Decision {
	const { keyUse, ifOrderedBefore, idempotencyKey } = input;
	if (keyUse === 'unknown') return { do: 'refuse', because: 'keyUnknown' };
	if (keyUse === 'other') return { do: 'refuse', because: 'keyOfOther' };
	if (keyUse === 'same')
		return { do: ifOrderedBefore === 'fail' ? 'refuse' : 'leaveOut', because: 'keyUsed' };
	return withinLimits(input, { do: 'send', parts, idempotencyKey });
}

/** The decision, or a refusal where a limit does not allow it. */
function withinLimits({ executionLimit, dailyLimit }: DecisionInput, decision: Decision): Decision {
	if (executionLimit !== 'free')
		return { do: 'refuse', because: executionLimitReasons[executionLimit] };
	// Sending under the key makes no second job, and the first one is counted already.
	if (dailyLimit === 'free' || decision.do === 'sendUnderKey') return decision;
	return { do: 'refuse', because: dailyLimitReasons[dailyLimit] };
}

type LimitReasons = Record<Exclude<LimitStatus, 'free'>, Reason>;

const executionLimitReasons: LimitReasons = {
	full: 'limit',
	costly: 'costLimit',
	unknown: 'triesUnknown',
};

const dailyLimitReasons: LimitReasons = {
	...{ full: 'limitOfDay', costly: 'costLimitOfDay', unknown: 'dayUnknown' },
};

/** The outcome of an order that was sent. */
export interface Outcome {
	/** The result of its request, if a response arrived. */
	result?: object;
	job?: JobSummary;
	hints: string[];
	/** Results of the requests that were answered so far, where the item takes several. */
	parts: object[];
	error?: unknown;
}

/** What is known of an order after it was sent; undefined when it certainly made nothing. Pure. */
export function learn({ result, job, hints, parts, error }: Outcome): Knowledge | undefined {
	if (result !== undefined) return { state: 'answered', result, job, hints };
	if (error instanceof GatewayError && error.failure.billed !== 'no') {
		return { state: 'lost', failure: error.failure };
	}
	return parts.length > 0 ? { state: 'new', parts } : undefined;
}
