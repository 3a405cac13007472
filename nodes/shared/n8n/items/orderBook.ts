import { partition } from 'lodash';
import type { Connection } from '../../gateway/client/connection';
import { idempotencyKeyOf } from '../../gateway/client/order';
import type { GatewayError } from '../../gateway/errors/gatewayError';
import { isTool } from '../agent/tool';
import { hashOf } from './identity';
import type { CheckedItem } from './item';
import { OrderCount } from './orderCount';
import {
	keysFreed,
	limitError,
	noStoreError,
	openOrderError,
	orderedBefore,
	orderedBeforeError,
	otherOrderError,
	rewordedOrderError,
} from './orderErrors';
import { OrderIds } from './orderIds';
import { ProcessedItems } from './processedItems';
import { receiptOf } from './receipts';
import type { RunState } from './runState';

/** Orders of a tool in one execution, where the user set no limit: an agent may call it in a loop. */
const maxOrdersOfTool = 3;

/** An item, and what its order writes into the store. */
interface Entry {
	item: CheckedItem;
	/** The order in this execution and its Retries; undefined where nothing could find it again. */
	order?: string;
	/** That something is ordered at this place; with the order. */
	place?: string;
	/** The same with its idempotency key, under which the service would recognise it. */
	idempotency?: string;
	/** The Order Key alone, and with the request. */
	key?: string;
	keyAndRequest?: string;
}

/**
 * Keeps an order from going out twice where n8n keeps nothing of the first time: n8n ended or was stopped before it
 * stored the outcome, or another execution ordered with the same Order Key. All orders of a run are written into
 * n8n's store of processed items before the first is sent; those that surely were not accepted are taken out again.
 */
export class OrderBook {
	private readonly store: ProcessedItems;
	private readonly ids: OrderIds;
	private readonly count: OrderCount;
	private readonly isOfTool: boolean;
	private entries: Entry[] = [];
	/** What the store held before this run. */
	private known = new Set<string>();
	/** Items that are left out, because their Order Keys were used before. */
	private readonly skipped: CheckedItem[] = [];

	constructor(private readonly run: RunState) {
		this.store = new ProcessedItems(run.context);
		this.ids = new OrderIds(run.context);
		this.count = new OrderCount(run.context);
		this.isOfTool = isTool(run.context.getNode());
	}

	/** Gives each item the ID and, where the service knows keys, the key of its order. */
	async identify(items: CheckedItem[], connection: Connection): Promise<void> {
		for (const item of items) {
			await this.run.turns.next();
			item.orderId = this.ids.next(this.run.identityOf(item));
			if (this.run.cost === 'job') item.idempotencyKey = idempotencyKeyOf(item.orderId, connection);
		}
	}

	/** Records the orders of these items, and gives those that must not go out their outcome. */
	async open(items: CheckedItem[]): Promise<void> {
		const [unsent, sent] = partition(items, ({ result, outcome }) => !result && !outcome);
		await this.forget(unsent.filter(({ order }) => order?.forgets));
		for (const item of unsent.filter(({ outcome }) => !outcome)) {
			await this.run.turns.next();
			this.entries.push(this.entryOf(item));
		}
		await this.record();
		for (const entry of this.entries) this.checkOrder(entry);
		this.checkPlaces();
		const taken = new Set(this.known);
		for (const entry of this.entries) this.checkKey(entry, taken);
		this.tell(this.skipped, orderedBefore);
		// Of a stopped execution, n8n has kept no count.
		for (const item of sent) if (this.maxOf(item) < Infinity) this.count.add(item, Infinity);
		for (const { item } of this.entries) this.limit(item);
	}

	/** Takes out what surely was not accepted, so that a later try sends it. */
	async close(): Promise<void> {
		const [paid, unpaid] = partition(this.entries, ({ item }) => receiptOf(item) !== undefined);
		const kept = new Set([...this.known, ...paid.flatMap(valuesOf)]);
		this.count.remove(unpaid.map(({ item }) => item));
		const freed = unpaid.flatMap(valuesOf).filter((value) => !kept.has(value));
		// n8n stores a failed node with its receipts, which know an item that was changed from the same one.
		const { isFailing, isStopped } = this.run;
		const isStored = isFailing && !isStopped && paid.length > 0;
		if (isStored && !this.entries.some((entry) => this.isPlaceTaken(entry))) {
			this.ids.keepReceipts();
		}
		// What stays in the store counts as sent, which costs nothing and is no reason to fail.
		await this.store.remove(freed).catch((error: unknown) => this.warn(error));
	}

	private entryOf(item: CheckedItem): Entry {
		const { order: { key } = {}, orderId, idempotencyKey } = item;
		const isFoundAgain = this.run.cost === 'job';
		return {
			item,
			...(isFoundAgain && { order: `order ${orderId}` }),
			// What has an Order Key is told apart by that.
			...(isFoundAgain && key === undefined && { place: `place ${this.ids.ofPlace(item.index)}` }),
			...(isFoundAgain && idempotencyKey && { idempotency: `idempotency ${idempotencyKey}` }),
			...(key !== undefined && {
				key: keyValue(key),
				keyAndRequest: `request ${hashOf([key, this.run.identityOf(item)])}`,
			}),
		};
	}

