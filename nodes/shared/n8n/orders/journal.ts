import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Connection } from '../../gateway/client/connection';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { sumOf } from '../../gateway/prices';
import type { Cost } from '../../gateway/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { NodeLog } from '../log/nodeLog';
import type { OrderOptions } from '../parameters/orderOptions';
import { DatabaseOrders } from './database';
import type { Day } from './day';
import { DayLimits, hasDailyLimit, type LimitedOrder } from './dayLimits';
import {
	decide,
	learn,
	type Decision,
	type DecisionInput,
	type LimitStatus,
	type Outcome,
} from './decide';
import { lockAll } from './locks';
import { isGuess, match, type Match } from './match';
import {
	addTotals,
	hashOf,
	OrderNumbers,
	totalOf,
	type Entry,
	type Knowledge,
	type Known,
	type Order,
	type Total,
} from './order';
import { ExecutionOrders, mergeKnown, ProcessOrders, type KnownOrders } from './shelves';
import { nodeIdOf, Store } from './store';

/** An item whose request costs money. */
export interface PaidItem {
	/** Index of the item. */
	index: number;
	/** What makes two requests the same. */
	request: unknown;
	/** The user's options for its order; undefined where nothing is ordered. */
	options?: OrderOptions;
	/** Whether the user wants it sent again when its response was lost. */
	resendsLost: boolean;
	/** Whether only the decision is wanted: nothing is sent or kept for this item. */
	isPreview: boolean;
	/** Estimated cost of its order; undefined without a price. */
	cost?: number;
}

/** One request of the run. Only the hash of the request is kept, since it may be large. */
interface Line extends Omit<PaidItem, 'request'>, LimitedOrder {
	order: Order;
	/** What is known of it from other tries. */
	found?: Match;
	/** What is known after it was sent. */
	learned?: Knowledge;
}

interface Settings {
	cost: Cost;
	/** Whether videos or images are ordered. */
	isOrder: boolean;
	connection: Connection;
	yielder: EventLoopYielder;
	log: NodeLog;
	/** Aborts when the user presses Stop. */
	stop?: AbortSignal;
}

/**
 * The journal of the paid requests of one run of the node. It looks up what other tries, Retries and executions know of
 * them, and records their outcomes. `decide.ts` decides what follows from that.
 */
