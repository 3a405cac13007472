import { sumOf } from '../../service/prices';
import { NewestEntries, remembered } from '../execution/processMemory';
import { maxOrdersCounted } from '../parameters/orderOptions';
import type { Total } from './order';
import { Places } from './places';
import type { ProcessedItems } from './store';

/** Into how many parts the limit of the cost of a day is divided. */
const parts = 100;

/** How many rows of costs, and how many nodes, this process remembers. */
const maxRows = 1_000;

/** By the name of a row: the cost that it stood for when it had this many places. */
const spent = () =>
	remembered('spent', () => new NewestEntries<{ places: number; cost: number }>(maxRows));

/** By node: the last day whose cost was counted, and what its row has in n8n's store. */
const lastCosts = () =>
	remembered('costs', () => new NewestEntries<{ day: string; values: string[] }>(maxRows));

/** The day of a workflow, in its time zone, such as `2026-11-24`. @param time milliseconds since 1970 */
export function dayOf(time: number, timeZone: string): string {
	const numbers = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
	const format = new Intl.DateTimeFormat('en', { timeZone, ...numbers });
	const [month, day, year] = format.format(time).split('/');
	return `${year}-${month}-${day}`;
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

/**
 * What a node has ordered in one day, in all executions and workers. Orders and cost have a row of places each. The row
 * of the cost belongs to one amount of the limit: another amount begins a new count.
 */
export class DayCount {
	private readonly orders: Places;
	private readonly cost?: CostPlaces;

	/** @param of the node, and its limits */
	constructor(
		store: ProcessedItems,
		day: string,
		private readonly of: { node: string; maxOrders?: number; maxCost?: number },
	) {
		const { node, maxCost } = of;
		const name = `day ${node} ${day}`;
		this.orders = new Places(store, name, { isContended: true, max: maxOrdersCounted });
		if (maxCost === undefined) return;
		this.cost = new CostPlaces(store, `${name} cost ${maxCost}`, maxCost);
		// The row of an earlier day would only push out Order Keys.
		const last = lastCosts().get(node);
		// A clock that is set back does not end a day.
		if (last && last.day > day) return;
		if (last && last.day < day) store.removeLater(last.values);
		lastCosts().set(node, { day, values: this.cost.places.valuesUpTo(parts) });
	}

	get rows(): Places[] {
		return this.cost ? [this.orders, this.cost.places] : [this.orders];
	}

	/** Those that have a limit. */
	get limitedRows(): Places[] {
		return this.rows.filter((row) => row !== this.orders || this.of.maxOrders !== undefined);
	}

	/** Looks up what has a limit. */
	async count(): Promise<void> {
		for (const row of this.limitedRows) await row.count();
	}

	/** The same for a run that has looked it up before. */
	async recount(): Promise<void> {
		for (const row of this.limitedRows) await row.recount();
	}

	/** What others have ordered, as far as this process knows. */
	get others(): Total {
		return { orders: this.orders.others ?? 0, cost: this.cost?.others ?? 0 };
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
