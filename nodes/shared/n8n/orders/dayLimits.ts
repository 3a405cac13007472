import type { IExecuteFunctions } from 'n8n-workflow';
import { sumOf } from '../../gateway/prices';
import { clock } from '../client/httpClient';
import type { OrderOptions } from '../parameters/orderOptions';
import { dayOf, type Day } from './day';
import { costScale, DayLimit, orderScale } from './dayLimit';
import type { LimitStatus } from './decide';
import type { Order } from './order';
import { nodeIdOf, type Store } from './store';

/** An order to which daily limits may apply. */
export interface LimitedOrder {
	options?: OrderOptions;
	order: Pick<Order, 'cost'>;
	/** Whether the limits allow it; undefined until it has tried to claim its share. */
	dailyLimit?: LimitStatus;
	/** What it has claimed of each limit. */
	claims: Array<{ limit: DayLimit; amount: number }>;
}

const limitKinds = [
	{
		scale: orderScale,
		full: 'full',
		maxOf: ({ options }: LimitedOrder) => options?.maxPerDay,
		amountOf: () => 1,
	},
	{
		scale: costScale,
		full: 'costly',
		maxOf: ({ options }: LimitedOrder) => options?.maxCostPerDay,
		amountOf: ({ order }: LimitedOrder) => order.cost ?? Infinity,
	},
] as const;

export const hasDailyLimit = (order: Pick<LimitedOrder, 'options'>): boolean =>
	order.options?.maxPerDay !== undefined || order.options?.maxCostPerDay !== undefined;

/** The daily limits, for the orders of one run of the node. */
export class DayLimits {
	/** The day whose orders are counted; undefined before {@link claim}. */
	day?: Day;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: Store,
	) {}

	/** Claims a share of the limits for each order. @throws n8n's error where there is no store or no such time zone */
	async claim(orders: readonly LimitedOrder[]): Promise<void> {
		const day = dayOf(clock.now(), this.context.getTimezone());
		this.day = day;
		for (const { scale, full, maxOf, amountOf } of limitKinds) {
			const limit = new DayLimit(this.store, nodeIdOf(this.context), day.name, scale);
			const allowed = orders.filter(({ dailyLimit = 'free' }) => dailyLimit === 'free');
			for (const [max, equal] of byLimit(allowed, maxOf)) {
				let left = await limit.claim(sumOf(equal.map(amountOf)), max);
				for (const order of equal) {
					const amount = amountOf(order);
					if (amount > left) {
						order.dailyLimit = full;
						continue;
					}
					left = sumOf([left, -amount]);
					order.claims.push({ limit, amount });
				}
				if (left > 0) await limit.release(left);
			}
		}
		for (const order of orders) order.dailyLimit ??= 'free';
	}

	/** Releases what was claimed for orders that certainly made nothing. */
	async release(orders: readonly LimitedOrder[]): Promise<void> {
		const amounts = new Map<DayLimit, number>();
		for (const { limit, amount } of orders.flatMap(({ claims }) => claims.splice(0))) {
			amounts.set(limit, sumOf([amounts.get(limit) ?? 0, amount]));
		}
		for (const [limit, amount] of amounts) await limit.release(amount);
	}
}

/** Groups orders by their limit, since an expression may give each item its own. */
function byLimit(
	orders: readonly LimitedOrder[],
	maxOf: (order: LimitedOrder) => number | undefined,
): Map<number, LimitedOrder[]> {
	const groups = new Map<number, LimitedOrder[]>();
	for (const order of orders) {
		const max = maxOf(order);
		if (max === undefined) continue;
		const group = groups.get(max);
		if (group) group.push(order);
		else groups.set(max, [order]);
	}
	return groups;
}
