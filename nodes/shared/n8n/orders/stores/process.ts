import { fuller, type Entry, type OrderStore } from '../entry';
import type { Order } from '../identity';

/** Who used an Order Key, and when, in milliseconds since 1970. */
export interface KeyUse {
	/** See `nodeIdOf`. */
	node: string;
	execution: string;
	time: number;
}

/** What this process knows of an execution and all its Retries. */
interface Family {
	/** The first run that ordered. */
	use: KeyUse;
	/** By the ID of the order. */
	known: Map<string, Kept>;
	/** Characters of JSON in all of them. */
	size: number;
}

interface Kept {
	order: Pick<Entry, 'cost' | 'timesSent'> & Order;
	/** All that is known of it. As JSON, so that nothing that a workflow does with an output changes it. */
	json: string;
}

/** By origin, the least recently used first. */
export const families = new Map<string, Family>();

/** Characters of JSON. Above it, the least recently used executions are dropped. */
const maxSize = 32 * 1024 * 1024;

/**
 * The orders in the memory of this n8n process. It has what n8n does not store: the orders of an execution that was
 * stopped, and those of the other Retries of an execution.
 */
export class ProcessOrders implements OrderStore {
	constructor(
		private readonly origin: string,
		private readonly run: number,
		private readonly use: KeyUse,
	) {}

	/** All orders of the execution and its Retries. */
	get orders(): Array<Kept['order']> {
		return [...this.family.known.values()].map(({ order }) => order);
	}

	find(orders: readonly Order[]): Entry[] {
		const names = new Set(orders.flatMap(namesOf));
		return this.all(
			(order) => order.run === this.run || namesOf(order).some((name) => names.has(name)),
		);
	}

	/** @param isWanted selects among the orders of the execution and its Retries; default: all */
	all(isWanted: (order: Order) => boolean = () => true): Entry[] {
		return [...this.family.known.values()]
			.filter(({ order }) => isWanted(order))
			.map(({ json }) => ({ ...(JSON.parse(json) as Entry), isRecalled: true }));
	}

	keep(entries: readonly Entry[]): void {
		if (entries.length === 0) return;
		const { family } = this;
		for (const added of entries) {
			const before = family.known.get(added.id);
			const entry = before ? fuller(JSON.parse(before.json) as Entry, added) : added;
			this.put(family, entry);
		}
		families.delete(this.origin);
		families.set(this.origin, family);
		this.shrink(family);
	}

	/** Removes orders, except those that another Retry got a response for in the meantime. */
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		const { family } = this;
		for (const { id } of orders) {
			const { json } = family.known.get(id) ?? {};
			if (!json || (JSON.parse(json) as Entry).state === 'answered') continue;
			family.known.delete(id);
			family.size -= json.length;
		}
		if (family.known.size === 0) families.delete(this.origin);
	}

	private get family(): Family {
		return families.get(this.origin) ?? { use: this.use, known: new Map(), size: 0 };
	}

	private put(family: Family, entry: Entry): void {
		const json = JSON.stringify(entry);
		const before = family.known.get(entry.id);
		family.known.set(entry.id, { order: orderOf(entry), json });
		family.size += json.length - (before?.json.length ?? 0);
	}

	/** Drops whole executions: if only some orders were dropped, a Retry would place these again. */
	private shrink(own: Family): void {
		let size = 0;
		for (const family of families.values()) size += family.size;
		for (const [origin, family] of families) {
			if (size <= maxSize) return;
			if (origin === this.origin) continue;
			families.delete(origin);
			size -= family.size;
		}
		// Of this execution, results are dropped: a Retry then refuses to order again.
		for (const { json } of own.known.values()) {
			if (own.size <= maxSize) return;
			const entry = JSON.parse(json) as Entry;
			if (entry.state === 'answered') this.put(own, withoutResult(entry));
		}
	}
}

/** The Order Keys that executions of the node have used, as far as this process knows. */
export function keyUses(node: string): Map<string, KeyUse> {
	const ofNode = [...families.values()].filter(({ use }) => use.node === node);
	return new Map(
		ofNode.flatMap(({ use, known }) =>
			[...known.values()].flatMap(({ order: { key } }): Array<[string, KeyUse]> =>
				key === undefined ? [] : [[key, use]],
			),
		),
	);
}

/** The texts by which the order may be found in another run. No two kinds of them are ever equal. */
const namesOf = ({ id, request, item, key }: Order): string[] =>
	[id, request, item, key].filter((name) => name !== undefined);

const orderOf = (entry: Entry): Kept['order'] => {
	const { id, request, count, run, index, item, parameters, key, idempotencyKey, cost } = entry;
	const { timesSent } = entry;
	return {
		...{ id, request, count, run, index, item, parameters, key, idempotencyKey, cost, timesSent },
	};
};

const withoutResult = (entry: Entry): Entry => ({
	...orderOf(entry),
	state: 'sent',
});
