import type { IExecuteFunctions } from 'n8n-workflow';
import { sumOf } from '../../service/prices';
import { clock } from '../client/httpClient';
import { NewestEntries, remembered } from '../execution/processMemory';
import { maxOrdersCounted, type Limit, type Period } from '../parameters/orderOptions';
import { sentTotalOf, type Line } from './line';
import { timeZoneOf } from './messages';
import type { Total } from './order';
import { Places } from './places';
import type { ProcessedItems } from './store';
import { nodeIdOf } from './storeCalls';
import type { Row } from './write';

export type LastingPeriod = Exclude<Period, 'execution'>;

interface Counted {
	of: Limit['of'];
	period: LastingPeriod;
	/** See `Wish`. */
	subject?: string;
	/** The limit; undefined where orders are counted for limits that are set later. */
	max?: number;
}

/** Places of a limit of cost. */
const parts = 100;

const maxRows = 1_000;

/** By the name of a row: the cost that it stood for when it had this many places. */
const spent = () =>
	remembered('spent', () => new NewestEntries<{ places: number; cost: number }>(maxRows));

/** By what was counted: the last day or month whose cost was counted, and all values of its row. */
const lastCosts = () =>
	remembered('costs', () => new NewestEntries<{ date: string; values: string[] }>(maxRows));

/**
 * Counts the orders of a node in one day or month, or their cost, in all executions and workers: a row of places.
 *
 * Each order has a place. A cost has a place for each hundredth of its limit that it begins, so another limit begins a new
 * count. A process knows exactly what it has spent itself; of others, it knows the places.
 */
export class Count {
	readonly places: Places;
	private readonly name: string;
	/** The cost of the orders of this run, and how many places it had then. */
	private own = { places: 0, cost: 0 };

	/** @param what with the day or month, see {@link dateOf}, and the node, see `nodeIdOf` */
	constructor(
		store: ProcessedItems,
		readonly what: Counted & { date: string; node: string },
	) {
		const { of, period, node, date, subject, max } = what;
		const row = [period, node, date, ...(subject ? [subject] : [])].join(' ');
		this.name = of === 'orders' ? row : `${row} cost ${max}`;
		const places = of === 'orders' ? maxOrdersCounted : parts;
		this.places = new Places(store, this.name, { isContended: true, max: places });
		if (of === 'orders') return;
		// The row of an earlier day or month would only push out what still counts.
		const counted = [period, node, subject].join(' ');
		const last = lastCosts().get(counted);
		if (last && last.date < date) store.removeLater(last.values);
		lastCosts().set(counted, { date, values: this.places.valuesUpTo(parts) });
	}

	/** Orders of others, or their cost, as far as this process knows. */
	get others(): number {
		const { what, own, places, name } = this;
		if (what.of === 'orders') return places.others ?? 0;
		const known = spent().get(name) ?? { places: 0, cost: 0 };
		const moved = (places.others ?? 0) - (known.places - own.places);
		return sumOf([Math.max(0, known.cost - own.cost + (moved * (what.max ?? 0)) / parts)]);
	}

	/** How many places this run needs. @param total what it orders in all */
	needed({ orders, cost }: Total): number {
		const { of, max = 0 } = this.what;
		if (of === 'orders') return orders;
		const share = max === 0 ? 0 : (this.others + cost) / max;
		// Without the error of binary fractions.
		const all = Math.ceil(Number((parts * share).toFixed(6)));
		return Math.max(0, all - (this.places.others ?? 0));
	}

	/** @param total what this run has ordered in all */
	spend(total: Total): void {
		const { what, others, places } = this;
		if (what.of === 'orders') return;
		this.own = { places: places.taken, cost: total.cost };
		const all = (places.others ?? 0) + places.taken;
		spent().set(this.name, { places: all, cost: others + total.cost });
	}
}

/**
 * How many orders a node may have in a day or month with Count For. With more, n8n's store may have dropped early ones of a
 * client that has ordered nothing since.
 */
export const maxCountedSeparately = 1_500;

/** The day of a workflow in its time zone, such as `2026-11-24`, or its month. @param time milliseconds since 1970 */
export function dateOf(period: LastingPeriod, time: number, timeZone: string): string {
	const numbers = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
	const format = new Intl.DateTimeFormat('en', { timeZone, ...numbers });
	const [month, day, year] = format.format(time).split('/');
	return period === 'day' ? `${year}-${month}-${day}` : `${year}-${month}`;
}

const nameOf = ({ of, period, subject }: Counted): string => [of, period, subject].join(' ');

/** The days and months that count the orders of a run. */
export class Counts {
	private lines: readonly Line[] = [];
	private readonly byName = new Map<string, Count>();
	/** The periods with Count For. */
	private readonly separate = new Set<LastingPeriod>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: ProcessedItems,
		/** Whether the orders are videos, which count also without a limit: it may be set later. */
		private readonly isTraced: boolean,
	) {}

	/** @param lines all that may be ordered */
	begin(lines: readonly Line[]): void {
		const { context, store, isTraced } = this;
		this.lines = lines;
		const all = new Map<string, Counted>();
		const add = (what: Counted) => {
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
				// A limit on orders may be set later.
				add({ of: 'orders', period, subject });
				if (subject === undefined) continue;
				add({ of: 'orders', period, max: maxCountedSeparately });
				this.separate.add(period);
			}
		}
		const isOrdering = lines.some((line) => !line.isPreview && !line.options?.releasesKey);
		if (isTraced && isOrdering) add({ of: 'orders', period: 'day' });
		const now = clock.now();
		for (const [name, what] of all) {
			const date = dateOf(what.period, now, timeZoneOf(context));
			this.byName.set(name, new Count(store, { ...what, date, node: nodeIdOf(context) }));
		}
	}

	get isEmpty(): boolean {
		return this.byName.size === 0;
	}

	private get counts(): Count[] {
		return [...this.byName.values()];
	}

	/** The rows that decide whether a limit allows an order. */
	get limitedRows(): Places[] {
		return this.counts.flatMap(({ what, places }) => (what.max === undefined ? [] : places));
	}

	get areKnown(): boolean {
		const { counts } = this;
		return counts.length > 0 && counts.every(({ places }) => places.others !== undefined);
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

	/** Whether n8n's store may drop orders of a subject once this run places all that may be new. */
	get isFull(): boolean {
		const mayBeNew = this.lines.filter(({ found, isPreview }) => !found && !isPreview).length;
		return [...this.separate].some((period) => {
			const { others = 0 } = this.find('orders', period) ?? {};
			return others + mayBeNew > maxCountedSeparately;
		});
	}

	/**
	 * Looks up the rows that have a limit, and once in each process the others: if n8n's database fails, a place that was not
	 * looked up cannot be given back, because it may be that of another run.
	 */
	async count(): Promise<void> {
		for (const { what, places } of this.counts)
			if (what.max !== undefined || places.others === undefined) await places.count();
	}

	/** Looks up the limited rows from their first place. */
	async recount(): Promise<void> {
		for (const row of this.limitedRows) await row.count(true);
	}

	rowsOf(lines: readonly Line[]): Row[] {
		return this.counts.map((count) => [
			count.places,
			count.needed(sentTotalOf(lines, count.what.subject)),
		]);
	}

	spend(lines: readonly Line[]): void {
		for (const count of this.counts) count.spend(sentTotalOf(lines, count.what.subject));
	}
}
