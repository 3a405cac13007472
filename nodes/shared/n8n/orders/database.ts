import { hashOf, type Known, type Order } from './order';
import type { Store } from './store';

/** How often it is looked whether what was recorded is still there. */
const maxLooks = 3;

/** What is written of an order into the store. */
interface Marks {
	/** That it was sent; where a Retry has to find it. */
	order?: string;
	/** That something was sent for an item at its place. */
	place?: string;
	/** That something was sent for such an item. */
	item?: string;
	/** That it was sent with its idempotency key. */
	idempotency?: string;
	/** That its Order Key was used, and for which request. */
	key?: string;
	keyAndRequest?: string;
}

/**
 * What n8n's database tells of orders: only that something was sent, since its {@link Store} holds hashes. So it is asked
 * and written in one, before anything is sent, and what surely made nothing is taken out again. What a worker at the
 * very same moment has written over is recorded again. Its methods throw whatever n8n does where there is no store.
 */
export class DatabaseShelf {
	/** What others had recorded before. */
	private known = new Set<string>();
	/** What this run has recorded. */
	private added: string[] = [];

	/**
	 * @param origin see {@link originOf}
	 * @param isTraced whether a Retry has to find the orders; if not, only their Order Keys are recorded
	 */
	constructor(
		private readonly store: Store,
		private readonly origin: string,
		private readonly isTraced: boolean,
	) {}

	/** Records that these orders are sent. */
	async record(orders: readonly Order[]): Promise<void> {
		await this.add([...new Set(orders.flatMap((order) => valuesOf(this.marksOf(order))))]);
	}

	/**
	 * Those of the recorded orders that others had recorded before.
	 * @param others of the execution and its Retries, which have left marks of their own
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
		// An order that has moved in the list has left its mark at another place.
		return [...sent, ...places.slice(0, Math.max(0, places.length - moved))];
	}

	/** How an Order Key was used by others: for the same request, or for another one. */
	keyUse(key: string, request: string): 'free' | 'same' | 'other' {
		if (!this.known.has(keyMark(key))) return 'free';
		return this.known.has(keyAndRequestMark(key, request)) ? 'same' : 'other';
	}

	/** Takes out what this run has recorded of other orders than these: they surely made nothing. */
	async keepOnly(made: readonly Order[]): Promise<void> {
		const kept = new Set(made.flatMap((order) => valuesOf(this.marksOf(order))));
		const [before, isKept] = [this.added, (value: string) => kept.has(value)];
		this.added = before.filter(isKept);
		await this.take(before.filter((value) => !isKept(value)));
	}

	/** Makes the Order Keys of these orders usable again. */
	async release(orders: readonly Order[]): Promise<void> {
		await this.take(
			orders.flatMap(({ key, request }) =>
				key === undefined ? [] : [keyMark(key), keyAndRequestMark(key, request)],
			),
		);
	}

	private marksOf({ id, key, request, idempotencyKey, ...order }: Order): Marks {
		const { origin, isTraced } = this;
		const { run, place, item, itemCount, written } = order;
		// What has an Order Key is told by that.
		const isTold = isTraced && key === undefined;
		return {
			...(isTraced && { order: `order ${id}` }),
			...(isTold && { place: `place ${hashOf([origin, run, written, place])}` }),
			...(isTold &&
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
		// What others have recorded is left to them, since they may take it out meanwhile.
		for (let looks = 0; looks < maxLooks && added.length > 0; looks++) {
			const { added: lost } = await this.store.record(added);
			if (lost.length === 0) break;
		}
	}

	private async take(values: string[]): Promise<void> {
		// A worker that had read the store before may write them back, and a key would stay used for ever.
		for (const all of [values, values.filter(isOfKey)]) await this.store.remove(all);
	}
}

const isOfKey = (value: string) => /^(key|request) /.test(value);
const keyMark = (key: string) => `key ${key}`;
const keyAndRequestMark = (key: string, request: string) => `request ${hashOf([key, request])}`;

const valuesOf = (marks: Marks): string[] => Object.values(marks);
