import { sumOf } from '../../service/prices';
import { NewestEntries, remembered } from '../execution/processMemory';
import { maxOrdersCounted, type Limit, type Period } from '../parameters/orderOptions';
import type { Total } from './order';
import { Places } from './places';
import type { ProcessedItems } from './store';

export type LastingPeriod = Exclude<Period, 'execution'>;

interface CountOf {
	of: Limit['of'];
	period: LastingPeriod;
	/** The day or month. */
	date: string;
	/** See `nodeIdOf`. */
	node: string;
	/** Hash of what is counted, such as that of a client; undefined: all orders of the node are. */
	subject?: string;
	/** The limit; undefined where orders are counted for limits that are set later. */
	max?: number;
}

/** Counts the orders of a node in one day or month, or their cost, in all executions and workers: a row of places. */
export interface Count {
	readonly what: CountOf;
	readonly places: Places;
	/** Orders of others, or their cost, as far as this process knows. */
	readonly others: number;
	/** How many places this run needs. @param total what it orders in all */
	needed(total: Total): number;
	/** This run has ordered this in all. */
	spend(total: Total): void;
}

export const countOf = (store: ProcessedItems, what: CountOf): Count =>
	what.of === 'orders' ? new OrderCount(store, what) : new CostCount(store, what);

const nameOf = ({ period, node, date, subject }: CountOf): string =>
	[period, node, date, ...(subject ? [subject] : [])].join(' ');

/** Each order has a place. */
class OrderCount implements Count {
	readonly places: Places;

	constructor(
		store: ProcessedItems,
		readonly what: CountOf,
	) {
		this.places = new Places(store, nameOf(what), { isContended: true, max: maxOrdersCounted });
	}

	get others(): number {
		return this.places.others ?? 0;
	}

	needed({ orders }: Total): number {
		return orders;
	}

	spend(): void {}
}

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

/**
 * Each place is a hundredth of the limit, and there are so many that they cover the cost. Another amount of the limit
 * begins a new count. What a process has ordered itself, it knows exactly; of others, it knows the places.
 */
class CostCount implements Count {
	readonly places: Places;
	private readonly name: string;
	private readonly max: number;
	/** The cost of the orders of this run, and how many places it had then. */
	private own = { places: 0, cost: 0 };

	constructor(
		store: ProcessedItems,
		readonly what: CountOf,
	) {
		const { period, node, subject, date, max = 0 } = what;
		this.max = max;
		this.name = `${nameOf(what)} cost ${max}`;
		this.places = new Places(store, this.name, { isContended: true, max: parts });
		// The row of an earlier time would only push out Order Keys.
		const counted = [period, node, subject].join(' ');
		const last = lastCosts().get(counted);
		// A clock that is set back does not end a day.
		if (last && last.date > date) return;
		if (last && last.date < date) store.removeLater(last.values);
		lastCosts().set(counted, { date, values: this.places.valuesUpTo(parts) });
	}

	get others(): number {
		const { own, places, max } = this;
		const known = spent().get(this.name) ?? { places: 0, cost: 0 };
		const moved = (places.others ?? 0) - (known.places - own.places);
		return sumOf([Math.max(0, known.cost - own.cost + (moved * max) / parts)]);
	}

	needed({ cost }: Total): number {
		const share = this.max === 0 ? 0 : (this.others + cost) / this.max;
		// Without the error of binary fractions.
		const all = Math.ceil(Number((parts * share).toFixed(6)));
		return Math.max(0, all - (this.places.others ?? 0));
	}

	spend({ cost }: Total): void {
		const { others, places } = this;
		this.own = { places: places.taken, cost };
		const all = (places.others ?? 0) + places.taken;
		spent().set(this.name, { places: all, cost: others + cost });
	}
}
