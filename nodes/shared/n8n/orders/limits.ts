import { sumOf } from '../../service/prices';
import type { OrderOptions } from '../parameters/orderOptions';
import type { Total } from './order';

/** Why limits allow no order; undefined when they do. */
export type LimitStatus =
	'limit' | 'costLimit' | 'limitOfDay' | 'costLimitOfDay' | 'dayUnknown' | undefined;

/** What is counted at the moment in which an order is decided. */
export interface Counted {
	/** Of the node in the execution and all its Retries. */
	execution: Total;
	/** Of the node in the day, across all executions; undefined when it cannot be looked up. */
	day: Total | undefined;
}

export const hasDailyLimit = (options: OrderOptions | undefined): boolean =>
	options?.maxPerDay !== undefined || options?.maxCostPerDay !== undefined;

/**
 * Whether the limits allow one sending more. A limit of orders allows it only if fewer than its number are counted at
 * that moment, whatever limit they were sent under; a limit of cost, if the sum stays within it.
 */
export function limitStatus(
	options: OrderOptions | undefined,
	cost: number | undefined,
	{ execution, day }: Counted,
): LimitStatus {
	const { max = Infinity, maxCost, maxPerDay = Infinity, maxCostPerDay } = options ?? {};
	const exceeds = (spent: number, limit: number | undefined) =>
		limit !== undefined && sumOf([spent, cost ?? Infinity]) > sumOf([limit]);
	if (execution.orders >= max) return 'limit';
	if (exceeds(execution.cost, maxCost)) return 'costLimit';
	if (!hasDailyLimit(options)) return undefined;
	if (day === undefined) return 'dayUnknown';
	if (day.orders >= maxPerDay) return 'limitOfDay';
	return exceeds(day.cost, maxCostPerDay) ? 'costLimitOfDay' : undefined;
}
