import { hashOf, type Known, type Order } from './order';
import type { Store } from './store';

/** How often a recording is checked and repeated, in case a worker has overwritten it. */
const maxChecks = 3;

/** The values that the store holds of an order. Each says one thing about it. */
interface Marks {
	/** It was sent; only where a Retry has to find it. */
	order?: string;
	/** Something was sent for the item at its place. */
	place?: string;
	/** Something was sent for an item equal to its own. */
	item?: string;
	/** It was sent with its idempotency key. */
	idempotency?: string;
	/** Its Order Key was used. */
	key?: string;
	/** Its Order Key was used for its request. */
	keyAndRequest?: string;
}

/**
 * What n8n's database knows of orders: only that something was sent, since its {@link Store} holds hashes. Looking up
 * and recording are one step there. So orders are recorded before they are sent, and removed when they certainly made
 * nothing. Its methods throw n8n's error where there is no store.
 */
export class DatabaseOrders {
	/** Marks that were in the store before this run. */
	private known = new Set<string>();
	/** Marks that this run has recorded. */
	private added: string[] = [];

	/**
	 * @param origin see {@link originOf}
	 * @param isTraced whether a Retry must find the orders here; if not, only their Order Keys are recorded
	 */
	constructor(
		private readonly store: Store,
		private readonly origin: string,
		private readonly isTraced: boolean,
	) {}

	/** Records that these orders are about to be sent. */
	async record(orders: readonly Order[]): Promise<void> {
		await this.add([...new Set(orders.flatMap((order) => valuesOf(this.marksOf(order))))]);
	}

	/**
	 * What was recorded of these orders before this run.
	 * @param others known orders of the execution and its Retries; their marks say nothing about these orders
	 */
	knownOf(orders: readonly Order[], others: readonly Order[]): Known[] {
		const explained = new Set(others.flatMap((order) => valuesOf(this.marksOf(order))));
		const isKnown = (mark?: string) => mark !== undefined && this.known.has(mark);
		const isUnexplained = (mark?: string) => isKnown(mark) && !explained.has(mark as string);
		const sent: Known[] = [];
		const places: Known[] = [];
		let moved = 0;
		for (const order of orders) {
			const marks = this.marksOf(order);
			const isPlaceKnown = isUnexplained(marks.place);
			const { run, place, item, itemCount, written } = order;
			if (isKnown(marks.order)) {
				const hadKey = isKnown(marks.idempotency);
				sent.push({ ...order, state: 'sent', ...(!hadKey && { idempotencyKey: undefined }) });
			} else if (isUnexplained(marks.item)) {
				sent.push({ run, place, item, itemCount, written, state: 'sent' });
			} else {
				if (isPlaceKnown) places.push({ run, place, written, state: 'sent' });
				continue;
			}
			if (marks.place !== undefined && !isPlaceKnown) moved++;
		}
		// Each order that has moved in the list explains one of these marks: that of its earlier place.
		return [...sent, ...places.slice(0, Math.max(0, places.length - moved))];
	}

	/** How an Order Key was used before this run: for the same request, or for another one. */
	keyUse(key: string, request: string): 'free' | 'same' | 'other' {
		if (!this.known.has(keyMark(key))) return 'free';
		return this.known.has(keyAndRequestMark(key, request)) ? 'same' : 'other';
	}

	/** Removes what this run has recorded of all orders except these, because they certainly made nothing. */
	async keepOnly(made: readonly Order[]): Promise<void> {
		const kept = new Set(made.flatMap((order) => valuesOf(this.marksOf(order))));
		const [before, isKept] = [this.added, (value: string) => kept.has(value)];
		this.added = before.filter(isKept);
		await this.remove(before.filter((value) => !isKept(value)));
	}

	/** Releases the Order Keys of these orders. */
	async release(orders: readonly Order[]): Promise<void> {
		await this.remove(
			orders.flatMap(({ key, request }) =>
				key === undefined ? [] : [keyMark(key), keyAndRequestMark(key, request)],
			),
		);
	}

	private marksOf({ id, key, request, idempotencyKey, ...order }: Order): Marks {
		const { origin, isTraced } = this;
		const { run, place, item, itemCount, written } = order;
		// An order with an Order Key is found by that key alone.
		const isFoundByItem = isTraced && key === undefined;
		return {
			...(isTraced && { order: `order ${id}` }),
			...(isFoundByItem && { place: `place ${hashOf([origin, run, written, place])}` }),
			...(isFoundByItem &&
				itemCount !== undefined && { item: `item ${hashOf([origin, written, item, itemCount])}` }),
			...(isTraced && idempotencyKey && { idempotency: `idempotency ${idempotencyKey}` }),
			...(key && { key: keyMark(key), keyAndRequest: keyAndRequestMark(key, request) }),
		};
	}

	private async add(values: string[]): Promise<void> {
		if (values.length === 0) return;
		const { added, known } = await this.store.record(values);
		this.known = new Set(known);
		this.added = added;
		// Only this run's own marks are recorded again: another run may have removed its marks on purpose.
		for (let checks = 0; checks < maxChecks && added.length > 0; checks++) {
			const { added: lost } = await this.store.record(added);
			if (lost.length === 0) break;
		}
	}

	private async remove(values: string[]): Promise<void> {
		// A worker that read the store earlier may write the values back. A key would then stay used forever, so keys
		// are removed twice.
		for (const all of [values, values.filter(isOfKey)]) await this.store.remove(all);
	}
}

const isOfKey = (value: string) => /^(key|request) /.test(value);
const keyMark = (key: string) => `key ${key}`;
const keyAndRequestMark = (key: string, request: string) => `request ${hashOf([key, request])}`;

const valuesOf = (marks: Marks): string[] => Object.values(marks);
