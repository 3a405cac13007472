import type { IExecuteFunctions } from 'n8n-workflow';
import type { NodeLog } from '../log/nodeLog';
import { Counts } from './counts';
import { sentTotalOf, wishesOf, type Line } from './line';
import { againMarkOf, markOf, unkeyedMarkOf, type Order, type Wish } from './order';
import { allKeyValuesOf, isOfKey, keyValuesOf, OrderKeys, takenValuesOf, wonOf } from './orderKeys';
import { Places } from './places';
import { maxEntries, ProcessedItems } from './store';
import { isStoreMissing } from './storeCalls';
import { Write, type Row } from './write';

export interface StoreFailure {
	/** Whether n8n has no store for the node. */
	isMissing: boolean;
	/** The database's error, in one line. */
	problem: string;
}

/** Entries for what is recorded besides the orders of a list: the cost of the day, and a claim. */
const reserved = 200;

/** How many orders of one list the store can guard. */
export const guardedOrders = (hasKeys: boolean): number =>
	Math.floor((maxEntries - reserved) / (hasKeys ? 8 : 4));

/**
 * The record of a node's orders in n8n's database, for kills, other workers and later executions: a mark for each order, a
 * place for each request of an execution and its Retries, the used Order Keys, and the places of days and months. A run
 * takes them before it sends anything, and gives back what it did not need.
 */
export class Marks {
	/** Why n8n's database could not be used; undefined when it could. */
	failure?: StoreFailure;
	/** Whether another worker has run this execution or a Retry of it: {@link findSent} says what it has sent. */
	isFamilyNews = false;
	/** Whether these parameters have ordered before, in this execution or one of its Retries. */
	areParametersKnown = false;
	readonly counts: Counts;
	/** Whether a Retry must find the orders here; if not, only Order Keys, days and months are recorded. */
	readonly isTraced: boolean;
	/** A place for each request of the execution and its Retries. */
	readonly family: Places;
	readonly keys: OrderKeys;
	/** The values of orders and keys that this run has written. */
	private readonly held = new Set<string>();
	/** One for the run, since its calls share one patience. */
	private readonly store: ProcessedItems;
	private isRecounted = false;

	constructor(
		context: IExecuteFunctions,
		private readonly of: { log: NodeLog; isTraced: boolean; /** See `originOf`. */ origin: string },
	) {
		this.isTraced = of.isTraced;
		this.store = new ProcessedItems(context);
		this.family = new Places(this.store, `number ${of.origin}`, { isContended: false });
		this.keys = new OrderKeys(this.store);
		this.counts = new Counts(context, this.store, this.isTraced);
	}

	async findKeys(wishes: readonly Wish[]): Promise<void> {
		const isHeld = (value: string) => this.held.has(value);
		const keyed = wishes.filter((wish) => wish.key && !keyValuesOf(wish).every(isHeld));
		if (keyed.length > 0) await this.attempt(async () => await this.keys.find(keyed));
	}

	/**
	 * Looks up what days and months have counted. A worker learns that when it takes its places: several that look up at the
	 * same moment would take each other for orders.
	 */
	async count({ isPreview }: { isPreview: boolean }): Promise<void> {
		if (this.store.isShared && !isPreview) return;
		await this.attempt(async () => await this.counts.count());
	}

	/**
	 * Looks up which of these wishes the execution or one of its Retries has sent.
	 * @param known how many of their requests the journal has
	 */
	async findSent(wishes: readonly Wish[], known: number): Promise<Wish[]> {
		if (!this.isTraced) return [];
		this.isFamilyNews = false;
		const sent = await this.attempt(async () => {
			if ((await this.family.count()) - this.family.taken <= known) return [];
			const ofParameters = wishes.slice(0, 1).map((wish) => this.ofParameters(wish));
			const marks = wishes.flatMap((wish) => [markOf(wish), unkeyedMarkOf(wish)]);
			const found = await this.store.find([...new Set([...marks, ...ofParameters])]);
			this.areParametersKnown = ofParameters.some((value) => found.has(value));
			return wishes.flatMap((wish) => {
				if (this.held.has(markOf(wish))) return [];
				if (found.has(markOf(wish))) return wish;
				return found.has(unkeyedMarkOf(wish)) ? { ...wish, idempotencyKey: undefined } : [];
			});
		});
		return sent ?? [];
	}

	/** @returns those of these orders that another run has sent again */
	async findAgain(orders: readonly Order[]): Promise<Order[]> {
		const marks = orders.map(againMarkOf).filter((mark) => !this.held.has(mark));
		const found = await this.attempt(async () => await this.store.find(marks));
		return orders.filter((order) => found?.has(againMarkOf(order)));
	}

	/** Takes what these need besides what the run has. @returns whether all must be decided again */
	async take(lines: readonly Line[]): Promise<boolean> {
		const isNews = await this.attempt(async () => {
			const values = this.valuesOf(lines).filter((value) => !this.held.has(value));
			const rows = this.rowsOf(lines);
			const isEnough = rows.every(([row, count]) => row.taken >= count);
			const needsWrite = values.length > 0 || !isEnough;
			const isChanged = needsWrite && (await this.write(lines, values, rows));
			this.counts.spend(lines);
			return isChanged;
		});
		return isNews ?? false;
	}

