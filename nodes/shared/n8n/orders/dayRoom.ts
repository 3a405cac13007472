import type { IExecuteFunctions } from 'n8n-workflow';
import { sumOf } from '../../gateway/prices';
import { clock } from '../client/httpClient';
import type { OrderOptions } from '../parameters/orderOptions';
import { dayOf, type Day } from './day';
import { costScale, DayLimit, orderScale } from './dayLimit';
import type { Room } from './decide';
import type { Order } from './order';
import { nodeIdOf, type Store } from './store';

/** An order that limits of the day may count. */
export interface DayClaimant {
	options?: OrderOptions;
	order: Pick<Order, 'cost'>;
	/** Whether the limits have room for it; undefined until they are asked. */
	roomOfDay?: Room;
	/** What it has claimed of them. */
	claims: Array<{ limit: DayLimit; amount: number }>;
}

const dayLimits = [
	{
		scale: orderScale,
		full: 'full',
		maxOf: ({ options }: DayClaimant) => options?.maxPerDay,
		amountOf: () => 1,
	},
	{
		scale: costScale,
		full: 'costly',
		maxOf: ({ options }: DayClaimant) => options?.maxCostPerDay,
		amountOf: ({ order }: DayClaimant) => order.cost ?? Infinity,
	},
] as const;

export const isLimitedByDay = (order: Pick<DayClaimant, 'options'>): boolean =>
	order.options?.maxPerDay !== undefined || order.options?.maxCostPerDay !== undefined;

/** The room that the limits of the day leave, for the orders of one run of the node. */
export class DayRoom {
	/** Whose orders are counted, once they are. */
	day?: Day;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: Store,
	) {}

	/** Claims room for each order. @throws whatever n8n does where there is no store, or no such time zone */
	async claim(orders: readonly DayClaimant[]): Promise<void> {
		const day = dayOf(clock.now(), this.context.getTimezone());
		this.day = day;
		for (const { scale, full, maxOf, amountOf } of dayLimits) {
			const limit = new DayLimit(this.store, nodeIdOf(this.context), day.name, scale);
			const having = orders.filter(({ roomOfDay = 'free' }) => roomOfDay === 'free');
			for (const [max, equal] of byLimit(having, maxOf)) {
				let left = await limit.claim(sumOf(equal.map(amountOf)), max);
				for (const order of equal) {
					const amount = amountOf(order);
					if (amount > left) {
						order.roomOfDay = full;
						continue;
					}
					left = sumOf([left, -amount]);
					order.claims.push({ limit, amount });
				}
				if (left > 0) await limit.giveBack(left);
			}
		}
		for (const order of orders) order.roomOfDay ??= 'free';
	}

	/** Returns what was claimed for orders that surely made nothing. */
	async release(orders: readonly DayClaimant[]): Promise<void> {
		const amounts = new Map<DayLimit, number>();
		for (const { limit, amount } of orders.flatMap(({ claims }) => claims.splice(0))) {
			amounts.set(limit, sumOf([amounts.get(limit) ?? 0, amount]));
		}
		for (const [limit, amount] of amounts) await limit.giveBack(amount);
	}
}

/** Orders that have the same limit; an expression may give each its own. */
function byLimit(
	orders: readonly DayClaimant[],
	maxOf: (order: DayClaimant) => number | undefined,
): Map<number, DayClaimant[]> {
	const groups = new Map<number, DayClaimant[]>();
	for (const order of orders) {
		const max = maxOf(order);
		if (max === undefined) continue;
		const group = groups.get(max);
		if (group) group.push(order);
		else groups.set(max, [order]);
	}
	return groups;
}
