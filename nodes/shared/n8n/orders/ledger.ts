import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../gateway/client/connection';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { Cost } from '../../gateway/protocol/endpoints';
import { isTool } from '../agent/tool';
import { clock } from '../client/httpClient';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { NodeLog } from '../log/nodeLog';
import type { Field } from '../parameters/field';
import type { OrderOptions } from '../parameters/orderOptions';
import { decide, type Decision, type DecisionInput, type LimitStatus } from './decide';
import {
	addTotals,
	knowledgeOf,
	merged,
	totalOf,
	type Entry,
	type Knowledge,
	type Outcome,
	type Total,
} from './entry';
import { itemHashOf, OrderIdentifier, type Order } from './identity';
import { dayOf, type Day } from './limits/day';
import { hasDailyLimit, limitStatus, type Counted } from './limits/limits';
import { Tally } from './limits/tally';
import { lockAll } from './locks';
import { match, unmatchedOf, type Match } from './match';
import { DatabaseOrders, guardedOrders } from './stores/database';
import { ExecutionOrders } from './stores/execution';
import { ProcessOrders } from './stores/process';
import { nodeIdOf, ProcessedItems } from './stores/processedItems';

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
interface Line extends Omit<PaidItem, 'request'> {
	order: Order;
	/** What is known of it from other tries. */
	found?: Match;
	/** How many requests of it may have made something, with those of other tries. */
	timesSent: number;
	/** What is known after it was sent. */
	learned?: Knowledge;
}

interface Settings {
	billing: Cost;
	/** Whether videos or images are ordered. */
	isOrder: boolean;
	connection: Connection;
	/** Those that say what is ordered. */
	fields: readonly Field[];
	yielder: EventLoopYielder;
	log: NodeLog;
	/** Aborts when the user presses Stop. */
	stop?: AbortSignal;
}

type Sending = Extract<Decision, { do: 'send' | 'sendUnderKey' }>;
const isSent = (decision: Decision | undefined): decision is Sending =>
	decision?.do === 'send' || decision?.do === 'sendUnderKey';

/** How often orders are decided again because another worker wrote to n8n's store in the meantime. */
const maxConflicts = 5;

/**
 * The ledger of the paid requests of one run of the node. It looks up what other tries, Retries and executions know of
 * them, records what is sent, and what became of it. `decide.ts` decides.
 */
