import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { Cost } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import { clock } from '../client/httpClient';
import type { NodeLog } from '../log/nodeLog';
import type { Field } from '../parameters/field';
import { dayOf, type Day } from './day';
import { DayCount } from './dayCount';
import type { Decision } from './decide';
import { hashOf, WishNames } from './identity';
import { Journal } from './journal';
import { keptJournals, type KeyUse } from './keptJournals';
import { Knowledge } from './knowledge';
import { hasDailyLimit, limitStatus, type LimitStatus } from './limits';
import {
	hasKey,
	isContinued,
	isFresh,
	isPreview,
	isReal,
	wishesOf,
	type Line,
	type PaidItem,
} from './line';
import { lockAll } from './locks';
import { guardedOrders, Marks, type Need, type StoreFailure } from './marks';
import { stateAfter, totalOf, type Order, type Outcome, type Total, type Wish } from './order';
import { isSent, plan } from './plan';
import { nodeIdOf, ProcessedItems } from './store';

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

/** How often all is decided again because another worker has ordered in the meantime. */
const maxTurns = 20;

/**
 * The paid requests of one run of the node. It asks the journal and n8n's database what is known of them, lets `plan.ts`
 * decide, records what is about to be sent, and then what came of it.
 */
export class Ledger {
	private readonly journal: Journal;
	private readonly isOfTool: boolean;
	private readonly node: string;
	private readonly lines: Line[] = [];
	/** The lines that are sent, by the index of the item. */
	private readonly sent = new Map<number, Line>();
	/** n8n's store: all that a run asks of it shares one patience. */
	private readonly store: ProcessedItems;
	private readonly marks: Marks;
	private readonly knowledge: Knowledge;
	/** What the day had counted before this run. */
	private usedBefore?: Total;
	private keyUses?: Map<string, KeyUse>;
	/** Unlocks the Order Keys of the run. */
	private unlockKeys?: () => void;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, log, billing } = settings;
		const journal = new Journal(context, isOrder);
		this.journal = journal;
		this.isOfTool = isTool(context.getNode());
		this.node = nodeIdOf(context);
		this.store = new ProcessedItems(context);
		const isTraced = billing === 'job';
		const { isOfTool, isRetry, lines } = this;
		this.marks = new Marks(this.store, { log, origin: journal.origin, isTraced });
		this.knowledge = new Knowledge(journal, this.marks, lines, { isRetry, isTraced, isOfTool });
	}

	/**
	 * Decides what to do with each item, and records what is about to be sent. First it waits for executions that are
	 * ordering with one of the same Order Keys: their outcome decides whether the key was used.
	 * @returns the decisions, by the index of the item; empty after Stop
	 */
	async open(items: readonly PaidItem[]): Promise<ReadonlyMap<number, Decision>> {
		const { yielder, stop } = this.settings;
		const { journal } = this;
		const names = new WishNames(this.context, journal, this.settings);
		// Previews come last, so that they take no known order from the items that are really ordered.
		for (const { request, ...item } of [...items.filter(isReal), ...items.filter(isPreview)]) {
			await yielder.yieldIfDue();
			const wish = names.wishOf(request, { ...item, key: item.options?.key });
			this.lines.push({ ...item, wish, sends: 0 });
		}
		if (!journal.isReadable) {
			const unreadable: Decision = { do: 'refuse', because: 'unreadable' };
			return new Map(this.lines.map(({ index }) => [index, unreadable]));
		}
		this.marks.day = this.dayCount();
		const keys = this.lines.flatMap(({ wish: { key } }) => (key ? `${this.node} ${key}` : []));
		this.unlockKeys = await lockAll(keys, stop);
		if (!this.unlockKeys) return new Map();
		return (await this.inTurn(async () => await this.decideAndRecord(), stop)) ?? new Map();
	}

	/** Records the outcome of an item at once, since a Retry may begin before the other items have ended. */
	recordOutcome(index: number, outcome: Outcome): void {
		const line = this.sent.get(index);
		const learned = stateAfter(outcome);
		if (!line || !learned) return;
		line.learned = learned;
		if (this.settings.isOrder) this.journal.keep([orderOf(line)], false);
	}

	/**
	 * Counts an order once more, because it is sent again after its response was lost.
	 * @returns why it must not be sent; undefined when it is counted
	 */
	async countResend(index: number): Promise<LimitStatus | 'notRecorded'> {
		const line = this.sent.get(index);
		if (!line) return undefined;
		return await this.inTurn(async () => {
			const { marks } = this;
			for (let turns = 1; ; turns++) {
				const { revision } = marks;
				const counted = this.knowledge.counted({ own: this.need.total });
				const status = limitStatus(line.options, line.wish.cost, counted);
				if (status !== undefined) return status;
				line.sends++;
				await marks.take(this.need);
				if (marks.error === undefined && marks.revision === revision) break;
				line.sends--;
				if (marks.error === undefined && turns < maxTurns) continue;
				if (hasDailyLimit(line.options)) return 'dayUnknown';
				if (!this.knowledge.isRecordable) return 'notRecorded';
				line.sends++;
				break;
			}
			if (this.settings.isOrder) this.journal.keep([orderOf(line, { state: 'sent' })], true);
			return undefined;
		});
	}

	/**
	 * Records the outcome of the run.
	 * @param hasSucceeded whether n8n stores its outputs
	 */
	async close({ hasSucceeded }: { hasSucceeded: boolean }): Promise<void> {
		const { journal, settings } = this;
		try {
			// After a success, only videos and images have records to update.
			if (!hasSucceeded || settings.isOrder) await this.inTurn(async () => await this.settle());
			const wishes = this.lines
				.filter(isReal)
				.flatMap(({ wish, found }) => (found ? [wish, found.order] : wish));
			if (hasSucceeded) journal.finishRun(wishes);
			// An agent that calls its tool again after a failure wants the same orders.
			if (this.isOfTool && !(hasSucceeded && settings.isOrder)) {
				for (const wish of wishes) journal.release(wish);
			}
		} finally {
			this.marks.settle();
			this.unlockKeys?.();
		}
	}

	/** What the messages about orders need to know. */
	get facts(): { failure?: StoreFailure; day?: Day; usedBefore?: Total; dropped: number } {
		const { failure, day, dropped } = this.marks;
		return { failure, day: day?.day, usedBefore: this.usedBefore, dropped };
	}

	/** Who used an Order Key before, as far as this process knows. */
	useOfKey(key: string): KeyUse | undefined {
		this.keyUses ??= keptJournals().keyUses(this.node);
		return this.keyUses.get(hashOf(key));
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another run of the execution. */
	get otherJobs(): readonly JobSummary[] {
		const own = new Set(
			this.lines.flatMap(({ wish, found }) => [wish.id, ...(found ? [found.order.id] : [])]),
		);
		return this.journal.open.flatMap((order) =>
			order.state === 'answered' && !own.has(order.id) ? (order.job ?? []) : [],
		);
	}

	/** Videos are counted also without a limit, so that a limit that is set later counts them. */
	private dayCount(): DayCount | undefined {
		const limited = this.lines.find(({ options }) => hasDailyLimit(options));
		const isOrdering = this.lines.some((line) => isReal(line) && !line.options?.releasesKey);
		if (!limited && !(this.settings.billing === 'job' && isOrdering)) return undefined;
		const day = dayOf(clock.now(), this.context.getTimezone());
		const { maxPerDay: maxOrders, maxCostPerDay: maxCost } = limited?.options ?? {};
		const of = { node: this.node, maxOrders, maxCost };
		return new DayCount(this.store, day, of);
	}

	/** Lets Retries of the execution and, under daily limits, runs of the node take turns. @returns undefined after Stop */
	private async inTurn<T>(call: () => Promise<T>, stop?: AbortSignal): Promise<T | undefined> {
		const ofDay = this.marks.isLimitedByDay ? [`day of ${this.node}`] : [];
		const unlock = await lockAll([this.journal.origin, ...ofDay], stop);
		if (!unlock) return undefined;
		try {
			return await call();
		} finally {
			unlock();
		}
	}

	private async decideAndRecord(): Promise<ReadonlyMap<number, Decision>> {
		const { lines, marks, knowledge } = this;
		const { yielder } = this.settings;
		const [releasing, ordering] = [
			lines.filter(({ options }) => options?.releasesKey),
			lines.filter(({ options }) => !options?.releasesKey),
		];
		await marks.release(wishesOf(releasing.filter(isReal)));
		await marks.countDay({ isPreview: lines.every(isPreview) });
		knowledge.pair(ordering);
		// A first try notices while it writes whether another worker has run the execution.
		if (this.isRetry) await knowledge.findSent(ordering);
		for (let turns = 1; ; turns++) {
			await marks.findKeys(wishesOf(ordering.filter(isFresh)));
			const { revision, error } = marks;
			const facts = knowledge.facts;
			this.usedBefore = facts.counted.day;
			const decisions = await plan(lines, facts, yielder);
			const isFull = [...decisions.values()].some(isRefusedByDay);
			if (isFull && (await marks.recountDay())) continue;
			this.count(decisions);
			// What could not be recorded was decided without it.
			if (error !== undefined) await marks.keepOnly(this.need);
			else await marks.take(this.need);
			const isFinal = marks.revision === revision && marks.error === error;
			if (isFinal) await marks.keepOnly(this.need);
			if (isFinal) return this.apply(decisions);
			if (turns === maxTurns) marks.error ??= new Error(manyConflicts);
			if (marks.isFamilyNews) await knowledge.findSent(ordering);
		}
	}

	private get isRetry(): boolean {
		return this.context.getMode() === 'retry';
	}

	/** Counts the requests that are about to be sent. A list that is too long for n8n's store is refused. */
	private count(decisions: Map<number, Decision>): void {
		const real = this.lines.filter(isReal);
		const sending = real.filter(({ index }) => decisions.get(index)?.do === 'send');
		const isTraced = this.settings.billing === 'job';
		const guarded = sending.filter((line) => isFresh(line) && (isTraced || hasKey(line)));
		const isTooLong = guarded.length > guardedOrders(guarded.some(hasKey));
		for (const line of real) {
			const decision = decisions.get(line.index);
			line.sends = !isTooLong && decision?.do === 'send' && !isContinued(line) ? 1 : 0;
			if (isTooLong && isSent(decision))
				decisions.set(line.index, { do: 'refuse', because: 'tooMany' });
		}
	}

	/** What the run needs in n8n's database. */
	private get need(): Need {
		const sending = this.lines.filter(({ sends }) => sends > 0);
		return {
			wishes: wishesOf(sending),
			fresh: wishesOf(sending.filter(isFresh)),
			total: totalOf(sending.map(({ wish: { cost }, sends }) => ({ cost, timesSent: sends }))),
		};
	}

	private apply(decisions: ReadonlyMap<number, Decision>): ReadonlyMap<number, Decision> {
		const { journal, lines } = this;
		const underWay: Order[] = [];
		for (const line of lines) {
			const { wish, found, index } = line;
			if (isPreview(line) || !isSent(decisions.get(index))) {
				journal.release(wish);
			} else {
				this.sent.set(index, line);
				underWay.push(orderOf(line, { state: 'sent' }));
			}
			if (isPreview(line) || !found) continue;
			// An order that another run sent belongs to this run from now on.
			const { run, source } = wish;
			if (found.order.run !== run) journal.keep([{ ...found.order, run, source }]);
			journal.assign(found.order);
		}
		if (this.settings.isOrder) journal.keep(underWay, true);
		return decisions;
	}

	/** Records what came of everything that was sent. */
	private async settle(): Promise<void> {
		const { journal, marks } = this;
		const made: Order[] = [];
		const obsolete: Wish[] = [];
		for (const line of this.sent.values()) {
			await this.settings.yielder.yieldIfDue();
			const { wish, found, learned } = line;
			if (learned) {
				made.push(orderOf(line));
				if (found && found.order.id !== wish.id) obsolete.push(found.order);
				continue;
			}
			line.sends = 0;
			obsolete.push(wish);
			// An earlier try may have been accepted, even if this one certainly made nothing.
			if (found) made.push(found.order);
			else journal.release(wish);
		}
		journal.remove(obsolete);
		journal.keep(made, false);
		if (marks.error === undefined || this.sent.size > 0) await marks.keepOnly(this.need);
	}
}

const isRefusedByDay = (decision: Decision): boolean =>
	decision.do === 'refuse' && ['limitOfDay', 'costLimitOfDay'].includes(decision.because);

const manyConflicts = 'Other workers wrote at the same moment, again and again';

/** What is known of an order that this run has sent. */
function orderOf({ wish, found, sends, learned }: Line, state = learned): Order {
	const timesSent = Math.max(1, (found?.order.timesSent ?? 0) + sends);
	return { ...wish, ...(state as NonNullable<typeof state>), timesSent };
}
