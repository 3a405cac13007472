import type { Entry } from '../entry';
import { hashOf, type Order } from '../identity';
import type { TallyStep } from '../limits/tally';
import {
	confirmationOf,
	factIn,
	maxEntries,
	newClaim,
	valuesOf,
	type ProcessedItems,
} from './processedItems';

/** How often orders of an execution and its Retries were sent, when this process last looked; by origin. */
export const counts = new Map<string, number>();
const maxCounts = 1_000;

/** How often a recording is checked and repeated. */
const maxChecks = 3;

/** Entries for what is recorded with the orders of a list: the tally of the day, a claim, a lock. */
const reserved = 200;

/** How many orders of one list the store can guard, by how many values each has. */
export const guardedOrders = (hasKeys: boolean): number =>
	Math.floor((maxEntries - reserved) / (hasKeys ? 6 : 3));

/** An Order Key has two names in turn, so that it is recorded under the second before it is removed under the first. */
const names = ['a', 'b'] as const;
type Name = (typeof names)[number];

const noStep: TallyStep = { present: [], absent: [], added: [], obsolete: [] };

/**
 * What n8n's database knows of orders: that they were sent, how many of an execution and its Retries were, and which
 * Order Keys are used. Orders are recorded before they are sent, and removed when they certainly made nothing.
 */
export class DatabaseOrders {
	/** How often orders of this execution and its Retries were sent, as far as this process knows. */
	count: number;
	/** Whether these parameters have ordered before, in this execution or one of its Retries. */
	areParametersKnown = false;
	/** Entries in the store before this run recorded its orders; undefined when these have no Order Keys. */
	private size?: number;
	/** Entries that this run has recorded, and that stay. */
	private kept = 0;
	/** The Order Keys that are used, under the name of each. */
	private keys = new Set<string>();
	private requests = new Set<string>();
	/** What the store had of the Order Keys when they were looked up; undefined before that. */
	private values?: Set<string>;
	/** The names under which this run records Order Keys. */
	private readonly nameOf = new Map<string, Name>();
	/** What a failed {@link record} may have recorded. */
	private attempted: string[] = [];
	/** Confirmations under the other name of a key that were there although a look-up had found no key. */
	private readonly suspects = new Set<string>();
	/** What this run has recorded of its orders and taken back. Another worker may have written it back. */
	private readonly takenBack = new Set<string>();

	/**
	 * @param origin see `originOf`
	 * @param isTraced whether a Retry must find the orders here; if not, only their Order Keys are recorded
	 */
	constructor(
		private readonly store: ProcessedItems,
		private readonly origin: string,
		private readonly isTraced: boolean,
	) {
		this.count = counts.get(origin) ?? 0;
	}

	/**
	 * Looks up the Order Keys of these orders and, where a Retry must find them, the orders themselves.
	 * @param local how often orders were sent of which the execution or the process knows
	 */
	async find(orders: readonly Order[], local: number): Promise<Entry[]> {
		const lastCount = counts.get(this.origin);
		const keys = new Set(orders.flatMap(({ key }) => key ?? []));
		const facts = [...keys].flatMap((key) => names.map((name) => factOf(key, name)));
		const family = this.isTraced
			? [this.number(0), ...orders.slice(0, 1).map((order) => this.ofParameters(order))]
			: [];
		const values = await this.store.find([...facts, ...family]);
		const [hasNumber, areParametersKnown] = family.map((value) => values.has(value));
		this.areParametersKnown = areParametersKnown ?? false;
		// Until it is confirmed: the database may fail.
		this.setCount(hasNumber ? 1 : 0);
		const toConfirm = [...facts, this.number(0)].filter((fact) => values.has(fact));
		this.values = values;
		this.nameOf.clear();
		this.keys = await this.store.confirmed(toConfirm);
		if (this.keys.size > 0 && this.store.isShared) {
			// Another worker may have been looking up the same at that moment, which looks like a record.
			await this.store.waitForOthers();
			this.keys = await this.store.confirmed([...this.keys]);
		}
		const hasOrdered =
			this.keys.has(this.number(0)) && !this.takenBack.has(confirmationOf(this.number(0)));
		this.requests = await this.store.find(
			orders.flatMap((order) => {
				const name = this.usedName(order);
				return name === undefined ? [] : [requestOf(order, name)];
			}),
		);
		this.setCount(hasOrdered ? await this.firstFree(1, lastCount) : 0);
		if (this.count <= local) return [];
		const known = await this.store.find(orders.flatMap(tracesOf));
		return orders
			.filter((order) => known.has(idOf(order)) && !this.takenBack.has(idOf(order)))
			.map((order) => {
				const [, ofKey] = tracesOf(order);
				const isKeyKnown = ofKey !== undefined && known.has(ofKey);
				const idempotencyKey = isKeyKnown ? order.idempotencyKey : undefined;
				return { ...order, idempotencyKey, state: 'sent', timesSent: 1 };
			});
	}

