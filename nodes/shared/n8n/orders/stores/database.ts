import type { Entry } from '../entry';
import { hashOf, type Order } from '../identity';
import type { TallyStep } from '../limits/tally';
import {
	confirmationOf,
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
	private keys = { facts: new Set<string>(), values: new Set<string>() };
	private requests = new Set<string>();
	/** The names under which this run records Order Keys. */
	private readonly nameOf = new Map<string, Name>();
	/** What a failed {@link record} may have recorded. */
	private attempted: string[] = [];

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
		this.keys = { values, facts: await this.store.confirmed(toConfirm) };
		const hasOrdered = this.keys.facts.has(this.number(0));
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
			.filter((order) => known.has(idOf(order)))
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
		if (keyed.length + again.length > 0) this.size ??= await this.store.size();
		const isFilling = (this.size ?? 0) > maxEntries / 2;
		const renewed = isFilling ? again.flatMap((order) => this.renewalOf(order)) : [];
		const traced = this.isTraced ? [...fresh, ...resent] : [];
		// Nobody else may have recorded these.
		const ofOrders = [
			...traced.map((_, index) => this.proofOf(this.count + index)),
			...(this.isTraced ? fresh.flatMap(tracesOf) : []),
			...keyed.map((order) => confirmationOf(factOf(order.key as string, this.freeName(order)))),
		];
		const others = [
			...traced.flatMap(tracesOf),
			...traced.flatMap((order) => (order.key === undefined ? this.ofParameters(order) : [])),
			...(traced.length > 0 && this.count === 0 ? [this.number(0)] : []),
			...keyed.flatMap((order) => this.keyValues(order)),
			...renewed.flatMap(({ to }) => to),
		];
		const free = [...step.absent, ...ofOrders];
		const ofRun = [...new Set([...ofOrders, ...others])];
		if (ofRun.length + step.absent.length + step.added.length === 0) return true;
		const claim = keyed.length + step.absent.length > 0 ? [newClaim()] : [];
		const ofStep = [...step.present, ...step.absent, ...step.added];
		const wanted = [...claim, ...new Set([...ofStep, ...ofRun])];
		// The tally finds out by itself whether its step was taken.
		this.attempted = ofOrders;
		const own = claim.length > 0 ? claim : ofOrders;
		this.store.expect(wanted.length);
		const known = await this.store.add(wanted, { own, trims: true });
		const isUnchanged =
			!free.some((value) => known.has(value)) && step.present.every((value) => known.has(value));
		if (!isUnchanged) {
			// The execution has ordered before, which counts even if the database fails from here on.
			if (traced.length > 0 && known.has(this.proofOf(this.count))) this.setCount(this.count + 1);
			await this.store.remove(wanted.filter((value) => !known.has(value)));
		}
		const recorded = [...step.absent, ...step.added, ...ofRun];
		const isKept = isUnchanged && (await this.isKept(claim, recorded));
		this.attempted = [];
		if (!isKept) return false;
		this.setCount(this.count + traced.length);
		const earlier = renewed.flatMap(({ from }) => from);
		this.kept += ofRun.filter((value) => !known.has(value)).length - earlier.length;
		await this.store.discard([...claim, ...step.obsolete, ...earlier]);
		return true;
	}

	/**
	 * Removes what was recorded of orders that certainly made nothing.
	 * @param resent how many requests more made nothing, of orders that stay recorded
	 */
	async remove(orders: readonly Order[], resent = 0): Promise<void> {
		const keys = orders.flatMap((order) => this.keyValues(order));
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
		await this.store.remove(keys);
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
	 * Whether what was recorded is still there after a moment. Values that another worker has taken back, because it was
	 * looking them up, are recorded again.
	 */
	private async isKept(claim: string[], values: string[]): Promise<boolean> {
		await this.store.waitForOthers();
		// If the claim is gone, another worker has overwritten all of it, and may have recorded the same for itself.
		const isClaimed = claim.length === 0 || (await this.store.add(claim)).size > 0;
		if (!isClaimed) await this.store.remove(claim);
		for (let checks = 0; isClaimed && checks < maxChecks; checks++) {
			const known = await this.store.add(values);
			if (known.size === new Set(values).size) break;
			await this.store.waitForOthers();
		}
		return isClaimed;
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
			const free = numbers.find((number) => !known.has(this.number(number)));
			if (free !== undefined) return free;
		}
	}

	private setCount(count: number): void {
		this.count = count;
		counts.delete(this.origin);
		if (count > 0) counts.set(this.origin, count);
		for (const origin of counts.keys()) if (counts.size > maxCounts) counts.delete(origin);
	}

	private keyValues(order: Order): string[] {
		if (order.key === undefined) return [];
		const name = this.freeName(order);
		return [...valuesOf(factOf(order.key, name)), requestOf(order, name)];
	}

	/** The values of a used Order Key, to be recorded under its other name. */
	private renewalOf(order: Order): Array<{ from: string[]; to: string[] }> {
		const { key } = order;
		const used = this.usedName(order);
		if (key === undefined || used === undefined || this.keyUse(order) !== 'same') return [];
		const valuesUnder = (name: Name) => [...valuesOf(factOf(key, name)), requestOf(order, name)];
		return [{ from: valuesUnder(used), to: valuesUnder(used === 'a' ? 'b' : 'a') }];
	}

	private usedName({ key }: Order): Name | undefined {
		return names.find((name) => key !== undefined && this.keys.facts.has(factOf(key, name)));
	}

	/** A released Order Key gets its other name: under the first one, its earlier request may still be recorded. */
	private freeName({ key = '' }: Order): Name {
		const name = this.nameOf.get(key) ?? (this.keys.values.has(factOf(key, 'a')) ? 'b' : 'a');
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
