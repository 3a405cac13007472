import { sumOf } from '../../service/prices';
import type { Limit, OrderOptions, Period } from '../parameters/orderOptions';
import { addTotals, type Total } from './order';

/** By what a limit counts: what the log and the messages call it when it allows no order. */
const reasons = {
	orders: { execution: 'limit', day: 'limitOfDay', month: 'limitOfMonth' },
	cost: { execution: 'costLimit', day: 'costLimitOfDay', month: 'costLimitOfMonth' },
} as const satisfies Record<Limit['of'], Record<Period, string>>;

type OfOrders = (typeof reasons.orders)[Period];
export type LimitReason = OfOrders | (typeof reasons.cost)[Period];

/** Why limits allow no order; undefined when they do. */
export type LimitStatus = LimitReason | 'dayUnknown' | 'countFull' | undefined;

/** What is counted at the moment in which an order is decided, of what its limits count. */
export interface Counted {
	/** Of the node in the execution and all its Retries. */
	execution: Total;
	/** Of the node in a day or month, across all executions; undefined when it cannot be looked up. */
	day?: Total;
	month?: Total;
	/** Whether so many orders were placed that n8n's store may have dropped some that count. */
	isFull?: boolean;
}

/** How far a limit is used. */
export interface Usage {
	limit: Limit;
	/** What is counted separately; undefined: all orders are. */
	subject?: string;
	used: number;
}

export const reasonOf = ({ of, period }: Limit): LimitReason => reasons[of][period];

/** Whether other executions count, too. */
export const isLasting = ({ period }: Limit): boolean => period !== 'execution';

export const hasLastingLimit = (options: OrderOptions | undefined): boolean =>
	options?.limits.some(isLasting) ?? false;

/** @param ofExecution what more is counted in the execution @param lasting and in the day and month */
export const addCounted = (
	{ execution, day, month, isFull }: Counted,
	ofExecution: Total,
	lasting: Total,
): Counted => ({
	execution: addTotals(execution, ofExecution),
	day: day && addTotals(day, lasting),
	month: month && addTotals(month, lasting),
	isFull,
});

/**
 * Whether the limits allow one sending more. A limit of orders allows it only if fewer than its number are counted at
 * that moment, whatever limit they were sent under; a limit of cost, if the sum stays within it.
 */
export function limitStatus(
	options: OrderOptions | undefined,
	cost: number | undefined,
	counted: Counted,
): LimitStatus {
	for (const limit of options?.limits ?? []) {
		const total = counted[limit.period];
		if (total === undefined) return 'dayUnknown';
		if (isLasting(limit) && counted.isFull) return 'countFull';
		const isReached =
			limit.of === 'orders'
				? total.orders >= limit.max
				: sumOf([total.cost, cost ?? Infinity]) > sumOf([limit.max]);
		if (isReached) return reasonOf(limit);
	}
	return undefined;
}