	/** How many of the oldest entries the Order Keys that this run has used push out. */
	get dropped(): number {
		const { size, kept } = this;
		return size === undefined ? 0 : Math.max(0, Math.min(size, maxEntries) + kept - maxEntries);
	}

	/** The outcomes of all orders are known: from now on, newer orders push out what this run has recorded. */
	settle(): void {
		this.store.settle();
	}

	/** How an Order Key was used before this run: for the same request, or for another one. */
	keyUse(order: Order): 'free' | 'same' | 'other' {
		const name = this.usedName(order);
		if (name === undefined) return 'free';
		return this.requests.has(requestOf(order, name)) ? 'same' : 'other';
	}

	/**
	 * Records that these orders are about to be sent, and takes a step of the day's tally with them.
	 * @param fresh orders that were not sent before
	 * @param resent orders that are recorded already
	 * @param again orders whose Order Keys this run has found used: they become the newest
	 * @returns false when another worker has written in the meantime: nothing is recorded then
	 */
	async record({
		fresh = [],
		resent = [],
		again = [],
		step = noStep,
	}: {
		fresh?: readonly Order[];
		resent?: readonly Order[];
		again?: readonly Order[];
		step?: TallyStep;
	}): Promise<boolean> {
		const keyed = fresh.filter(({ key }) => key !== undefined);
		const before = keyed.length + again.length > 0 ? await this.store.size() : undefined;
		this.size ??= before;
		const isFilling = (this.size ?? 0) > maxEntries / 2;
		const renewed = isFilling ? again.flatMap((order) => this.renewalOf(order)) : [];
		const traced = this.isTraced ? [...fresh, ...resent] : [];
		// Nobody else may have recorded these.
		const ofOrders = [
			...traced.map((_, index) => this.proofOf(this.count + index)),
			...(this.isTraced ? fresh.flatMap(tracesOf) : []),
		];
		// One of the two stays: another worker may have recorded a key under the other name.
		const ofKeys = keyed.flatMap(confirmationsOf);
		const otherNames = keyed.map((order) =>
			confirmationOf(factOf(order.key as string, this.freeName(order) === 'a' ? 'b' : 'a')),
		);
		const others = [
			...traced.flatMap(tracesOf),
			...traced.flatMap((order) => (order.key === undefined ? this.ofParameters(order) : [])),
			...(traced.length > 0 && this.count === 0 ? [this.number(0)] : []),
			...keyed.flatMap((order) => this.keyValues(order)),
			...renewed.flatMap(({ to }) => to),
		];
		// A key that was released would get its other name.
		const unseen = this.values ? [] : keyed.map(({ key = '' }) => factOf(key, 'a'));
		const free = [...step.absent, ...ofOrders, ...ofKeys, ...unseen];
		const ofRun = [...new Set([...ofOrders, ...others])];
		if (ofRun.length + step.absent.length + step.added.length === 0) return true;
		const claim = keyed.length + step.absent.length > 0 ? [newClaim()] : [];
		const ofStep = [...step.present, ...step.absent, ...step.added];
		const wanted = [...claim, ...otherNames, ...new Set([...ofStep, ...ofRun])];
		// The tally finds out by itself whether its step was taken. Another worker may have used the key meanwhile.
		const { values } = this;
		const ownKeys = keyed.flatMap((order) => this.keyValues(order)).concat(ofKeys);
		const areKeysOwn = values !== undefined && !this.store.isShared;
		this.attempted = [
			...ofOrders,
			...(areKeysOwn ? ownKeys.filter((value) => !values.has(value)) : []),
		];
		this.store.expect(wanted.length);
		const known = await this.add(wanted, {
			own: claim.length > 0 ? claim : ofOrders,
			present: step.present,
			before,
		});
		// A worker may have written back what was recorded for a moment: a confirmation without its fact. A look-up since
		// it was first seen would have found the fact of a used key.
		const leftOver = new Set(
			otherNames.filter((value) => this.suspects.has(value) && !this.values?.has(factIn(value))),
		);
		const isOpen = (value: string) =>
			!known.has(value) || this.takenBack.has(value) || leftOver.has(value);
		const isUnchanged = free.every(isOpen) && step.present.every((value) => known.has(value));
		if (isUnchanged) this.attempted = [...ofOrders, ...ofKeys];
		for (const value of otherNames) if (known.has(value)) this.suspects.add(value);
		// The execution has ordered before, which counts even if the database fails from here on.
		const hasOrdered = traced.length > 0 && known.has(this.proofOf(this.count));
		if (!isUnchanged && hasOrdered) this.setCount(this.count + 1);
		const recorded = [...step.absent, ...step.added, ...ofRun];
		const state = isUnchanged ? await this.stateOf(claim, recorded) : 'conflict';
		// A fact alone does no harm, but another worker may have just taken it for its own.
		const ofOthers = new Set(this.store.isShared ? keyed.flatMap(factsOf) : []);
		const added = wanted.filter((value) => !known.has(value) && !ofOthers.has(value));
		if (state === 'conflict') await this.store.remove(added);
		const ofOrder = new Set([...ofOrders, this.number(0)]);
		if (state === 'conflict')
			for (const value of added) if (ofOrder.has(value)) this.takenBack.add(value);
		this.attempted = [];
		if (state !== 'kept') return false;
		this.setCount(this.count + traced.length);
		const earlier = renewed.flatMap(({ from }) => from);
		this.kept += ofRun.filter((value) => !known.has(value)).length - earlier.length;
		for (const value of recorded) this.takenBack.delete(value);
		await this.store.discard([...claim, ...otherNames, ...step.obsolete, ...earlier]);
		return true;
	}

