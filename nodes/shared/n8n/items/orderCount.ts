import type { IExecuteFunctions } from 'n8n-workflow';
import type { CheckedItem } from './item';
import { nodeMemory } from '../execution/memory';

/** Enough of an order's ID to tell it from the others of one execution. */
const idOf = ({ orderId = '' }: CheckedItem) => orderId.slice(0, 16);

/**
 * The orders of the node in one execution, its loops, passes and Retries included: n8n stores them with the
 * execution. Each counts once, however many tries it takes.
 */
export class OrderCount {
	private readonly memory: { orders?: string[] };
	/** What is stored, for a quick look; other calls of a tool may add to it. */
	private known = new Set<string>();

	constructor(context: IExecuteFunctions) {
		this.memory = nodeMemory(context) ?? {};
	}

	/** Counts an order, unless it would be more than `max`. @returns whether it is counted */
	add(item: CheckedItem, max: number): boolean {
		const orders = (this.memory.orders ??= []);
		if (this.known.size !== orders.length) this.known = new Set(orders);
		const id = idOf(item);
		if (this.known.has(id)) return true;
		if (orders.length >= max) return false;
		orders.push(id);
		this.known.add(id);
		return true;
	}

	/** Takes back orders that were not accepted. */
	remove(items: CheckedItem[]): void {
		const { orders } = this.memory;
		const removed = new Set(items.map(idOf));
		if (orders) this.memory.orders = orders.filter((id) => !removed.has(id));
	}
}
