import { GatewayError } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { isGuess, type Match } from './match';
import type { Answered, Knowledge } from './order';

/** What the user wants of one order, and what else bears on it. */
export interface Wish {
	/** Sent again when its response was lost. */
	resendsLost: boolean;
	/** By which the gateway recognises it. */
	idempotencyKey?: string;
	/** Of the parameters that ask for something: see `Order.written`. */
	written: string;
	/** How its Order Key was used by other orders; free where it has none, unknown when n8n's database cannot be asked. */
	keyUse: 'free' | 'same' | 'other' | 'unknown';
	/** What becomes of it when its Order Key was used before. */
	ifOrderedBefore: 'skip' | 'drop' | 'fail';
	/** Its Order Key is made usable again, and nothing is ordered. */
	releasesKey: boolean;
	/** Of the limits of the execution, if it is not counted yet; unknown when other tries cannot be looked up. */
	room: Room;
	/** The same of the limits of the day, which are counted in n8n's database. */
	roomOfDay: Room;
}

/** Whether limits have room for an order: full of orders, or it costs more than is left. */
export type Room = 'free' | 'full' | 'costly' | 'unknown';

export type Decision =
	| { do: 'send'; parts: object[]; idempotencyKey?: string }
	/** The gateway recognises it by its key. */
	| { do: 'sendUnderKey'; known: Match['known']; idempotencyKey: string }
	| { do: 'reuse'; known: Answered }
	/** Nothing is ordered, and that is no failure. */
	| { do: 'leaveOut'; because: 'keyUsed' | 'keyReleased' }
	| { do: 'refuse'; because: Reason; known?: Match['known'] };

export type Reason =
	/** It was sent, and its response is lost. */
	| 'lost'
	/** It was sent, and nothing else is known. */
	| 'sent'
	/** Another order was sent in its place, which may have been worded differently. */
	| 'reworded'
	/** Its Order Key was used. */
	| 'keyUsed'
	/** Its Order Key was used for another order. */
	| 'keyOfOther'
	| 'keyUnknown'
	| 'limit'
	| 'costLimit'
	| 'limitOfDay'
	| 'costLimitOfDay'
	| 'dayUnknown'
	/** Other tries cannot be looked up. */
	| 'triesUnknown'
	/** What the execution keeps of its orders cannot be read. */
	| 'unreadable';

/**
 * What becomes of an order, from what is known of it. Every rule about paying twice is a row of its test. Pure.
 * @param found undefined: nothing is known of it
 */
export function decide(found: Match | undefined, wish: Wish): Decision {
	if (wish.releasesKey) {
		return wish.keyUse === 'unknown'
			? { do: 'refuse', because: 'keyUnknown' }
			: { do: 'leaveOut', because: 'keyReleased' };
	}
	const known = found?.known;
	switch (known?.state) {
		case 'answered':
			if (isGuess(found as Match)) return { do: 'refuse', because: 'reworded', known };
			if (found?.by === 'key' && known.written !== wish.written)
				return { do: 'refuse', because: 'keyOfOther' };
			return { do: 'reuse', known };
		case 'sent':
		case 'lost':
			return decideOpen(found as Match, wish);
		case 'new':
		case undefined:
			return decideNew(known?.parts ?? [], wish);
	}
}

/** It may have been accepted. */
function decideOpen({ known, by }: Match, wish: Wish): Decision {
	const { resendsLost, idempotencyKey } = wish;
	if (known.isUnderWay && !idempotencyKey) return { do: 'refuse', because: 'sent', known };
	// Under another key, or none, or with another request, the gateway would not recognise it.
	const isRecognised = by === 'request' && known.idempotencyKey === idempotencyKey;
	if (isRecognised && idempotencyKey !== undefined) {
		return limited(wish, { do: 'sendUnderKey', known, idempotencyKey });
	}
	if (resendsLost) return limited(wish, { do: 'send', parts: [], idempotencyKey });
	if (isGuess({ by })) return { do: 'refuse', because: 'reworded', known };
	if (known.state === 'lost') return { do: 'refuse', because: 'lost', known };
	return { do: 'refuse', because: by === 'request' ? 'sent' : 'reworded', known };
}

function decideNew(parts: object[], wish: Wish): Decision {
	const { keyUse, ifOrderedBefore, idempotencyKey } = wish;
	if (keyUse === 'unknown') return { do: 'refuse', because: 'keyUnknown' };
	if (keyUse === 'other') return { do: 'refuse', because: 'keyOfOther' };
	if (keyUse === 'same')
		return { do: ifOrderedBefore === 'fail' ? 'refuse' : 'leaveOut', because: 'keyUsed' };
	return limited(wish, { do: 'send', parts, idempotencyKey });
}

function limited({ room, roomOfDay }: Wish, decision: Decision): Decision {
	if (room !== 'free') return { do: 'refuse', because: noRoom[room] };
	// It makes no second job, and the first one has its place.
	if (roomOfDay === 'free' || decision.do === 'sendUnderKey') return decision;
	return { do: 'refuse', because: noRoomOfDay[roomOfDay] };
}

type NoRoom = Record<Exclude<Room, 'free'>, Reason>;

const noRoom: NoRoom = { full: 'limit', costly: 'costLimit', unknown: 'triesUnknown' };

const noRoomOfDay: NoRoom = {
	...{ full: 'limitOfDay', costly: 'costLimitOfDay', unknown: 'dayUnknown' },
};

/** What became of an order that was to be sent. */
export interface Outcome {
	/** Of its request, if that was answered. */
	result?: object;
	job?: JobSummary;
	hints: string[];
	/** Of several requests, those that were answered. */
	parts: object[];
	error?: unknown;
}

/** What is known of an order after it was sent; undefined when it surely made nothing. Pure. */
export function learn({ result, job, hints, parts, error }: Outcome): Knowledge | undefined {
	if (result !== undefined) return { state: 'answered', result, job, hints };
	if (error instanceof GatewayError && error.failure.billed !== 'no') {
		return { state: 'lost', failure: error.failure };
	}
	return parts.length > 0 ? { state: 'new', parts } : undefined;
}