	private async record(): Promise<void> {
		try {
			this.known = await this.store.record([...new Set(this.entries.flatMap(valuesOf))]);
		} catch (error) {
			this.warn(error);
			for (const { item, key } of this.entries) {
				if (key !== undefined) this.run.fail(item, noStoreError(error));
			}
			// Nobody knows which of the values earlier executions wrote, so none of them is taken out.
			this.entries = this.entries.map(({ item }) => ({ item }));
		}
	}

	/** Whether the order was sent in an earlier try, of which n8n has kept nothing. */
	private isOpen({ order }: Entry): boolean {
		return order !== undefined && this.known.has(order);
	}

	/** Whether an earlier try, of which n8n has kept nothing, has sent an order from this place. */
	private isPlaceTaken({ place }: Entry): boolean {
		return place !== undefined && this.known.has(place);
	}

	/** Fails an order that was sent before, unless it may be sent again. */
	private checkOrder(entry: Entry): void {
		const { item, idempotency } = entry;
		if (item.outcome || !this.isOpen(entry)) return;
		// Under another key, or none, the service would not recognise it.
		if (idempotency !== undefined && this.known.has(idempotency)) {
			const { idempotencyKey } = item;
			item.lost = { ...this.openError(item).failure, idempotencyKey };
		} else if (!this.resendsLost(item)) {
			this.count.add(item, Infinity);
			this.run.fail(item, this.openError(item));
		}
	}

	/**
	 * Fails as many orders as an earlier try has sent that are not among those of this one: a model, or the time of day,
	 * may have worded them anew. What has an Order Key is told apart by that.
	 */
	private checkPlaces(): void {
		if (this.ids.hasReceipts) return;
		const [taken, free] = partition(this.entries, (entry) => this.isPlaceTaken(entry));
		let reworded = taken.length - this.entries.filter((entry) => this.isOpen(entry)).length;
		// The list may have moved; where it has not, it is the order at the same place that was sent.
		for (const entry of [...taken, ...free]) {
			const { item } = entry;
			if (item.outcome || this.isOpen(entry) || this.resendsLost(item)) continue;
			if (reworded-- > 0) this.run.fail(item, rewordedOrderError(this.run.context));
		}
	}

	private openError(item: CheckedItem): GatewayError {
		return openOrderError(this.run.identityOf(item), item.order?.key, this.run.context);
	}

	private resendsLost({ request }: CheckedItem): boolean {
		return this.run.work.resendsLost?.(request) ?? false;
	}

	/** Refuses an order whose key was used before. @param taken what the store knew, and earlier items wrote */
	private checkKey(entry: Entry, taken: Set<string>): void {
		const { item, key, keyAndRequest } = entry;
		if (item.outcome || this.isOpen(entry) || key === undefined || !keyAndRequest) return;
		if (taken.has(key)) {
			if (taken.has(keyAndRequest)) this.refuse(item);
			else this.run.fail(item, otherOrderError(keyOf(item)));
		}
		taken.add(key).add(keyAndRequest);
	}

	/** Leaves out or fails an item whose Order Key was used before. */
	private refuse(item: CheckedItem): void {
		const key = keyOf(item);
		if (item.order?.ifOrderedBefore === 'fail') this.run.fail(item, orderedBeforeError(key));
		else {
			this.skipped.push(item);
			this.leaveOut(item, orderedBefore([key]));
		}
	}

	private async forget(items: CheckedItem[]): Promise<void> {
		try {
			await this.store.remove(items.map((item) => keyValue(keyOf(item))));
			for (const item of items) this.leaveOut(item, keysFreed([keyOf(item)]));
			this.tell(items, keysFreed);
		} catch (error) {
			for (const item of items) this.run.fail(item, noStoreError(error));
		}
	}

	/** Gives no output, since the nodes that follow expect an order; only an agent has to be told something. */
	private leaveOut(item: CheckedItem, reason: string): void {
		item.outcome = this.isOfTool ? [{ json: { ordered: false, reason } }] : [];
	}

	/** Says in one hint what became of these items, which may be thousands. */
	private tell(items: CheckedItem[], wording: (keys: string[]) => string): void {
		if (items.length === 0) return;
		const message = wording(items.map(keyOf));
		this.run.context.addExecutionHints({ message, location: 'outputPane' });
	}

	private limit(item: CheckedItem): void {
		const max = this.maxOf(item);
		// Orders that nobody limits need not be stored.
		if (item.outcome || max === Infinity) return;
		if (!this.count.add(item, max)) this.run.fail(item, limitError(max, this.isOfTool));
	}

	private maxOf({ order }: CheckedItem): number {
		return order?.max ?? (this.isOfTool ? maxOrdersOfTool : Infinity);
	}

	private warn(error: unknown): void {
		this.run.context.logger.warn(`The store of processed items failed: ${String(error)}`);
	}
}

const keyValue = (key: string) => `key ${hashOf(key)}`;

const keyOf = ({ order }: CheckedItem) => order?.key ?? '';

const valuesOf = ({ order, place, idempotency, key, keyAndRequest }: Entry) =>
	[order, place, idempotency, key, keyAndRequest].filter((value) => value !== undefined);