	/**
	 * Removes what was recorded of orders that certainly made nothing.
	 * @param resent how many requests more made nothing, of orders that stay recorded
	 */
	async remove(orders: readonly Order[], resent = 0): Promise<void> {
		const keyed = orders.filter(({ key }) => key !== undefined);
		const keys = keyed.flatMap((order) => [...this.keyValues(order), ...confirmationsOf(order)]);
		const values = this.isTraced ? orders.flatMap(tracesOf) : [];
		if (this.isTraced) {
			// Freed from the top, so that the first free number stays the count.
			const top = await this.firstFree(this.count, this.count).catch(() => this.count);
			this.setCount(Math.max(0, top - orders.length - resent));
			for (let number = this.count; number < top; number++)
				values.push(this.number(number), this.proofOf(number));
		}
		await this.store.remove([...values, ...keys]);
		this.kept -= values.length + keys.length;
		// A worker that read the store earlier may have written the values back, and a key would stay used for ever.
		await this.store.waitForOthers();
		await this.store.discard(keys);
	}

	/** Removes what this run has taken back, if another worker has written it back since. */
	async clean(): Promise<void> {
		if (this.store.isShared) await this.store.discard([...this.takenBack]);
	}

	/** After an error of {@link record}, when nothing was sent: removes what it may have recorded. */
	async withdraw(): Promise<void> {
		await this.store.remove(this.attempted.splice(0));
	}

	/** Frees the Order Keys of these orders. A value of a key stays, so that it gets its other name next. */
	async release(orders: readonly Order[]): Promise<void> {
		await this.store.remove(
			orders.flatMap((order) =>
				names.flatMap((name) =>
					order.key === undefined
						? []
						: [confirmationOf(factOf(order.key, name)), requestOf(order, name)],
				),
			),
		);
	}

	/**
	 * Records values, as `ProcessedItems.add` does.
	 * @param present those of the values that must have been there
	 * @param before the number of entries before it, if that is known
	 */
	private async add(
		values: readonly string[],
		{ own, present, before = NaN }: { own: readonly string[]; present: string[]; before?: number },
	): Promise<Set<string>> {
		const { known, failure } = await this.store.add(values, { own, trims: true });
		if (failure === undefined) return known;
		// A try was committed although it failed. How much was added tells whether the others were there before.
		const added = (await this.store.size()) - before;
		if (added !== values.length - present.length) throw failure;
		return new Set(present);
	}

