import { clock } from '../client/httpClient';
import type { Limit } from '../parameters/orderOptions';
import { isReal, type Line } from './line';
import { dateOf, PeriodCount, wholeLimit, type LastingPeriod } from './periodCount';
import type { Places } from './places';
import { nodeIdOf, type ProcessedItems } from './store';
import type { Row } from './write';
import type { IExecuteFunctions } from 'n8n-workflow';

interface CountedNode {
	context: IExecuteFunctions;
	store: ProcessedItems;
	/** Whether its orders are videos, which count also without a limit, so that a limit that is set later counts them. */
	isTraced: boolean;
}

/** What days and months count of the orders of a run. */
export class Counts {
	private readonly all: readonly PeriodCount[];

	/** @param lines whose limits are counted */
	constructor(lines: readonly Line[], { context, store, isTraced }: CountedNode) {
		const counts = new Map<string, PeriodCount>();
		const add = (
			period: LastingPeriod,
			limits: Array<Pick<Limit, 'of' | 'max'>>,
			subject?: string,
		) => {
			const key = `${period} ${subject ?? ''}`;
			if (counts.has(key)) return;
			const date = dateOf(period, clock.now(), context.getTimezone());
			const of = { node: nodeIdOf(context), period, date, subject, limits };
			counts.set(key, new PeriodCount(store, of));
		};
		for (const { options, wish } of lines) {
			for (const period of ['day', 'month'] as const) {
				const limits = options?.limits.filter((limit) => limit.period === period) ?? [];
				if (limits.length === 0) continue;
				add(period, limits, wish.subject);
				if (wish.subject !== undefined) add(period, [wholeLimit]);
			}
		}
		const isOrdering = lines.some((line) => isReal(line) && !line.options?.releasesKey);
		if (isTraced && isOrdering) add('day', []);
		this.all = [...counts.values()];
	}

	get isEmpty(): boolean {
		return this.all.length === 0;
	}

	/** @param subject see `Wish.subject` */
	find(period: LastingPeriod, subject?: string): PeriodCount | undefined {
		return this.all.find(({ of }) => of.period === period && of.subject === subject);
	}

	private get rows(): Places[] {
		return this.all.flatMap((count) => count.rows);
	}

	/** The rows that decide whether a limit allows an order. */
	get limitedRows(): Places[] {
		return this.all.flatMap(({ limitedRows }) => limitedRows);
	}

	/** Whether it is known what others have ordered. */
	get areKnown(): boolean {
		const { rows } = this;
		return rows.length > 0 && rows.every((row) => row.others !== undefined);
	}

	/** Whether n8n's store may drop orders of a subject if so many more are placed: see {@link wholeLimit}. */
	exceedsStore(orders: number): boolean {
		return this.all.some(
			({ of, others }) => of.limits.includes(wholeLimit) && others.orders + orders > wholeLimit.max,
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
		return this.all.flatMap((count) => {
			const needed = count.needed(count.sentBy(lines));
			return count.rows.map((row, at): Row => [row, needed[at]]);
		});
	}

	/** The run has ordered these lines in all. */
	spend(lines: readonly Line[]): void {
		for (const count of this.all) count.spend(count.sentBy(lines));
	}
}