	/** Where a limit leaves nothing, looks up once what other workers have freed since. @returns whether it did */
	async recount(): Promise<boolean> {
		if (this.isRecounted || !this.store.isShared) return false;
		this.isRecounted = true;
		await this.attempt(async () => await this.counts.recount());
		return true;
	}

	/** Gives back what the run has taken and these do not need. */
	async keepOnly(lines: readonly Line[]): Promise<void> {
		const { store } = this;
		const needed = new Set(this.valuesOf(lines));
		const obsolete = [...this.held].filter((value) => !needed.has(value));
		for (const value of obsolete) this.held.delete(value);
		await this.attempt(async () => {
			await store.remove(obsolete);
			for (const [row, count] of this.rowsOf(lines)) await row.free(row.taken - count);
			this.counts.spend(lines);
			await this.keys.removeAgain(obsolete.filter(isOfKey));
		});
	}

	async release(wishes: readonly Wish[]): Promise<void> {
		const values = wishes.filter(({ key }) => key).flatMap(allKeyValuesOf);
		// Now or never: by the next call, another worker may have released and used them.
		await this.attempt(async () => await this.store.removeNow(values));
	}

	/** All outcomes are known: from now on, newer orders push out what the run has written. */
	settle(): void {
		this.store.settle();
	}

	/** @returns whether something was learned */
	private async write(lines: readonly Line[], values: string[], rows: Row[]): Promise<boolean> {
		const { store, held, family, keys } = this;
		const { limitedRows } = this.counts;
		const fresh = wishesOf(lines.filter(({ found, hasKey }) => hasKey && !found));
		const keyed = fresh.filter((wish) => !held.has(wonOf(wish)));
		const hasKeys = values.some(isOfKey);
		const isClaiming = store.isShared && (hasKeys || limitedRows.length > 0);
		// Where other workers may take the same keys, `win` writes these.
		const later = new Set(store.isShared ? keyed.map(wonOf) : []);
		// An earlier try has written these, so they stay whatever becomes of this write.
		const earlier = new Set(this.valuesOf(lines.filter(({ found }) => found)));
		const write = new Write(store, rows, {
			hasKeys,
			isClaiming,
			isOwn: (value) => value.startsWith('again ') || (!earlier.has(value) && this.isAlone(value)),
		});
		const others = rows.map(([row]) => row.others ?? 0);
		const known = await write.begin(values.filter((value) => !later.has(value)));
		const isSent = lines.some(({ wish, found }) =>
			known.has(found ? againMarkOf(found.order) : markOf(wish)),
		);
		if (isSent) this.isFamilyNews = true;
		const taken = keyed.filter((wish) => keys.learnUse(wish, known));
		const free = keyed.filter((wish) => !taken.includes(wish));
		const ofKeys = new Set(keyed.flatMap(keyValuesOf));
		const own = values.filter((value) => !ofKeys.has(value) && !known.has(value));
		for (const value of own) if (!isOfParameters(value)) held.add(value);
		// In one process, these keys are locked, so they can be given back even if `finish` fails.
		if (!store.isShared) for (const value of free.flatMap(keyValuesOf)) held.add(value);
		const isKept = await write.finish([...own, ...free.flatMap(takenValuesOf)]);
		const lost = store.isShared && free.length > 0 ? await keys.win(free, isKept) : [];
		const won = free.filter((wish) => !lost.includes(wish));
		for (const value of won.flatMap(keyValuesOf)) held.add(value);
		const moved = rows.flatMap(([row], at) => (row.others === others[at] ? [] : row));
		if (moved.includes(family)) this.isFamilyNews = true;
		const hasMoved = moved.some((row) => row === family || limitedRows.includes(row));
		return isSent || taken.length + lost.length > 0 || !isKept || hasMoved;
	}

	/** Whether no other run can write a value now. */
	private isAlone(value: string): boolean {
		if (/^(?:order|number) /.test(value)) return true;
		if (this.store.isShared || isOfParameters(value)) return false;
		// In one process, runs take turns. A place that was not looked up first may be taken already.
		return isOfKey(value) || this.counts.areKnown;
	}

	private valuesOf(lines: readonly Line[]): string[] {
		const ofOrders = lines.flatMap(({ wish, hasKey, found }) => [
			...[markOf(wish), ...(found ? [againMarkOf(found.order)] : [])],
			...(hasKey ? [] : [this.ofParameters(wish)]),
		]);
		// Also those of an order that is sent again: its key may have been released since.
		const ofKeys = wishesOf(lines.filter(({ hasKey }) => hasKey)).flatMap(keyValuesOf);
		return [...new Set(this.isTraced ? [...ofOrders, ...ofKeys] : ofKeys)];
	}

	private rowsOf(lines: readonly Line[]): Row[] {
		const counted = this.counts.rowsOf(lines);
		return this.isTraced ? [[this.family, sentTotalOf(lines).orders], ...counted] : counted;
	}

	private ofParameters({ parameters }: Wish): string {
		return `parameters ${this.of.origin} ${parameters}`;
	}

	/** @returns undefined after an error. Later calls fail for the same reason, so only the first one is logged. */
	private async attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
		try {
			return await call();
		} catch (error) {
			const { log } = this.of;
			const isMissing = isStoreMissing(error);
			if (!this.failure && !isMissing) log.write('store failed', { problem: String(error) });
			const problem = log.clean(error instanceof Error ? error.message : String(error));
			this.failure = { isMissing, problem };
			return undefined;
		}
	}
}

const isOfParameters = (value: string) => value.startsWith('parameters ');
