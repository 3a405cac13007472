import type { Failure } from '../../service/errors/gatewayError';
import type { OrderOptions } from '../parameters/orderOptions';
import type { LimitStatus } from './limits';
import type { Match } from './match';
import type { Answered, Order, Wish } from './order';

/** An order, what earlier tries know of it, and what the user wants; see `Line`. */
interface Wanted {
	wish: Pick<Wish, 'parameters' | 'idempotencyKey'>;
	found?: Match;
	options?: Pick<OrderOptions, 'ifOrderedBefore' | 'releasesKey' | 'resendsLost'>;
	objection?: Failure;
}

/** The rest that decides about an order: n8n's database, other orders, and the limits. */
export interface Circumstances {
	/** Why n8n's database does not guard it: it cannot record it, or cannot be asked for what earlier tries have sent. */
	unguarded?: 'notRecorded' | 'triesUnknown';
	/**
	 * How other orders used its Order Key: not at all, for the same request, or for another one. `free` also without a
	 * key; `unknown` when n8n's database could not be read.
	 */
	keyUse: 'free' | 'same' | 'other' | 'unknown';
	/**
	 * Earlier orders that may be this one in other words. `unknown`: there are such orders, and only their number is
	 * known. Counts only where nothing is known of this order.
	 */
	unmatched: readonly Order[] | 'unknown';
	/** Whether another run is sending it right now. */
	isUnderWay: boolean;
	/** Why the limits do not allow one order more. */
	limit: LimitStatus;
}

export type Decision =
	| { do: 'send'; parts: object[] }
	/** Sent again with its idempotency key, so that the gateway makes no second job. */
	| { do: 'sendUnderKey'; order: Order }
	| { do: 'reuse'; order: Answered }
	/** The item orders nothing, but does not fail. */
	| { do: 'leaveOut'; because: 'keyUsed' | 'keyReleased' }
	/** `orders` are the earlier ones that are the reason; `limit` is why the user's wish to send again is not followed. */
	| { do: 'refuse'; because: Reason; orders?: readonly Order[]; limit?: LimitStatus };

export type Reason =
	/** It was sent, and its response was lost. */
	| 'lost'
	/** It was sent, and nothing else is known. */
	| 'sent'
	/** An earlier try sent an order that may be this one in other words. */
	| 'reworded'
	/** Its Order Key was used before. */
	| 'keyUsed'
	| 'keyOfOther'
	| 'keyUnknown'
	/** A file that it needs surely cannot be used. */
	| 'unusable'
	| NonNullable<LimitStatus>
	/** Earlier tries cannot be looked up. */
	| 'triesUnknown'
	| 'notRecorded'
	/** The list has more orders than n8n's store can hold. */
	| 'tooMany'
	/** The record of orders that n8n stored with the execution cannot be read. */
	| 'unreadable';

/** Decides what to do with an order. Pure. Every rule about paying twice is a row of its test. */
export function decide(wanted: Wanted, given: Circumstances): Decision {
	const { wish, found, options } = wanted;
	if (options?.releasesKey) {
		return given.keyUse === 'unknown'
			? { do: 'refuse', because: 'keyUnknown' }
			: { do: 'leaveOut', because: 'keyReleased' };
	}
	const { order, by } = found ?? {};
	switch (order?.state) {
		case 'answered':
			if (by === 'key' && order.parameters !== wish.parameters)
				return { do: 'refuse', because: 'keyOfOther' };
			return { do: 'reuse', order };
		case 'sent':
		case 'lost':
			return decideSent(found as Match, wanted, given);
		case 'new':
		case undefined:
			return decideNew(order?.parts ?? [], wanted, given);
	}
}

/** Whether the gateway makes no second job of an order that is sent again: it has the same key and the same request. */
export const isRecognised = (
	{ order, by }: Match,
	{ idempotencyKey }: Pick<Wish, 'idempotencyKey'>,
): boolean =>
	by === 'request' && idempotencyKey !== undefined && order.idempotencyKey === idempotencyKey;

/** An order that was sent and may have been accepted. */
function decideSent(
	found: Match,
	{ wish, options }: Wanted,
	{ unguarded, isUnderWay, limit }: Circumstances,
): Decision {
	const { order, by } = found;
	const orders = [order];
	// Another run has sent it again, and its response may have arrived there.
	const mayBeAnswered = order.state === 'sent' && order.timesSent > 1;
	const { resendsLost = false } = options ?? {};
	if (isRecognised(found, wish)) {
		// If n8n was killed before it was sent, this makes its first job. The day counts it already;
		// `Plan` leaves it out of what the execution has ordered.
		const isFirst = order.state === 'sent' && (limit === 'limit' || limit === 'costLimit');
		return limited(isFirst ? limit : undefined, { do: 'sendUnderKey', order });
	}
	if (isUnderWay || (resendsLost && mayBeAnswered))
		return { do: 'refuse', because: 'sent', orders };
	if (resendsLost && limit === undefined) {
		if (unguarded === 'notRecorded') return { do: 'refuse', because: 'notRecorded', orders };
		return { do: 'send', parts: [] };
	}
	const ofSent = by === 'request' ? 'sent' : 'reworded';
	const because = order.state === 'lost' ? 'lost' : ofSent;
	return { do: 'refuse', because, orders, ...(resendsLost && { limit }) };
}

function decideNew(
	parts: object[],
	{ options, objection }: Wanted,
	{ unguarded, keyUse, unmatched, limit }: Circumstances,
): Decision {
	if (keyUse === 'unknown') return { do: 'refuse', because: 'keyUnknown' };
	if (keyUse === 'other') return { do: 'refuse', because: 'keyOfOther' };
	if (keyUse === 'same')
		return { do: options?.ifOrderedBefore === 'fail' ? 'refuse' : 'leaveOut', because: 'keyUsed' };
	if (objection) return { do: 'refuse', because: 'unusable' };
	if (unguarded) return { do: 'refuse', because: unguarded };
	if (unmatched === 'unknown' || unmatched.length > 0) {
		const orders = unmatched === 'unknown' ? [] : unmatched;
		const isDelivered = orders.some(({ state }) => state === 'answered');
		if (isDelivered || !options?.resendsLost) return { do: 'refuse', because: 'reworded', orders };
	}
	return limited(limit, { do: 'send', parts });
}

/** The decision, or a refusal where a limit does not allow it. */
const limited = (limit: LimitStatus, decision: Decision): Decision =>
	limit === undefined ? decision : { do: 'refuse', because: limit };
