import { sumOf } from '../../service/prices';
import { NewestEntries, remembered } from '../execution/processMemory';
import { maxOrdersCounted, type Limit, type Period } from '../parameters/orderOptions';
import { sentTotalOf, type Line } from './line';
import type { Total } from './order';
import { Places } from './places';
import type { ProcessedItems } from './store';

/** Into how many parts a limit of cost is divided. */
const parts = 100;

/** How many rows of costs, and how many nodes, this process remembers. */
const maxRows = 1_000;

/** By the name of a row: the cost that it stood for when it had this many places. */
const spent = () =>
	remembered('spent', () => new NewestEntries<{ places: number; cost: number }>(maxRows));

/** By what was counted: the last day or month whose cost was counted, and what its row has in n8n's store. */
const lastCosts = () =>
	remembered('costs', () => new NewestEntries<{ date: string; values: string[] }>(maxRows));

/** The day of a workflow in its time zone, such as `2026-11-24`, or its month. @param time milliseconds since 1970 */
export function dateOf(period: LastingPeriod, time: number, timeZone: string): string {
	const numbers = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
	const format = new Intl.DateTimeFormat('en', { timeZone, ...numbers });
	const [month, day, year] = format.format(time).split('/');
	return period === 'day' ? `${year}-${month}-${day}` : `${year}-${month}`;
}

/**
 * A row of costs, where each place is a hundredth of the limit. It has so many places that they cover the cost. What a
 * process has ordered itself, it knows exactly; of others, it knows the places.
 */
class CostPlaces {
	readonly places: Places;
	/** What this run has spent, and how many places it had then. */
	private own = { places: 0, cost: 0 };

	constructor(
		store: ProcessedItems,
		private readonly name: string,
		private readonly limit: number,
	) {
		this.places = new Places(store, name, { isContended: true, max: parts });
	}

	/** What others have spent. */
	get others(): number {
		const { own, places, limit } = this;
		const known = spent().get(this.name) ?? { places: 0, cost: 0 };
		const moved = (places.others ?? 0) - (known.places - own.places);
		return sumOf([Math.max(0, known.cost - own.cost + (moved * limit) / parts)]);
	}

	/** How many places this run needs for its cost. */
	needed(cost: number): number {
		const share = this.limit === 0 ? 0 : (this.others + cost) / this.limit;
		// Without the error of binary fractions.
		const all = Math.ceil(Number((parts * share).toFixed(6)));
		return Math.max(0, all - (this.places.others ?? 0));
	}

	/** This run has spent this in all. */
	spend(cost: number): void {
		const { others, places } = this;
		this.own = { places: places.taken, cost };
		spent().set(this.name, {
			...{ places: (places.others ?? 0) + places.taken, cost: others + cost },
		});
	}
}

export type LastingPeriod = Exclude<Period, 'execution'>;

/**
 * How many orders a node may have in a day or month in which something is counted separately. With more, n8n's store may
 * have dropped early ones of a client that has ordered nothing since.
 */
export const maxCountedSeparately = 1_500;

/** The limit of all orders of the node, next to those of what is counted separately. */
export const wholeLimit = { of: 'orders', max: maxCountedSeparately } as const;

interface CountOf {
	/** See `nodeIdOf`. */
	node: string;
	period: LastingPeriod;
	/** The day or month. */
	date: string;
	/** Hash of what is counted, such as that of a client; undefined: all orders of the node are. */
	subject?: string;
	/** The limits of what is counted. */
	limits: ReadonlyArray<Pick<Limit, 'of' | 'max'>>;
}

/**
 * What a node has ordered in one day or month, in all executions and workers. Orders and cost have a row of places each.
 * The row of the cost belongs to one amount of the limit: another amount begins a new count.
 */
export class PeriodCount {
	private readonly orders: Places;
	private readonly cost?: CostPlaces;

	constructor(
		store: ProcessedItems,
		readonly of: CountOf,
	) {
		const { node, period, date, subject } = of;
		const name = [period, node, date, ...(subject ? [subject] : [])].join(' ');
		this.orders = new Places(store, name, { isContended: true, max: maxOrdersCounted });
		const maxCost = this.least('cost');
		if (maxCost === undefined) return;
		this.cost = new CostPlaces(store, `${name} cost ${maxCost}`, maxCost);
		// The row of an earlier time would only push out Order Keys.
		const counted = [period, node, subject].join(' ');
		const last = lastCosts().get(counted);
		// A clock that is set back does not end a day.
		if (last && last.date > date) return;
		if (last && last.date < date) store.removeLater(last.values);
		lastCosts().set(counted, { date, values: this.cost.places.valuesUpTo(parts) });
	}

	/** The limit that is reached first. */
	private least(of: Limit['of']): number | undefined {
		const all = this.of.limits.filter((limit) => limit.of === of).map(({ max }) => max);
		return all.length > 0 ? Math.min(...all) : undefined;
	}

	get rows(): Places[] {
		return this.cost ? [this.orders, this.cost.places] : [this.orders];
	}

	/** Those that have a limit. */
	get limitedRows(): Places[] {
		const isLimited = this.least('orders') !== undefined;
		return this.rows.filter((row) => row !== this.orders || isLimited);
	}

	get isLimited(): boolean {
		return this.limitedRows.length > 0;
	}

	/** What others have ordered, as far as this process knows. */
	get others(): Total {
		return { orders: this.orders.others ?? 0, cost: this.cost?.others ?? 0 };
	}

	/** What the run sends in all, of what is counted here. */
	sentBy(lines: readonly Line[]): Total {
		const { subject } = this.of;
		const isCounted = ({ wish }: Line) => subject === undefined || wish.subject === subject;
		return sentTotalOf(lines.filter(isCounted));
	}

	/** How many places this run needs in each of the rows. @param total what it orders in all */
	needed({ orders, cost }: Total): number[] {
		return this.cost ? [orders, this.cost.needed(cost)] : [orders];
	}

	/** This run has ordered this in all. */
	spend({ cost }: Total): void {
		this.cost?.spend(cost);
	}
}
