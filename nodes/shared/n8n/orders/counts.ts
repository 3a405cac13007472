import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import { countOf, type Count, type LastingPeriod } from './count';
import { sentTotalOf, type Line } from './line';
import type { Total } from './order';
import type { Places } from './places';
import { nodeIdOf, type ProcessedItems } from './store';
import type { Row } from './write';

/**
 * How many orders a node may have in a day or month in which something is counted separately. With more, n8n's store may
 * have dropped early ones of a client that has ordered nothing since.
 */
export const maxCountedSeparately = 1_500;

/** The day of a workflow in its time zone, such as `2026-11-24`, or its month. @param time milliseconds since 1970 */
export function dateOf(period: LastingPeriod, time: number, timeZone: string): string {
	const numbers = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
	const format = new Intl.DateTimeFormat('en', { timeZone, ...numbers });
	const [month, day, year] = format.format(time).split('/');
	return period === 'day' ? `${year}-${month}-${day}` : `${year}-${month}`;
}

/** What days and months count of the orders of a run. */
export class Counts {
	private readonly all = new Map<string, Count>();

	/**
	 * @param lines whose limits are counted
	 * @param isTraced whether they are videos, which count also without a limit, so that a limit that is set later counts
	 * them
	 */
	constructor(
		lines: readonly Line[],
		private readonly of: { context: IExecuteFunctions; store: ProcessedItems; isTraced: boolean },
	) {
		for (const { options, wish } of lines)
			for (const period of ['day', 'month'] as const) {
				const limits = options?.limits.filter((limit) => limit.period === period) ?? [];
				if (limits.length === 0) continue;
				for (const of of ['orders', 'cost'] as const) {
					const amounts = limits.filter((limit) => limit.of === of).map(({ max }) => max);
					const max = amounts.length > 0 ? Math.min(...amounts) : undefined;
					if (of === 'orders' || max !== undefined)
						this.add({ of, period, subject: wish.subject, max });
				}
				if (wish.subject !== undefined)
					this.add({ of: 'orders', period, max: maxCountedSeparately });
			}
		const isOrdering = lines.some((line) => !line.isPreview && !line.options?.releasesKey);
		if (of.isTraced && isOrdering) this.add({ of: 'orders', period: 'day' });
	}

	private add(what: Pick<Count['what'], 'of' | 'period' | 'subject' | 'max'>): void {
		const { context, store } = this.of;
		const key = `${what.period} ${what.of} ${what.subject ?? ''}`;
		if (this.all.has(key)) return;
		const date = dateOf(what.period, clock.now(), context.getTimezone());
		this.all.set(key, countOf(store, { ...what, date, node: nodeIdOf(context) }));
	}

	get isEmpty(): boolean {
		return this.all.size === 0;
	}

	private get rows(): Places[] {
		return [...this.all.values()].map(({ places }) => places);
	}

	/** The rows that decide whether a limit allows an order. */
	get limitedRows(): Places[] {
		return [...this.all.values()].flatMap(({ what, places }) =>
			what.max === undefined ? [] : places,
		);
	}

	/** Whether it is known what others have ordered. */
	get areKnown(): boolean {
		const { rows } = this;
		return rows.length > 0 && rows.every((row) => row.others !== undefined);
	}

	/** What others have ordered, of what is limited. @param subject see `Wish.subject` */
	othersIn(period: LastingPeriod, subject?: string): Total {
		const others = (of: 'orders' | 'cost') =>
			this.all.get(`${period} ${of} ${subject ?? ''}`)?.others;
		return { orders: others('orders') ?? 0, cost: others('cost') ?? 0 };
	}

	/** Whether n8n's store may drop orders of a subject if so many more are placed. */
	exceedsStore(orders: number): boolean {
		return [...this.all.values()].some(
			({ what, others }) =>
				what.subject === undefined &&
				what.max === maxCountedSeparately &&
				others + orders > what.max,
		);
	}

	/**
	 * Looks up what has a limit, and once in each process the rest: a place that was not looked up cannot be given back
	 * if n8n's database fails, because it may be that of another run.
	 */
	async count(): Promise<void> {
		const limited = new Set(this.limitedRows);
		for (const row of this.rows)
			if (limited.has(row) || row.others === undefined) await row.count();
	}

	/** Looks up once more what has a limit. */
	async recount(): Promise<void> {
		for (const row of this.limitedRows) await row.recount();
	}

	/** The rows, and how many places these lines need in each. */
	rowsOf(lines: readonly Line[]): Row[] {
		return [...this.all.values()].map((count) => [
			count.places,
			count.needed(sentTotalOf(lines, count.what.subject)),
		]);
	}

	/** The run has ordered these lines in all. */
	spend(lines: readonly Line[]): void {
		for (const count of this.all.values()) count.spend(sentTotalOf(lines, count.what.subject));
	}
}
