import type { LimitStatus } from './limits';
import type { Match } from './match';
import type { Answered, Order } from './order';

/** What decides about an order apart from what is known of it: the user's options, its Order Key, and the limits. */
export interface DecisionInput {
	/** Whether it is sent again when its response was lost. */
	resendsLost: boolean;
	/** The key by which the gateway recognises the order. */
	idempotencyKey?: string;
	/** See `Order.parameters`. */
	parameters: string;
	/**
	 * How other orders used its Order Key: not at all, for the same request, or for another one. `free` also without a
	 * key; `unknown` when n8n's database could not be read.
	 */
	keyUse: 'free' | 'same' | 'other' | 'unknown';
	/** What to do when its Order Key was used before. */
	ifOrderedBefore: 'skip' | 'drop' | 'fail';
	/** Whether to release its Order Key instead of ordering. */
	releasesKey: boolean;
	/**
	 * Earlier orders that may be this one in other words. `unknown`: there are such orders, and only their number is
	 * known. Counts only where nothing is known of this order.
	 */
	unmatched: readonly Order[] | 'unknown';
	/** Whether it would be ordered in vain. */
	hasObjection: boolean;
	/** Whether earlier tries can be looked up. */
	areTriesKnown: boolean;
	/** Whether n8n's database would record it, where n8n has one for the node. What is not recorded is not sent. */
	isRecordable: boolean;
	/** Whether another run is sending it right now. */
	isUnderWay: boolean;
	/** Whether the limits of the execution and of the day allow one order more. */
	limit: LimitStatus;
}

export type Decision =
	| { do: 'send'; parts: object[]; idempotencyKey?: string }
	/** Sent again with its idempotency key, so that the gateway makes no second job. */
	| { do: 'sendUnderKey'; order: Order; idempotencyKey: string }
	| { do: 'reuse'; order: Answered }
	/** Nothing is ordered, but the item does not fail. */
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
	/** Its Order Key was used for another order. */
	| 'keyOfOther'
	| 'keyUnknown'
	/** A file that it needs surely cannot be used. */
	| 'unusable'
	| NonNullable<LimitStatus>
	/** Earlier tries cannot be looked up. */
	| 'triesUnknown'
	/** n8n's database cannot record it. */
	| 'notRecorded'
	/** The list has more orders than n8n's store can hold. */
	| 'tooMany'
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
	const { order, by } = found ?? {};
	switch (order?.state) {
		case 'answered':
			if (by === 'key' && order.parameters !== input.parameters)
				return { do: 'refuse', because: 'keyOfOther' };
			return { do: 'reuse', order };
		case 'sent':
		case 'lost':
			return decideSent(found as Match, input);
		case 'new':
		case undefined:
			return decideNew(order?.parts ?? [], input);
	}
}

/** An order that was sent and may have been accepted. */
function decideSent({ order, by }: Match, input: DecisionInput): Decision {
	const { resendsLost, idempotencyKey, isRecordable, limit } = input;
	const orders = [order];
	// The gateway recognises it only when both the key and the request are the same.
	const isRecognised = by === 'request' && order.idempotencyKey === idempotencyKey;
	if (isRecognised && idempotencyKey !== undefined) {
		// If n8n was killed before it was sent, this makes its first job. The day counts it already.
		const isFirst = order.state === 'sent' && (limit === 'limit' || limit === 'costLimit');
		return limited(isFirst ? limit : undefined, { do: 'sendUnderKey', order, idempotencyKey });
	}
	if (input.isUnderWay) return { do: 'refuse', because: 'sent', orders };
	if (resendsLost && limit === undefined) {
		if (!isRecordable) return { do: 'refuse', because: 'notRecorded', orders };
		return { do: 'send', parts: [], idempotencyKey };
	}
	const ofSent = by === 'request' ? 'sent' : 'reworded';
	const because = order.state === 'lost' ? 'lost' : ofSent;
	return { do: 'refuse', because, orders, ...(resendsLost && { limit }) };
}

function decideNew(parts: object[], input: DecisionInput): Decision {
	const { keyUse, ifOrderedBefore, idempotencyKey, resendsLost, unmatched } = input;
	if (keyUse === 'unknown') return { do: 'refuse', because: 'keyUnknown' };
	if (keyUse === 'other') return { do: 'refuse', because: 'keyOfOther' };
	if (keyUse === 'same')
		return { do: ifOrderedBefore === 'fail' ? 'refuse' : 'leaveOut', because: 'keyUsed' };
	if (input.hasObjection) return { do: 'refuse', because: 'unusable' };
	if (!input.isRecordable) return { do: 'refuse', because: 'notRecorded' };
	if (!input.areTriesKnown) return { do: 'refuse', because: 'triesUnknown' };
	if (unmatched === 'unknown' || unmatched.length > 0) {
		const orders = unmatched === 'unknown' ? [] : unmatched;
		const isDelivered = orders.some(({ state }) => state === 'answered');
		if (isDelivered || !resendsLost) return { do: 'refuse', because: 'reworded', orders };
	}
	return limited(input.limit, { do: 'send', parts, idempotencyKey });
}

/** The decision, or a refusal where a limit does not allow it. */
const limited = (limit: LimitStatus, decision: Decision): Decision =>
	limit === undefined ? decision : { do: 'refuse', because: limit };