export class Ledger {
	private readonly execution: ExecutionOrders;
	/** Only for videos and images. */
	private readonly process?: ProcessOrders;
	private readonly store: ProcessedItems;
	private readonly database: DatabaseOrders;
	/** Where there are daily limits. */
	private tally?: Tally;
	private readonly isOfTool: boolean;
	private readonly lines: Line[] = [];
	/** The lines that are sent, by the index of the item. */
	private readonly sent = new Map<number, Line>();
	/** Orders of this execution and its Retries that belong to no other run. */
	private known: Entry[] = [];
	private isLimitedByDay = false;
	/** Unlocks the Order Keys of the run. */
	private unlockKeys?: () => void;
	/** Why n8n's database could not be used; undefined when it could. */
	storeError?: unknown;
	/** The day whose orders are counted; undefined where there is no daily limit. */
	day?: Day;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, billing } = settings;
		this.execution = new ExecutionOrders(context, isOrder);
		const { origin, run } = this.execution;
		if (isOrder) this.process = new ProcessOrders(origin, run);
		this.store = new ProcessedItems(context);
		this.database = new DatabaseOrders(this.store, origin, billing === 'job');
		this.isOfTool = isTool(context.getNode());
	}

	/**
	 * Decides what to do with each item, and records what is about to be sent. First it waits for executions that are
	 * ordering with one of the same Order Keys: their outcome decides whether the key was used.
	 * @returns the decisions, by the index of the item; empty after Stop
	 */
	async open(items: readonly PaidItem[]): Promise<ReadonlyMap<number, Decision>> {
		const { yielder, stop } = this.settings;
		const identifier = new OrderIdentifier(this.context, this.execution, this.settings);
		// Previews come last, so that they take no known order from the items that are really ordered.
		for (const { request, ...item } of [...items.filter(isReal), ...items.filter(isPreview)]) {
			await yielder.yieldIfDue();
			const order = identifier.orderOf(request, { ...item, key: item.options?.key });
			this.lines.push({ ...item, order, timesSent: 0 });
		}
		if (!this.execution.isReadable) {
			const unreadable: Decision = { do: 'refuse', because: 'unreadable' };
			return new Map(this.lines.map(({ index }) => [index, unreadable]));
		}
		this.isLimitedByDay = this.lines.some(({ options }) => hasDailyLimit(options));
		this.unlockKeys = await lockAll(this.keyLocks, stop);
		if (!this.unlockKeys) return new Map();
		return (await this.inTurn(async () => await this.decideAndRecord(), stop)) ?? new Map();
	}

	/** Records the outcome of an item at once, since a Retry may begin before the other items have ended. */
	learn(index: number, outcome: Outcome): void {
		const line = this.sent.get(index);
		const learned = knowledgeOf(outcome);
		if (!line || !learned) return;
		line.learned = learned;
		this.process?.keep([this.entryOf(line, learned)]);
	}

	/**
	 * Counts one sending more of an order whose response was lost.
	 * @returns the limit that does not allow it; undefined when it is counted
	 */
	async countResend(index: number): Promise<LimitStatus> {
		const line = this.sent.get(index);
		if (!line) return undefined;
		return await this.inTurn(async () => {
			for (let tries = 0; tries < maxConflicts; tries++) {
				const counted = { execution: this.totalExcept([]), day: await this.totalOfDay() };
				const { order, options } = line;
				const status = limitStatus(options, order.cost, counted);
				if (status !== undefined) return status;
				if (await this.record({ resent: [line] })) break;
				if (tries === maxConflicts - 1 && hasDailyLimit(options)) return 'dayUnknown';
			}
			line.timesSent++;
			this.keepUnderWay([this.entryOf(line, { state: 'sent' })]);
			return undefined;
		});
	}

	/**
	 * Records the outcome of the run.
	 * @param hasSucceeded whether n8n stores its outputs
	 */
	async close({ hasSucceeded }: { hasSucceeded: boolean }): Promise<void> {
		try {
			// After a success, only videos and images have records to update.
			if (!hasSucceeded || this.process) await this.inTurn(async () => await this.recordOutcomes());
			const orders = this.lines
				.filter(isReal)
				.flatMap(({ order, found }) => (found ? [order, found.entry] : order));
			if (hasSucceeded) this.execution.finishRun(orders);
			// An agent that calls its tool again after a failure wants the same orders.
			if (this.isOfTool && !(hasSucceeded && this.process)) {
				for (const order of orders) this.execution.release(order);
			}
		} finally {
			this.unlockKeys?.();
		}
	}

	/** How many of the oldest entries n8n's store has dropped for those of this run. */
	get dropped(): number {
		return this.database.dropped;
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another run of the execution. */
	get otherJobs(): readonly JobSummary[] {
		const own = new Set(this.lines.flatMap(({ found }) => found?.entry.id ?? []));
		for (const { order } of this.lines) own.add(order.id);
		const isOther = (order: Order) => !own.has(order.id) && !this.execution.isOfOtherRun(order);
		return (this.process?.all(isOther) ?? []).flatMap((entry) =>
			entry.state === 'answered' ? (entry.job ?? []) : [],
		);
	}

	private get keyLocks(): string[] {
		const keys = this.lines.flatMap(({ order: { key } }) => key ?? []);
		return keys.map((key) => `${nodeIdOf(this.context)} ${key}`);
	}

	/** Lets Retries of the execution and, under daily limits, runs of the node take turns. @returns undefined after Stop */
	private async inTurn<T>(call: () => Promise<T>, stop?: AbortSignal): Promise<T | undefined> {
		const ofDay = this.isLimitedByDay ? [`day of ${nodeIdOf(this.context)}`] : [];
		const unlock = await lockAll([this.execution.origin, ...ofDay], stop);
		if (!unlock) return undefined;
		try {
			return await call();
		} finally {
			unlock();
		}
	}

	private async decideAndRecord(): Promise<ReadonlyMap<number, Decision>> {
		const releasing = this.lines.filter(({ options }) => options?.releasesKey);
		const ordering = this.lines.filter(({ options }) => !options?.releasesKey);
		await this.tryStore(async () => {
			if (this.isLimitedByDay) {
				this.day = dayOf(clock.now(), this.context.getTimezone());
				this.tally = new Tally(this.context, this.store, this.day.name);
			}
			await this.database.release(ordersOf(releasing.filter(isReal)));
		});
		this.findKnown(ordering);
		this.pair(ordering, this.known);
		const unknown = ordering.filter(({ found }) => !found);
		for (let tries = 1; ; tries++) {
			await this.tryStore(async () => {
				const local = this.totalExcept([], { isLocal: true }).orders;
				const isRetry = this.context.getMode() === 'retry';
				// What is recorded in a first try shows as well whether anything is known that this process does not know.
				const isSure = !isRetry && local === this.database.count && !unknown.some(hasKey);
				if (tries === 1 && isSure) return;
				this.pair(unknown, await this.database.find(ordersOf(unknown), local));
			});
			const decisions = await this.decideAll();
			const toSend = this.lines.filter((line) => isReal(line) && isSent(decisions.get(line.index)));
			if (this.storeError === undefined) {
				if (!(await this.recordSent(toSend, decisions))) {
					if (tries === maxConflicts) this.storeError = new Error(manyConflicts);
					continue;
				}
			} else if (toSend.length === 0) {
				await this.tryStore(async () => await this.database.withdraw());
			}
			this.apply(decisions);
			return decisions;
		}
	}

	/** All that the execution and the process know of the orders of this run. */
	private findKnown(lines: Line[]): void {
		const orders = ordersOf(lines);
		// The last of equal entries wins: that of the execution, whose items are the same.
		this.known = merged([...(this.process?.find(orders) ?? []), ...this.execution.find()]).filter(
			(entry) => !this.execution.isOfOtherRun(entry),
		);
		// So limits count what only the process knew, and n8n may store it this time.
		if (this.process)
			this.execution.keep(this.known.map((entry) => ({ ...entry, isUnderWay: undefined })));
	}

	/** Finds what is known of each request. */
	private pair(lines: Line[], known: readonly Entry[]): void {
		for (const line of lines) line.found = undefined;
		if (known.length === 0) return;
		for (const line of lines) line.order = this.withItem(line);
		const pairs = match(ordersOf(lines), known);
		for (const line of lines) line.found = pairs.get(line.order);
	}

	private async decideAll(): Promise<Map<number, Decision>> {
		const usedKeys = new Map<string, string>();
		const decisions = new Map<number, Decision>();
		const unmatched = this.unmatched;
		const isUnsure = ({ found }: Line) => found?.entry.state === 'sent';
		// Orders that may have been sent use the limits first, wherever they are in the list.
		const unsure = this.lines.filter(isUnsure);
		const counted: Counted = {
			execution: this.totalExcept(unsure.map(({ order, found }) => found?.entry.id ?? order.id)),
			day: await this.totalOfDay(),
		};
		const lines = [...unsure, ...this.lines.filter((line) => !isUnsure(line))];
		for (const line of [...lines.filter(isReal), ...lines.filter(isPreview)]) {
			await this.settings.yielder.yieldIfDue();
			const { order, found } = line;
			const decision = decide(found, this.inputOf(line, { usedKeys, counted, unmatched }));
			decisions.set(line.index, decision);
			const { key, request, cost } = order;
			if (key !== undefined && (isSent(decision) || found)) usedKeys.set(key, request);
			const own = decision.do === 'send' && !isContinued(line) ? 1 : 0;
			const before = isUnsure(line) ? Math.max(1, found?.entry.timesSent ?? 0) : 0;
			counted.execution = addTotals(
				counted.execution,
				totalOf([{ cost, timesSent: before + own }]),
			);
			if (counted.day) counted.day = addTotals(counted.day, totalOf([{ cost, timesSent: own }]));
		}
		return decisions;
	}

	private inputOf(
		line: Line,
		{
			usedKeys,
			counted,
			unmatched,
		}: {
			usedKeys: ReadonlyMap<string, string>;
			counted: Counted;
			unmatched: DecisionInput['unmatched'];
		},
	): DecisionInput {
		const { order, options, resendsLost } = line;
		const { parameters, idempotencyKey, key } = order;
		const { ifOrderedBefore = 'skip', releasesKey = false } = options ?? {};
		// After n8n was killed, only its database knows what the execution had sent.
		const isRetry = this.context.getMode() === 'retry' && this.settings.billing === 'job';
		return {
			...{ resendsLost, parameters, idempotencyKey, ifOrderedBefore, releasesKey },
			keyUse: this.keyUseOf(order, usedKeys),
			unmatched: key === undefined ? unmatched : [],
			areTriesKnown: this.storeError === undefined || (!isRetry && this.database.count === 0),
			limit: isContinued(line) ? undefined : limitStatus(options, order.cost, counted),
		};
	}

	private keyUseOf(order: Order, used: ReadonlyMap<string, string>): DecisionInput['keyUse'] {
		const { key, request } = order;
		if (key === undefined) return 'free';
		if (this.storeError !== undefined) return 'unknown';
		const use = this.database.keyUse(order);
		if (use !== 'free' || !used.has(key)) return use;
		return used.get(key) === request ? 'same' : 'other';
	}

	/** See {@link DecisionInput.unmatched}. */
	private get unmatched(): DecisionInput['unmatched'] {
		const [line] = this.lines;
		if (!line) return [];
		const pairs = this.lines.flatMap(({ found }) => found ?? []);
		const { isOfTool, known, database } = this;
		const entries = unmatchedOf(line.order, { known, pairs, isOfTool });
		if (entries.length > 0) return entries;
		const local = new Set(this.known.map(({ id }) => id));
		const onlyRecorded = pairs.filter(({ entry }) => !local.has(entry.id)).length;
		const unknown = database.count - this.totalExcept([], { isLocal: true }).orders - onlyRecorded;
		return unknown > 0 && database.areParametersKnown ? 'unknown' : [];
	}

	/** What the limits of the execution count, without some orders. */
	private totalExcept(ids: readonly string[], { isLocal = false } = {}): Total {
		const { execution, process, database } = this;
		const excepted = new Set(ids);
		const others = (process?.orders ?? []).filter(
			(order) => !execution.has(order) && !excepted.has(order.id),
		);
		const local = addTotals(
			execution.totalExcept(({ id }) => excepted.has(id)),
			totalOf(others),
		);
		const recorded = database.count - excepted.size;
		// After n8n was killed, nobody knows what these orders cost.
		return isLocal || recorded <= local.orders ? local : { orders: recorded, cost: Infinity };
	}

	/** What the limits of the day count; undefined where there are none, or when they cannot be looked up. */
	private async totalOfDay(): Promise<Total | undefined> {
		const { tally } = this;
		if (!tally || this.storeError !== undefined) return undefined;
		let total: Total | undefined;
		await this.tryStore(async () => {
			total = await tally.total();
		});
		return total;
	}

	/** @returns false when the orders must be decided again */
	private async recordSent(
		toSend: Line[],
		decisions: Map<number, Decision>,
	): Promise<boolean | undefined> {
		const decisionOf = ({ index }: Line) => decisions.get(index);
		const sent = toSend.filter((line) => decisionOf(line)?.do === 'send');
		const fresh = sent.filter(isFresh);
		const guarded = this.settings.billing === 'job' ? fresh : fresh.filter(hasKey);
		if (guarded.length > guardedOrders(guarded.some(hasKey))) {
			for (const { index } of toSend) decisions.set(index, { do: 'refuse', because: 'tooMany' });
			return await this.record({});
		}
		const resent = sent.filter((line) => !isFresh(line) && !isContinued(line));
		const again = this.lines.filter((line) => {
			const decision = decisionOf(line);
			return isReal(line) && decision && 'because' in decision && decision.because === 'keyUsed';
		});
		return await this.record({ fresh, resent, again });
	}

	/** Writes to n8n's database. @returns false when another worker has written meanwhile; undefined after an error */
	private async record({
		fresh = [],
		resent = [],
		again = [],
		change = totalOf([...fresh, ...resent].map(({ order: { cost } }) => ({ cost, timesSent: 1 }))),
	}: {
		fresh?: Line[];
		resent?: Line[];
		again?: Line[];
		change?: Total;
	}): Promise<boolean | undefined> {
		const { tally, database } = this;
		let isRecorded: boolean | undefined;
		await this.tryStore(async () => {
			const taken = change.orders === 0 ? undefined : await tally?.step(change);
			// Until it is clear whether the step was taken.
			taken?.begin();
			isRecorded = await database.record({
				...{ fresh: ordersOf(fresh), resent: ordersOf(resent), again: ordersOf(again) },
				step: taken?.step,
			});
			taken?.end(isRecorded);
		});
		return isRecorded;
	}

	private apply(decisions: ReadonlyMap<number, Decision>): void {
		const underWay: Entry[] = [];
		for (const line of this.lines) {
			const { order, found, index } = line;
			const decision = decisions.get(index);
			if (isPreview(line) || !isSent(decision)) {
				this.execution.release(order);
			} else {
				const earlier = found?.entry.timesSent ?? 0;
				const isResent = decision.do === 'send' && !isContinued(line);
				line.timesSent = isResent ? earlier + 1 : Math.max(1, earlier);
				this.sent.set(index, line);
				if (this.process) underWay.push(this.entryOf(line, { state: 'sent' }));
			}
			if (isPreview(line) || !found) continue;
			// An order that another run sent belongs to this run from now on.
			if (this.process) {
				const { run, item } = this.withItem(line);
				this.execution.keep([{ ...this.earlierEntry(found), run, index, item }]);
			}
			this.execution.assign(found.entry);
		}
		this.keepUnderWay(underWay);
	}

	private async recordOutcomes(): Promise<void> {
		const made: Entry[] = [];
		const unmade: Line[] = [];
		const obsolete: Order[] = [];
		for (const line of this.sent.values()) {
			await this.settings.yielder.yieldIfDue();
			const { order, found, learned } = line;
			if (learned) {
				made.push(this.entryOf(line, learned));
				if (found && found.entry.id !== order.id) obsolete.push(found.entry);
				continue;
			}
			unmade.push(line);
			obsolete.push(order);
			// An earlier try may have been accepted, even if this one certainly made nothing.
			if (found) made.push({ ...this.earlierEntry(found), isUnderWay: undefined });
			else this.execution.release(order);
		}
		for (const store of this.process ? [this.execution, this.process] : [this.execution])
			store.remove(obsolete);
		this.keep(made);
		await this.giveBack(unmade);
	}

	/** Gives back the room and the Order Keys of requests that certainly made nothing. */
	private async giveBack(lines: Line[]): Promise<void> {
		const fresh = lines.filter(isFresh);
		const requests = lines.map(({ order, found, timesSent }) => ({
			cost: order.cost,
			timesSent: timesSent - (found?.entry.timesSent ?? 0),
		}));
		const { orders, cost } = totalOf(requests);
		if (orders === 0) return;
		await this.tryStore(
			async () => await this.database.remove(ordersOf(fresh), orders - fresh.length),
		);
		for (let tries = 0; tries < maxConflicts && this.tally; tries++) {
			if ((await this.record({ change: { orders: -orders, cost: -cost } })) !== false) return;
		}
	}

	private keepUnderWay(entries: Entry[]): void {
		this.execution.keep(entries);
		this.process?.keep(entries.map((entry) => ({ ...entry, isUnderWay: true })));
	}

	private keep(entries: readonly Entry[]): void {
		this.execution.keep(entries);
		this.process?.keep(entries);
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

	private entryOf(line: Line, learned: Knowledge): Entry {
		return { ...this.withItem(line), ...learned, timesSent: line.timesSent };
	}

	/** What an earlier try knew of the order. */
	private earlierEntry({ entry }: Match): Entry {
		return { ...entry, isRecalled: undefined, isUnderWay: undefined };
	}

	/** Adds the hash of the item, which only orders that are kept or compared need. */
	private withItem({ order, index }: Pick<Line, 'index' | 'order'>): Order {
		if (order.item !== undefined || this.isOfTool) return order;
		const item = itemHashOf(this.context.getInputData()[index]);
		return item === undefined ? order : { ...order, item };
	}
}

const manyConflicts = 'Other workers wrote at the same moment, again and again';

const isPreview = (item: Pick<PaidItem, 'isPreview'>) => item.isPreview;
const isReal = (item: Pick<PaidItem, 'isPreview'>) => !item.isPreview;
/** Whether it was not sent before. */
const isFresh = ({ found }: Line) => !found;
/** Whether some of its requests were answered, so that it counts already. */
const isContinued = ({ found }: Line) => found?.entry.state === 'new';
const hasKey = ({ order }: Line) => order.key !== undefined;

const ordersOf = (lines: readonly Line[]) => lines.map(({ order }) => order);
