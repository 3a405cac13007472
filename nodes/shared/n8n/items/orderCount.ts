import type { IExecuteFunctions } from 'n8n-workflow';
import type { CheckedItem } from './item';

/** Enough of an order's ID to tell it from the others of one execution. */
const shortLength = 16;

/**
 * The orders of the node in one execution, its loops, passes and Retries included: n8n stores them with the
 * execution. Each counts once, however many tries it takes.
 */
export class OrderCount {
	private readonly memory: { orders?: string[] };

	constructor(context: IExecuteFunctions) {
		this.memory = context.getContext('node');
	}

	/** Counts an order, unless it would be more than `max`. @returns whether it is counted */
	add({ orderId = '' }: CheckedItem, max: number): boolean {
		const { orders = [] } = this.memory;
		const id = orderId.slice(0, shortLength);
		if (orders.includes(id)) return true;
		if (orders.length >= max) return false;
		this.memory.orders = [...orders, id];
		return true;
	}

	/** Takes back an order that was not accepted. */
	remove({ orderId = '' }: CheckedItem): void {
		const { orders } = this.memory;
		if (orders) this.memory.orders = orders.filter((id) => !orderId.startsWith(id));
	}
}