export class Journal {
	private readonly execution: ExecutionOrders;
	/** Only for videos and images. */
	private readonly process?: ProcessOrders;
	private readonly database: DatabaseOrders;
	private readonly store: Store;
	private readonly dayLimits: DayLimits;
	private readonly isOfTool: boolean;
	private readonly lines: Line[] = [];
	/** The lines that are sent, by the index of the item. */
	private readonly sent = new Map<number, Line>();
	/** Unlocks the Order Keys of the run. */
	private unlockKeys?: () => void;
	/** Why n8n's database could not be used; undefined when it could. */
	storeError?: unknown;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, cost } = settings;
		this.execution = new ExecutionOrders(context, isOrder);
		const { origin, run } = this.execution;
		if (isOrder) this.process = new ProcessOrders(origin, run);
		this.store = new Store(context);
		this.dayLimits = new DayLimits(context, this.store);
		this.database = new DatabaseOrders(this.store, origin, cost === 'job');
		this.isOfTool = isTool(context.getNode());
	}

	/**
	 * Decides what to do with each item, and records what is about to be sent. First it waits for executions that are
	 * ordering with one of the same Order Keys: their outcome decides whether the key was used.
	 * @returns the decisions, by the index of the item; empty after Stop
	 */
	async open(items: readonly PaidItem[]): Promise<ReadonlyMap<number, Decision>> {
		const numbers = new OrderNumbers(this.context, this.execution, this.settings);
		// Previews come last, so that they take no known order from the items that are really ordered.
		const realItemsFirst = [...items.filter(isReal), ...items.filter(isPreview)];
		for (const { request, ...paidItem } of realItemsFirst) {
			await this.settings.yielder.yieldIfDue();
			// n8n's database is searched by input item for videos only.
			const item = this.settings.cost === 'job' ? this.itemOf(paidItem.index) : undefined;
			const order = numbers.orderOf(request, { ...paidItem, item });
			this.lines.push({ ...paidItem, order, claims: [] });
		}
		if (!this.execution.isReadable) {
			return new Map(this.lines.map(({ index }) => [index, unreadable]));
		}
		this.unlockKeys = await lockAll(this.keyLocks, this.settings.stop);
		if (!this.unlockKeys) return new Map();
		const releasing = this.lines.filter(({ options }) => options?.releasesKey);
		await this.tryStore(
			async () => await this.database.release(ordersOf(releasing.filter(isReal))),
		);
		const ordering = this.lines.filter(({ options }) => !options?.releasesKey);
		const known = this.readKnown(ordersOf(ordering));
		this.pair(ordering, known);
		const unknown = ordering.filter(({ found }) => !found);
		const others = [...known, ...(this.process?.orders ?? [])];
		// Kept before anything else is awaited: another Retry of this execution may begin at the same moment.
		this.process?.keep(
			unknown
				.filter(isReal)
				.map((line) => ({ ...this.entryOf(line, { state: 'sent' }), isUnderWay: true })),
		);
		await this.tryStore(async () => await this.database.record(ordersOf(unknown)));
		this.pair(unknown, this.database.knownOf(ordersOf(unknown), others));
		if (ordering.some(hasDailyLimit)) await this.claimDailyLimits();
		const decisions = await this.decideAll();
		await this.releaseDailyLimits(this.lines.filter(({ index }) => !this.sent.has(index)));
		const unsent = unknown.filter(({ index }) => !this.sent.has(index));
		this.process?.remove(ordersOf(unsent.filter(isReal)));
		// If n8n is killed from here on, only the orders that are really sent count as sent.
		await this.tryStore(async () => {
			await this.database.keepOnly(ordersOf([...this.sent.values()]));
		});
		return decisions;
	}

	/** Records the outcome of an item at once, since a Retry may begin before the other items have ended. */
	learn(index: number, outcome: Outcome): void {
		const line = this.sent.get(index);
		const learned = learn(outcome);
		if (!line || !learned) return;
		line.learned = learned;
		this.process?.keep([this.entryOf(line, learned)]);
	}

	/**
	 * Records the outcome of the run.
	 * @param isOver whether it has succeeded, so that n8n stores its outputs
	 */
	async close({ isOver }: { isOver: boolean }): Promise<void> {
		try {
			await this.closeLines(isOver);
		} finally {
			this.unlockKeys?.();
		}
	}

	/** The day whose orders are counted; undefined where there is no daily limit. */
	get day(): Day | undefined {
		return this.dayLimits.day;
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another run of the execution. */
	get otherJobs(): readonly JobSummary[] {
		const own = new Set(this.lines.flatMap(({ found }) => found?.known.id ?? []));
		for (const { order } of this.lines) own.add(order.id);
		const isOther = (order: Order) => !own.has(order.id) && !this.execution.isTaken(order);
		return (this.process?.readAll(isOther) ?? []).flatMap((entry) =>
			entry.state === 'answered' ? (entry.job ?? []) : [],
		);
	}

	private get keyLocks(): string[] {
		const keys = this.lines.flatMap(({ order: { key } }) => key ?? []);
		return keys.map((key) => `${nodeIdOf(this.context)} ${key}`);
	}

	private async closeLines(isOver: boolean): Promise<void> {
		// After a success, only videos and images have records to update.
		if (!isOver || this.process) await this.keepLearned();
		const orders = this.lines
			.filter(isReal)
			.flatMap(({ order, found }) => (found ? [order, found.known] : order));
		if (isOver) this.execution.settle(orders);
		// An agent that calls its tool again after a failure wants the same orders.
		if (this.isOfTool && !(isOver && this.process)) {
			for (const order of orders) this.execution.release(order);
		}
	}

	private async keepLearned(): Promise<void> {
		const made: Entry[] = [];
		const obsolete: Array<Pick<Order, 'id'>> = [];
		for (const line of this.sent.values()) {
			await this.settings.yielder.yieldIfDue();
			const { order, found, learned } = line;
			// An earlier try may have been accepted, even if this one certainly made nothing.
			if (learned) made.push(this.entryOf(line, learned));
			else if (found) made.push(this.earlierEntry(line, found));
			else this.execution.release(order);
			const id = learned ? found?.known.id : order.id;
			if (id !== undefined) obsolete.push({ id });
		}
		for (const source of this.sources) {
			source.remove(obsolete);
			source.keep(made);
		}
		await this.tryStore(async () => await this.database.keepOnly(made));
		await this.releaseDailyLimits([...this.sent.values()].filter(({ learned }) => !learned));
	}

	private get sources(): KnownOrders[] {
		return this.process ? [this.execution, this.process] : [this.execution];
	}

	/** All that the execution and the process know of the orders of this run. */
	private readKnown(orders: Order[]): Entry[] {
		// The last of equal entries wins: that of the execution, whose items are the same.
		const known = mergeKnown(
			this.sources.reverse().flatMap((source) => source.read(orders)),
		).filter((entry) => !this.execution.isTaken(entry));
		// So the limit counts what only the process knew, and n8n may store it this time.
		if (this.process)
			this.execution.keep(known.map((entry) => ({ ...entry, isUnderWay: undefined })));
		return known;
	}

	/** Finds what is known of each request. */
	private pair(lines: Line[], known: Known[]): void {
		if (known.length === 0) return;
		for (const line of lines) line.order = this.withItem(line);
		const pairs = match(ordersOf(lines), known);
		for (const line of lines) {
			line.found = pairs.get(line.order);
			if (!line.found || !this.process || isPreview(line)) continue;
			const entry = this.earlierEntry(line, line.found);
			// An order that another run sent belongs to this run from now on.
			const { run, place, item, itemCount } = line.order;
			const own = { run, place, item, itemCount };
			this.execution.keep([isGuess(line.found) ? entry : { ...entry, ...own }]);
		}
	}

	private async tryStore(call: () => Promise<void>): Promise<void> {
		try {
			await call();
		} catch (error) {
			// Later calls fail for the same reason.
			if (this.storeError === undefined)
				this.settings.log.write('store failed', { problem: String(error) });
			this.storeError = error;
		}
	}

	/** Claims a share of the daily limits for each line that would be sent. */
	private async claimDailyLimits(): Promise<void> {
		const decisions = await this.decideAll({ isTrial: true });
		const toSend = this.lines.filter(
			(line) => hasDailyLimit(line) && decisions.get(line.index)?.do === 'send',
		);
		await this.tryStore(async () => await this.dayLimits.claim(toSend));
	}

	/** Releases what was claimed for orders that certainly made nothing. */
	private async releaseDailyLimits(lines: readonly Line[]): Promise<void> {
		if (lines.some(({ claims }) => claims.length > 0))
			await this.tryStore(async () => await this.dayLimits.release(lines));
	}

	private dailyLimitOf({ dailyLimit, options }: Line): LimitStatus {
		if (dailyLimit !== undefined) return dailyLimit;
		if (this.storeError !== undefined) return 'unknown';
		// It claimed nothing, because an order with the same key came before it; that one was over the limit.
		return options?.maxPerDay === undefined ? 'costly' : 'full';
	}

	/** @param isTrial only finds out what would be decided without daily limits, and records nothing */
	private async decideAll({ isTrial = false } = {}): Promise<Map<number, Decision>> {
		const usedKeys = new Map<string, string>();
		const decisions = new Map<number, Decision>();
		// Orders that may have been sent use the limits first, wherever they are in the list.
		const uncountedFirst = [
			...this.lines.filter(isUncounted),
			...this.lines.filter((line) => !isUncounted(line)),
		];
		for (const lines of [uncountedFirst.filter(isReal), uncountedFirst.filter(isPreview)]) {
			let placed: Total | undefined;
			for (const line of lines) {
				await this.settings.yielder.yieldIfDue();
				// Read as late as possible, right before it is written: other calls of a tool share it.
				placed ??= this.placedBefore(lines);
				const { order, found } = line;
				const input = this.decisionInputOf(line, { usedKeys, placed, isTrial });
				const decision = decide(found, input);
				const isSent = decision.do === 'send' || decision.do === 'sendUnderKey';
				if (!isTrial) this.settle(line, isSent && isReal(line));
				const { key, request } = order;
				if (key !== undefined && (isSent || found)) usedKeys.set(key, request);
				if (found ? isUncounted(line) : isSent) placed = addTotals(placed, totalOf([order]));
				decisions.set(line.index, decision);
			}
		}
		return decisions;
	}

	private settle(line: Line, isSent: boolean): void {
		const { order, found } = line;
		if (isSent) {
			this.sent.set(line.index, line);
			if (this.process) this.execution.keep([this.entryOf(line, { state: 'sent' })]);
		} else {
			this.execution.release(order);
		}
		if (found && !isGuess(found) && isReal(line)) this.execution.take(found.known);
	}

	/** What the limits of the execution count before any of these lines is sent. */
	private placedBefore(lines: readonly Line[]): Total {
		const { execution, process } = this;
		const uncounted = new Set(
			lines.filter(isUncounted).map(({ order, found }) => found?.known.id ?? order.id),
		);
		const others = (process?.orders ?? []).filter(
			(order) => !execution.has(order) && !uncounted.has(order.id),
		);
		return addTotals(
			execution.placedExcept(({ id }) => uncounted.has(id)),
			totalOf(others),
		);
	}

	private decisionInputOf(
		line: Line,
		{
			usedKeys,
			placed,
			isTrial,
		}: { usedKeys: ReadonlyMap<string, string>; placed: Total; isTrial: boolean },
	): DecisionInput {
		const { order, options, resendsLost, found } = line;
		const { written, idempotencyKey } = order;
		const { ifOrderedBefore = 'skip', releasesKey = false } = options ?? {};
		// After n8n was killed, only its database knows what the execution had sent.
		const isRetry = this.storeError !== undefined && this.context.getMode() === 'retry';
		const isUnknown = isRetry && found === undefined && this.settings.cost === 'job';
		const isCounted = found !== undefined && !isUncounted(line);
		const executionLimit = isCounted ? 'free' : executionLimitOf(line, placed);
		return {
			...{ resendsLost, written, idempotencyKey, ifOrderedBefore, releasesKey },
			keyUse: this.keyUseOf(order, usedKeys),
			executionLimit: isUnknown ? 'unknown' : executionLimit,
			dailyLimit: isTrial || !hasDailyLimit(line) ? 'free' : this.dailyLimitOf(line),
		};
	}

	private keyUseOf(
		{ key, request }: Order,
		used: ReadonlyMap<string, string>,
	): DecisionInput['keyUse'] {
		if (key === undefined) return 'free';
		if (this.storeError !== undefined) return 'unknown';
		const use = this.database.keyUse(key, request);
		if (use !== 'free' || !used.has(key)) return use;
		return used.get(key) === request ? 'same' : 'other';
	}

	private entryOf(line: Line, learned: Knowledge): Entry {
		return { ...this.withItem(line), ...learned };
	}

	/** What an earlier try knew of the order, with the idempotency key that it was sent with. */
	private earlierEntry(line: Line, { known }: Match): Entry {
		const { idempotencyKey } = known;
		return { ...this.withItem(line), ...known, idempotencyKey, isUnderWay: undefined };
	}

	/** Adds the hash of the item, which only orders that are kept or compared need. */
	private withItem({ order, index }: Pick<Line, 'index' | 'order'>): Order {
		return order.item === undefined ? { ...order, item: this.itemOf(index) } : order;
	}

	/** The hash of an item; undefined in a tool, whose items do not identify orders. */
	private itemOf(index: number): string | undefined {
		return this.isOfTool ? undefined : itemHashOf(this.context.getInputData()[index]);
	}
}

const unreadable: Decision = { do: 'refuse', because: 'unreadable' };

/** Whether the limits of the execution allow an order. */
function executionLimitOf(
	{ options, order: { cost = Infinity } }: Line,
	placed: Total,
): LimitStatus {
	const { max = Infinity, maxCost = Infinity } = options ?? {};
	if (placed.orders >= max) return 'full';
	return maxCost < Infinity && sumOf([placed.cost, cost]) > maxCost ? 'costly' : 'free';
}

const isPreview = (item: Pick<PaidItem, 'isPreview'>) => item.isPreview;
const isReal = (item: Pick<PaidItem, 'isPreview'>) => !item.isPreview;

const ordersOf = (lines: readonly Line[]) => lines.map(({ order }) => order);

/** Whether the order may never have been sent: n8n may have been killed between the record and the request. */
const isUncounted = ({ found }: Line) => found?.known.state === 'sent';

/** The hash of an item; undefined for an empty item, which identifies nothing, and for one that cannot be compared. */
function itemHashOf({ json, binary }: INodeExecutionData): string | undefined {
	if (Object.keys(json).length === 0 && !binary) return undefined;
	try {
		return hashOf([json, binary]);
	} catch {
		// An item can contain itself in n8n.
		return undefined;
	}
}
