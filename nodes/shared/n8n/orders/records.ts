import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import type { NodeLog } from '../log/nodeLog';
import { totalOf, type Entry, type Total } from './entry';
import type { Order } from './identity';
import { dayOf, type Day } from './limits/day';
import { Tally } from './limits/tally';
import { DatabaseOrders } from './stores/database';
import { isStoreMissing, ProcessedItems } from './stores/processedItems';

interface Recording {
	/** Orders that were not sent before. */
	fresh?: readonly Order[];
	/** Orders that are sent once more. */
	resent?: readonly Order[];
	/** Orders whose Order Keys are used: they become the newest. */
	again?: readonly Order[];
	/** What changes for the limits of the day. */
	change?: Total;
}

/** Why n8n's database could not be used. */
export interface StoreFailure {
	/** Whether n8n has no store for the node. */
	isMissing: boolean;
	/** The database's error, in one line. */
	problem: string;
}

/** How often something is given back while other workers write to n8n's store. */
export const maxConflicts = 5;

/** What a run of the node reads and writes in n8n's database: its orders, and the tally of the day. */
export class Records {
	/** Why n8n's database could not be used; undefined when it could. */
	error?: unknown;
	/** The day whose orders are counted; undefined where there is no daily limit. */
	day?: Day;
	/** What the day had counted before this run. */
	usedBefore?: Total;
	readonly orders: DatabaseOrders;
	private readonly store: ProcessedItems;
	private tally?: Tally;

	/**
	 * @param origin see `originOf`
	 * @param isTraced whether a Retry must find the orders in n8n's database
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly log: NodeLog,
		{ origin, isTraced }: { origin: string; isTraced: boolean },
	) {
		this.store = new ProcessedItems(context);
		this.orders = new DatabaseOrders(this.store, origin, isTraced);
	}

	/** Counts the orders of the day from now on. */
	async countDay(): Promise<void> {
		await this.attempt(async () => {
			this.day = dayOf(clock.now(), this.context.getTimezone());
			this.tally = new Tally(this.context, this.store, this.day.name);
		});
	}

	/** Excludes the other workers from the day. @returns the function that ends that; undefined after Stop or an error */
	async lockDay(signal?: AbortSignal): Promise<(() => Promise<void>) | undefined> {
		return await this.attempt(async () => await this.store.lock('day', signal));
	}

	/** What this day has counted; undefined where nothing is, or when it cannot be looked up. */
	async totalOfDay(): Promise<Total | undefined> {
		const { tally } = this;
		if (!tally || this.error !== undefined) return undefined;
		return await this.attempt(async () => await tally.total());
	}

	/** See `DatabaseOrders.find`. */
	async find(orders: readonly Order[], local: number): Promise<Entry[]> {
		return (await this.attempt(async () => await this.orders.find(orders, local))) ?? [];
	}

	/** @returns false when another worker has written meanwhile, so that nothing is recorded; undefined after an error */
	async record({
		fresh = [],
		resent = [],
		again = [],
		change = totalOf([...fresh, ...resent].map(({ cost }) => ({ cost, timesSent: 1 }))),
	}: Recording): Promise<boolean | undefined> {
		return await this.attempt(async () => {
			const taken = change.orders === 0 ? undefined : await this.tally?.step(change);
			// Until it is clear whether the step was taken.
			taken?.begin();
			const isRecorded = await this.orders.record({ fresh, resent, again, step: taken?.step });
			taken?.end(isRecorded);
			if (!isRecorded) await this.tally?.clean();
			return isRecorded;
		});
	}

	/**
	 * Gives back the room and the Order Keys of requests that certainly made nothing.
	 * @param orders those that were not sent before either
	 * @param total of all these requests
	 */
	async giveBack(orders: readonly Order[], total: Total): Promise<void> {
		if (total.orders === 0) return;
		const others = total.orders - orders.length;
		await this.attempt(async () => await this.orders.remove(orders, others));
		const change = { orders: -total.orders, cost: -total.cost };
		for (let tries = 0; tries < maxConflicts && this.tally; tries++) {
			if ((await this.record({ change })) !== false) return;
		}
	}

	/** Frees Order Keys. */
	async release(orders: readonly Order[]): Promise<void> {
		await this.attempt(async () => await this.orders.release(orders));
	}

	/** Whether other processes write to n8n's store at the same moment. */
	get isShared(): boolean {
		return this.store.isShared;
	}

	get failure(): StoreFailure | undefined {
		const { error, log } = this;
		if (error === undefined) return undefined;
		const problem = log.clean(error instanceof Error ? error.message : String(error));
		return { isMissing: isStoreMissing(error), problem };
	}

	/** The outcomes of all orders of the run are known. */
	async settle(): Promise<void> {
		this.orders.settle();
		await this.orders.clean();
	}

	/** Nothing was sent of what a failed {@link record} may have recorded. */
	async withdraw(): Promise<void> {
		await this.attempt(async () => await this.orders.withdraw());
	}

	private async attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
		try {
			return await call();
		} catch (error) {
			// Later calls fail for the same reason.
			const isNews = this.error === undefined && !isStoreMissing(error);
			if (isNews) this.log.write('store failed', { problem: String(error) });
			this.error = error;
			return undefined;
		}
	}
}
