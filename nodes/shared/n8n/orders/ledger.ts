import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { Cost } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { NodeLog } from '../log/nodeLog';
import type { Field } from '../parameters/field';
import type { Decision, DecisionInput, LimitStatus } from './decide';
import {
	knowledgeOf,
	totalOf,
	type Entry,
	type Knowledge,
	type Outcome,
	type Total,
} from './entry';
import { hashOf, itemHashOf, OrderIdentifier, type Order } from './identity';
import {
	hasKey,
	isContinued,
	isFresh,
	isPreview,
	isReal,
	isUnsure,
	ordersOf,
	type Line,
	type PaidItem,
} from './line';
import { hasDailyLimit, limitStatus } from './limits/limits';
import { lockAll } from './locks';
import { match, unmatchedOf, type Match } from './match';
import { isSent, plan } from './plan';
import { maxConflicts, Records } from './records';
import { guardedOrders } from './stores/database';
import { LocalOrders } from './stores/local';
import { keyUses, type KeyUse } from './stores/process';
import { nodeIdOf } from './stores/processedItems';

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

/**
 * The ledger of the paid requests of one run of the node. It looks up what other tries, Retries and executions know of
 * them, records what is sent, and what became of it. `plan.ts` decides.
 */
export class Ledger {
	private readonly local: LocalOrders;
	private readonly records: Records;
	private readonly isOfTool: boolean;
	private readonly lines: Line[] = [];
	/** The lines that are sent, by the index of the item. */
	private readonly sent = new Map<number, Line>();
	/** What the execution and the process know, without the orders of other runs. */
	private known: Entry[] = [];
	private keyUses?: Map<string, KeyUse>;
	private isLimitedByDay = false;
	/** Unlocks the Order Keys of the run. */
	private unlockKeys?: () => void;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, billing, log } = settings;
		const isTraced = billing === 'job';
		this.local = new LocalOrders(context, isOrder, isTraced);
		const { origin } = this.local.execution;
		this.records = new Records(context, log, { origin, isTraced });
		this.isOfTool = isTool(context.getNode());
	}

	/**
	 * Decides what to do with each item, and records what is about to be sent. First it waits for executions that are
	 * ordering with one of the same Order Keys: their outcome decides whether the key was used.
	 * @returns the decisions, by the index of the item; empty after Stop
	 */
	async open(items: readonly PaidItem[]): Promise<ReadonlyMap<number, Decision>> {
		const { yielder, stop } = this.settings;
		const { execution } = this.local;
		const identifier = new OrderIdentifier(this.context, execution, this.settings);
		// Previews come last, so that they take no known order from the items that are really ordered.
		for (const { request, ...item } of [...items.filter(isReal), ...items.filter(isPreview)]) {
			await yielder.yieldIfDue();
			const order = identifier.orderOf(request, { ...item, key: item.options?.key });
			this.lines.push({ ...item, order, timesSent: 0 });
		}
		if (!execution.isReadable) {
			const unreadable: Decision = { do: 'refuse', because: 'unreadable' };
			return new Map(this.lines.map(({ index }) => [index, unreadable]));
		}
		this.isLimitedByDay = this.lines.some(({ options }) => hasDailyLimit(options));
		const node = nodeIdOf(this.context);
		const keys = this.lines.flatMap(({ order: { key } }) => (key ? `${node} ${key}` : []));
		this.unlockKeys = await lockAll(keys, stop);
		if (!this.unlockKeys) return new Map();
		return (await this.inTurn(async () => await this.decideAndRecord(), stop)) ?? new Map();
	}

	/** Records the outcome of an item at once, since a Retry may begin before the other items have ended. */
	recordOutcome(index: number, outcome: Outcome): void {
		const line = this.sent.get(index);
		const learned = knowledgeOf(outcome);
		if (!line || !learned) return;
		line.learned = learned;
		this.local.process?.keep([this.entryOf(line, learned)]);
	}

	/**
	 * Counts an order once more, because it is sent again after its response was lost.
	 * @returns why it must not be sent; undefined when it is counted
	 */
	async countResend(index: number): Promise<LimitStatus | 'notRecorded'> {
		const line = this.sent.get(index);
		if (!line) return undefined;
		return await this.inTurn(async () => {
			const { order, options } = line;
			for (let tries = 1; ; tries++) {
				const day = await this.records.totalOfDay();
				const status = limitStatus(options, order.cost, { execution: this.totalExcept(), day });
				if (status !== undefined) return status;
				const isRecorded = await this.records.record({ resent: [order] });
				if (isRecorded) break;
				if (isRecorded === false && tries < maxConflicts) continue;
				if (hasDailyLimit(options)) return 'dayUnknown';
				if (!this.isRecordable) return 'notRecorded';
				break;
			}
			line.timesSent++;
			this.local.keepUnderWay([this.entryOf(line, { state: 'sent' })]);
			return undefined;
		});
	}

	/**
	 * Records the outcome of the run.
	 * @param hasSucceeded whether n8n stores its outputs
	 */
	async close({ hasSucceeded }: { hasSucceeded: boolean }): Promise<void> {
		const { execution, process } = this.local;
		try {
			// After a success, only videos and images have records to update.
			if (!hasSucceeded || process) await this.inTurn(async () => await this.recordOutcomes());
			const orders = this.lines
				.filter(isReal)
				.flatMap(({ order, found }) => (found ? [order, found.entry] : order));
			if (hasSucceeded) execution.finishRun(orders);
			// An agent that calls its tool again after a failure wants the same orders.
			if (this.isOfTool && !(hasSucceeded && process)) {
				for (const order of orders) execution.release(order);
			}
		} finally {
			await this.records.settle();
			this.unlockKeys?.();
		}
	}

	/** What the messages about orders need to know. */
	get facts(): Pick<Records, 'failure' | 'day' | 'usedBefore'> & { dropped: number } {
		const { failure, day, usedBefore, orders } = this.records;
		return { failure, day, usedBefore, dropped: orders.dropped };
	}

	/** Who used an Order Key before, as far as this process knows. */
	useOfKey(key: string): KeyUse | undefined {
		this.keyUses ??= keyUses(nodeIdOf(this.context));
		return this.keyUses.get(hashOf(key));
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another run of the execution. */
	get otherJobs(): readonly JobSummary[] {
		const own = this.lines.flatMap(({ order, found }) => [
			order.id,
			...(found ? [found.entry.id] : []),
		]);
		return this.local
			.othersThan(new Set(own))
			.flatMap((entry) => (entry.state === 'answered' ? (entry.job ?? []) : []));
	}

	/** Lets Retries of the execution and, under daily limits, runs of the node take turns. @returns undefined after Stop */
	private async inTurn<T>(call: () => Promise<T>, stop?: AbortSignal): Promise<T | undefined> {
		const ofDay = this.isLimitedByDay ? [`day of ${nodeIdOf(this.context)}`] : [];
		const unlock = await lockAll([this.local.execution.origin, ...ofDay], stop);
		if (!unlock) return undefined;
		let unlockDay: (() => Promise<void>) | undefined;
		try {
			if (this.isLimitedByDay) unlockDay = await this.records.lockDay(stop);
			return stop?.aborted ? undefined : await call();
		} finally {
			await unlockDay?.();
			unlock();
		}
	}

	private async decideAndRecord(): Promise<ReadonlyMap<number, Decision>> {
		const { lines, local, records } = this;
		const releasing = lines.filter(({ options }) => options?.releasesKey);
		const ordering = lines.filter(({ options }) => !options?.releasesKey);
		if (this.isLimitedByDay) await records.countDay();
		await records.release(ordersOf(releasing.filter(isReal)));
		this.known = local.find(ordersOf(ordering));
		this.pair(ordering, this.known);
		const unknown = ordering.filter(({ found }) => !found);
		for (let tries = 1; ; tries++) {
			const { orders } = local.totalExcept();
			const isRetry = this.context.getMode() === 'retry';
			const keyed = unknown.filter(hasKey);
			// To look up a few Order Keys would look like a record to another worker at the same moment.
			const guessed = records.isShared ? maxGuessed : 0;
			// A first try notices while it records whether the database knows more than this process.
			const isSure = !isRetry && orders === records.orders.count && keyed.length <= guessed;
			const isGuess = tries === 1 && isSure;
			// After a conflict, all of it is looked up; after an error, it would find what it has recorded itself.
			if (records.error === undefined && !isGuess)
				this.pair(unknown, await records.find(ordersOf(unknown), tries > 1 ? 0 : orders));
			const decisions = await this.plan();
			const isUsed = (line: Line) => isReal(line) && isSent(decisions.get(line.index));
			// Whether a key is free decides about these, and nothing that is recorded shows it.
			if (isGuess && !keyed.every(isUsed)) continue;
			if (records.error !== undefined) {
				if (![...decisions.values()].some(isSent)) await records.withdraw();
			} else if (!(await this.record(decisions))) {
				if (tries === maxConflicts) records.error = new Error(manyConflicts);
				continue;
			}
			this.apply(decisions);
			return decisions;
		}
	}

	/** Finds what is known of each request. */
	private pair(lines: Line[], known: readonly Entry[]): void {
		for (const line of lines) line.found = undefined;
		if (known.length === 0) return;
		for (const line of lines) line.order = this.withItem(line);
		const pairs = match(ordersOf(lines), known);
		for (const line of lines) line.found = pairs.get(line.order);
	}

	private async plan(): Promise<Map<number, Decision>> {
		const { lines, records, settings } = this;
		const unsure = lines.filter(isUnsure).map(({ order, found }) => found?.entry.id ?? order.id);
		const day = (records.usedBefore = await records.totalOfDay());
		const hasError = records.error !== undefined;
		// After n8n was killed, only its database knows what the execution had sent.
		const isRetry = this.context.getMode() === 'retry' && settings.billing === 'job';
		const facts = {
			counted: { execution: this.totalExcept(new Set(unsure)), day },
			unmatched: this.unmatched,
			areTriesKnown: !hasError || (!isRetry && records.orders.count === 0),
			isRecordable: this.isRecordable,
			keyUse: (line: Line) => {
				if (!hasKey(line)) return 'free';
				return hasError ? 'unknown' : records.orders.keyUse(line.order);
			},
		} as const;
		return await plan(lines, facts, settings.yielder);
	}

	/**
	 * See {@link DecisionInput.isRecordable}. A job that is not recorded would be ordered again after a kill. Of other
	 * requests, only Order Keys and limits of the day are recorded.
	 */
	private get isRecordable(): boolean {
		const { isMissing = true } = this.records.failure ?? {};
		return this.settings.billing !== 'job' || isMissing;
	}

	/** See {@link DecisionInput.unmatched}. */
	private get unmatched(): DecisionInput['unmatched'] {
		const [line] = this.lines;
		if (!line) return [];
		const { isOfTool, known, local } = this;
		const { count, areParametersKnown } = this.records.orders;
		const pairs = this.lines.flatMap(({ found }) => found ?? []);
		const entries = unmatchedOf(line.order, { known, pairs, isOfTool });
		if (entries.length > 0) return entries;
		const ids = new Set(known.map(({ id }) => id));
		const onlyRecorded = pairs.filter(({ entry }) => !ids.has(entry.id)).length;
		const unknown = count - local.totalExcept().orders - onlyRecorded;
		return unknown > 0 && areParametersKnown ? 'unknown' : [];
	}

	/** What the limits of the execution count, without some orders. */
	private totalExcept(ids: ReadonlySet<string> = new Set()): Total {
		const local = this.local.totalExcept(ids);
		const orders = this.records.orders.count - ids.size;
		// After n8n was killed, nobody knows what these orders cost.
		return orders > local.orders ? { orders, cost: Infinity } : local;
	}

	/** Records what is about to be sent. @returns whether that is done; if not, all must be decided again */
	private async record(decisions: Map<number, Decision>): Promise<boolean> {
		const real = this.lines.filter(isReal);
		const sent = real.filter(({ index }) => decisions.get(index)?.do === 'send');
		const fresh = sent.filter(isFresh);
		const guarded = this.settings.billing === 'job' ? fresh : fresh.filter(hasKey);
		const isTooLong = guarded.length > guardedOrders(guarded.some(hasKey));
		if (isTooLong) {
			for (const { index } of real) {
				if (isSent(decisions.get(index)))
					decisions.set(index, { do: 'refuse', because: 'tooMany' });
			}
		}
		const resent = sent.filter((line) => !isFresh(line) && !isContinued(line));
		const again = real.filter(({ index }) => {
			const decision = decisions.get(index);
			return decision && 'because' in decision && decision.because === 'keyUsed';
		});
		const isRecorded = await this.records.record({
			...(!isTooLong && { fresh: ordersOf(fresh), resent: ordersOf(resent) }),
			again: ordersOf(again),
		});
		return isRecorded ?? false;
	}

	private apply(decisions: ReadonlyMap<number, Decision>): void {
		const { local } = this;
		const { execution, process } = local;
		const underWay: Entry[] = [];
		for (const line of this.lines) {
			const { order, found, index } = line;
			const decision = decisions.get(index);
			if (isPreview(line) || !isSent(decision)) {
				execution.release(order);
			} else {
				const earlier = found?.entry.timesSent ?? 0;
				const isResent = decision.do === 'send' && !isContinued(line);
				line.timesSent = isResent ? earlier + 1 : Math.max(1, earlier);
				this.sent.set(index, line);
				if (process) underWay.push(this.entryOf(line, { state: 'sent' }));
			}
			if (isPreview(line) || !found) continue;
			// An order that another run sent belongs to this run from now on.
			if (process) {
				const { run, item } = this.withItem(line);
				local.keepFound([{ ...found.entry, isRecalled: undefined, run, index, item }]);
			}
			execution.assign(found.entry);
		}
		local.keepUnderWay(underWay);
	}

	private async recordOutcomes(): Promise<void> {
		const { local } = this;
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
			if (found) made.push(earlierEntry(found));
			else local.execution.release(order);
		}
		local.remove(obsolete);
		local.keep(made);
		const total = totalOf(
			unmade.map(({ order: { cost }, found, timesSent }) => ({
				...{ cost, timesSent: timesSent - (found?.entry.timesSent ?? 0) },
			})),
		);
		await this.records.giveBack(ordersOf(unmade.filter(isFresh)), total);
	}

	private entryOf(line: Line, learned: Knowledge): Entry {
		return { ...this.withItem(line), ...learned, timesSent: line.timesSent };
	}

	/** Adds the hash of the item, which only orders that are kept or compared need. */
	private withItem({ order, index }: Pick<Line, 'index' | 'order'>): Order {
		if (order.item !== undefined || this.isOfTool) return order;
		const item = itemHashOf(this.context.getInputData()[index]);
		return item === undefined ? order : { ...order, item };
	}
}

/** How many Order Keys a run in a worker takes for free until it records them. */
const maxGuessed = 10;

const manyConflicts = 'Other workers wrote at the same moment, again and again';

/** What an earlier try knew of an order. */
const earlierEntry = ({ entry }: Match): Entry => ({
	...entry,
	...{ isRecalled: undefined, isUnderWay: undefined },
});
