import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import type { Limit } from '../parameters/orderOptions';
import { countOf, type Count, type LastingPeriod } from './count';
import { sentTotalOf, type Line } from './line';
import { timeZoneOf } from './messages';
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

interface Settings {
	context: IExecuteFunctions;
	store: ProcessedItems;
	isTraced: boolean;
}

type What = Pick<Count['what'], 'of' | 'period' | 'subject' | 'max'>;

const nameOf = ({ of, period, subject }: What): string => [of, period, subject].join(' ');

/** The days and months that count the orders of a run. */
export class Counts {
	private readonly byName: ReadonlyMap<string, Count>;
	/** The periods in which something is counted separately. */
	private readonly separate = new Set<LastingPeriod>();

	/**
	 * @param lines whose limits are counted
	 * @param isTraced whether they are videos, which count also without a limit, so that a limit that is set later counts
	 * them
	 */
	constructor(
		private readonly lines: readonly Line[],
		{ context, store, isTraced }: Settings,
	) {
		const all = new Map<string, What>();
		const add = (what: What) => {
			const name = nameOf(what);
			// Items of one run may have different limits.
			const given = [what.max, all.get(name)?.max].filter((max) => max !== undefined);
			all.set(name, { ...what, max: given.length > 0 ? Math.min(...given) : undefined });
		};
		for (const { options, wish } of lines) {
			const { subject } = wish;
			for (const { of, period, max } of options?.limits ?? []) {
				if (period === 'execution') continue;
				add({ of, period, subject, max });
				// Counted beside the cost, so that a limit that is set later counts them.
				add({ of: 'orders', period, subject });
				if (subject === undefined) continue;
				add({ of: 'orders', period, max: maxCountedSeparately });
				this.separate.add(period);
			}
		}
		const isOrdering = lines.some((line) => !line.isPreview && !line.options?.releasesKey);
		if (isTraced && isOrdering) add({ of: 'orders', period: 'day' });
		const now = clock.now();
		const of = (what: What) => {
			const date = dateOf(what.period, now, timeZoneOf(context));
			return countOf(store, { ...what, date, node: nodeIdOf(context) });
		};
		this.byName = new Map([...all].map(([name, what]) => [name, of(what)]));
	}

	get isEmpty(): boolean {
		return this.byName.size === 0;
	}

	private get counts(): Count[] {
		return [...this.byName.values()];
	}

	private get rows(): Places[] {
		return this.counts.map(({ places }) => places);
	}

	/** The rows that decide whether a limit allows an order. */
	get limitedRows(): Places[] {
		return this.counts.flatMap(({ what, places }) => (what.max === undefined ? [] : places));
	}

	/** Whether it is known what others have ordered. */
	get areKnown(): boolean {
		const { rows } = this;
		return rows.length > 0 && rows.every((row) => row.others !== undefined);
	}

	/** The orders of others, as far as this process knows; undefined, or with an infinite cost, where none are counted. */
	othersIn(period: LastingPeriod, subject?: string): Total | undefined {
		const orders = this.find('orders', period, subject);
		const cost = this.find('cost', period, subject);
		return orders && { orders: orders.others, cost: cost?.others ?? Infinity };
	}

	private find(of: Limit['of'], period: LastingPeriod, subject?: string): Count | undefined {
		return this.byName.get(nameOf({ of, period, subject }));
	}

	/** Whether n8n's store may drop orders of a subject, if this run places all that may be new. */
	get isFull(): boolean {
		const mayBeNew = this.lines.filter(({ found, isPreview }) => !found && !isPreview).length;
		return [...this.separate].some((period) => {
			const { others = 0 } = this.find('orders', period) ?? {};
			return others + mayBeNew > maxCountedSeparately;
		});
	}

	/**
	 * Looks up the rows that have a limit, and once in each process the others: a place that was not looked up cannot be
	 * given back if n8n's database fails, because it may be that of another run.
	 */
	async count(): Promise<void> {
		const limited = new Set(this.limitedRows);
		for (const row of this.rows)
			if (limited.has(row) || row.others === undefined) await row.count();
	}

	/** Looks up the limited rows from their first place. */
	async recount(): Promise<void> {
		for (const row of this.limitedRows) await row.recount();
	}

	/** The rows, and how many places these lines need in each. */
	rowsOf(lines: readonly Line[]): Row[] {
		return this.counts.map((count) => [
			count.places,
			count.needed(sentTotalOf(lines, count.what.subject)),
		]);
	}

	/** The run has ordered these lines in all. */
	spend(lines: readonly Line[]): void {
		for (const count of this.counts) count.spend(sentTotalOf(lines, count.what.subject));
	}
}
