import { sumOf } from '../../service/prices';
import type { Limit, OrderOptions, Period } from '../parameters/orderOptions';
import { addTotals, totalOf, type Total } from './order';

const suffixes = { execution: '', day: 'OfDay', month: 'OfMonth' } as const;

/** A limit that allows no order, by its name in the log and the messages. */
export type LimitReason = `${'limit' | 'costLimit'}${(typeof suffixes)[Period]}`;

/** Why limits allow no order; undefined when they do. */
export type LimitStatus = LimitReason | 'dayUnknown' | 'countFull' | undefined;

export interface Usage {
	limit: Limit;
	/** The value of Count For. */
	subject?: string;
	used: number;
}

export const reasonOf = ({ of, period }: Limit): LimitReason =>
	`${of === 'orders' ? 'limit' : 'costLimit'}${suffixes[period]}`;

/** Whether other executions count, too. */
export const isLasting = ({ period }: Limit): boolean => period !== 'execution';

/** The sums that limits count, while orders are decided one after the other. */
export class Tally {
	/**
	 * @param used by period; undefined where it cannot be looked up
	 * @param isFull whether so many orders were placed that n8n's store may have dropped some that count
	 */
	constructor(
		private readonly used: Record<Period, Total | undefined>,
		private readonly isFull: boolean,
	) {}

	usedOf({ of, period }: Limit): number | undefined {
		return this.used[period]?.[of];
	}

	/** Counts an order that is sent. @param earlierTimes how often earlier tries did, which days and months have counted */
	add(order: { cost?: number; times: number; earlierTimes: number }): void {
		const { used } = this;
		const { cost, times, earlierTimes } = order;
		for (const period of ['execution', 'day', 'month'] as const) {
			const timesSent = times + (period === 'execution' ? earlierTimes : 0);
			const total = used[period];
			used[period] = total && addTotals(total, totalOf([{ cost, timesSent }]));
		}
	}

	/** Whether the limits allow one order more, on top of all that counts now, whatever limit it was sent under. */
	status(options: OrderOptions | undefined, cost = Infinity): LimitStatus {
		for (const limit of options?.limits ?? []) {
			const used = this.usedOf(limit);
			if (used === undefined) return 'dayUnknown';
			if (isLasting(limit) && this.isFull) return 'countFull';
			const next = limit.of === 'orders' ? 1 : cost;
			if (sumOf([used, next]) > sumOf([limit.max])) return reasonOf(limit);
		}
		return undefined;
	}
}
