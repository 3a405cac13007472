import type { Failure } from '../../service/errors/gatewayError';
import type { OrderOptions } from '../parameters/orderOptions';
import type { LimitStatus } from './limits';
import type { Match } from './match';
import type { Answered, Order, Wish } from './order';

/** See `Line`. */
interface Wanted {
	wish: Pick<Wish, 'parameters' | 'idempotencyKey'>;
	found?: Match;
	options?: Pick<OrderOptions, 'ifOrderedBefore' | 'releasesKey' | 'resendsLost'>;
	objection?: Failure;
}

export interface Circumstances {
	/** Why n8n's database does not guard it: it cannot record it, or does not say what earlier tries have sent. */
	unguarded?: 'notRecorded' | 'triesUnknown';
	/** Whether its Order Key was used for the same or another request. `free` also without a key. */
	keyUse: 'free' | 'same' | 'other' | 'unknown';
	/** Earlier orders that may be this one in other words. `unknown`: only their number is known. */
	unmatched: readonly Order[] | 'unknown';
	/** Whether another run is sending it right now. */
	isUnderWay: boolean;
	limit: LimitStatus;
}

export type Decision =
	| { do: 'send'; parts: object[] }
	/** Sent again with its idempotency key, so that the gateway makes no second job. */
	| { do: 'sendUnderKey'; order: Order }
	| { do: 'reuse'; order: Answered }
	/** The item orders nothing, and does not fail. */
	| { do: 'leaveOut'; because: 'keyUsed' | 'keyReleased' }
	/** `orders`: the earlier ones that are the reason. `limit`: why it is not sent again, although the user wants that. */
	| { do: 'refuse'; because: Reason; orders?: readonly Order[]; limit?: LimitStatus };

export type Reason =
	/** It was sent, and its response was lost. */
	| 'lost'
	/** It was sent, and nothing else is known. */
	| 'sent'
	/** An earlier try sent an order that may be this one in other words. */
	| 'reworded'
	| 'keyUsed'
	| 'keyOfOther'
	| 'keyUnknown'
	/** A file that it needs surely cannot be used. */
	| 'unusable'
	| NonNullable<LimitStatus>
	| NonNullable<Circumstances['unguarded']>
	/** The list has more orders than n8n's store can hold. */
	| 'tooMany'
	/** The record of orders that n8n stored with the execution cannot be read. */
	| 'unreadable';

/** Decides about an order. Pure. Every rule about charging twice is a row of its test. */
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

/** Whether the gateway makes no second job when it is sent again, with the same key and the same request. */
export const isRecognised = (
	{ order, by }: Match,
	{ idempotencyKey }: Pick<Wish, 'idempotencyKey'>,
): boolean =>
	by === 'request' && idempotencyKey !== undefined && order.idempotencyKey === idempotencyKey;

function decideSent(
	found: Match,
	{ wish, options }: Wanted,
	{ unguarded, isUnderWay, limit }: Circumstances,
): Decision {
	const { order, by } = found;
	const orders = [order];
	// The response may have arrived in the other run that sent it again.
	const mayBeAnswered = order.state === 'sent' && order.timesSent > 1;
	const { resendsLost = false } = options ?? {};
	if (isRecognised(found, wish)) {
		// After a kill before it was sent, this makes its first job. The day counts it already, the execution does not.
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

const limited = (limit: LimitStatus, decision: Decision): Decision =>
	limit === undefined ? decision : { do: 'refuse', because: limit };