	/**
	 * What became of a record after a moment. Values that another worker has taken back, because it was looking them up,
	 * are recorded again.
	 * @returns `overwritten` when another worker has overwritten all of it, and may have recorded the same for itself
	 */
	private async stateOf(
		claim: string[],
		values: string[],
	): Promise<'kept' | 'overwritten' | 'conflict'> {
		await this.store.waitForOthers();
		if (claim.length > 0) {
			// A repeated try finds what the first has added, unless nobody else can have removed it.
			const own = this.store.isShared ? claim : [];
			const { known, failure } = await this.store.add(claim, { own });
			if (failure !== undefined) throw failure;
			if (known.size === 0) {
				await this.store.remove(claim);
				return 'overwritten';
			}
		}
		for (let checks = 0; checks < maxChecks; checks++) {
			const { known } = await this.store.add(values);
			if (known.size === new Set(values).size) return 'kept';
			await this.store.waitForOthers();
		}
		return 'conflict';
	}

	/**
	 * The first number that is free.
	 * @param from where to begin
	 * @param lastCount the number that was free when this process last looked
	 */
	private async firstFree(from: number, lastCount = Infinity): Promise<number> {
		for (let start = from, size = 8; ; start += size, size = 500) {
			const numbers = Array.from({ length: size }, (_, index) => start + index);
			const values = numbers.map((number) => this.number(number));
			const known = await this.store.find(values).catch((error: unknown) => {
				this.store.forget(values.filter((_, index) => numbers[index] >= lastCount));
				throw error;
			});
			const free = numbers.find((number) => {
				const value = this.number(number);
				return !known.has(value) || this.takenBack.has(value);
			});
			if (free !== undefined) return free;
		}
	}

	private setCount(count: number): void {
		this.count = count;
		counts.delete(this.origin);
		if (count > 0) counts.set(this.origin, count);
		for (const origin of counts.keys()) if (counts.size > maxCounts) counts.delete(origin);
	}

	/** The values of a used Order Key, to be recorded under its other name. */
	private renewalOf(order: Order): Array<{ from: string[]; to: string[] }> {
		const used = this.usedName(order);
		if (used === undefined || this.keyUse(order) !== 'same') return [];
		return [{ from: valuesUnder(order, used), to: valuesUnder(order, used === 'a' ? 'b' : 'a') }];
	}

	private usedName({ key }: Order): Name | undefined {
		return names.find((name) => key !== undefined && this.keys.has(factOf(key, name)));
	}

	private keyValues(order: Order): string[] {
		return valuesUnder(order, this.freeName(order));
	}

	/** A released Order Key gets its other name: under the first one, its earlier request may still be recorded. */
	private freeName({ key = '' }: Order): Name {
		const name = this.nameOf.get(key) ?? (this.values?.has(factOf(key, 'a')) ? 'b' : 'a');
		this.nameOf.set(key, name);
		return name;
	}

	/**
	 * The value that shows that a number is taken. The first number is a fact, because it is looked up for executions that
	 * have ordered nothing, and the response to that may be lost.
	 */
	private proofOf(number: number): string {
		return number === 0 ? confirmationOf(this.number(0)) : this.number(number);
	}

	private number(number: number): string {
		return `number ${this.origin} ${number}`;
	}

	private ofParameters({ parameters }: Order): string {
		return `parameters ${this.origin} ${parameters}`;
	}
}

const idOf = ({ id }: Order) => `order ${id}`;

/** The values by which a Retry finds an order. */
const tracesOf = (order: Order): string[] => {
	const { idempotencyKey } = order;
	return [idOf(order), ...(idempotencyKey === undefined ? [] : [`idempotency ${idempotencyKey}`])];
};

const factOf = (key: string, name: Name) => `key ${name} ${key}`;
const requestOf = ({ key, request }: Order, name: Name) =>
	`request ${name} ${hashOf([key, request])}`;

/** What is recorded of a key besides its confirmations. */
const factsOf = (order: Order) =>
	names.flatMap((name) => [factOf(order.key ?? '', name), requestOf(order, name)]);

const confirmationsOf = ({ key = '' }: Order) =>
	names.map((name) => confirmationOf(factOf(key, name)));

const valuesUnder = (order: Order, name: Name): string[] =>
	order.key === undefined ? [] : [...valuesOf(factOf(order.key, name)), requestOf(order, name)];
