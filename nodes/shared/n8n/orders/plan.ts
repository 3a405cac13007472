import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { Period } from '../parameters/orderOptions';
import { decide, type DecisionInput } from './decide';
import type { Journal } from './journal';
import { addCounted, isLasting, limitStatus, type Counted, type Usage } from './limits';
import {
	hasKey,
	isContinued,
	isFresh,
	isPreview,
	isReal,
	isSent,
	isUnsure,
	wishesOf,
	type Line,
} from './line';
import { guardedOrders, type Marks } from './marks';
import { match, unmatchedOf } from './match';
import { addTotals, totalOf, type Order, type Total } from './order';
import type { LastingPeriod } from './periodCount';

/** What the journal and n8n's database know of the orders of a run, and what is decided about them. */
export class Plan {
	constructor(
		private readonly journal: Journal,
		private readonly marks: Marks,
		/** Previews come last. */
		private readonly lines: readonly Line[],
		private readonly run: {
			isRetry: boolean;
			/** Whether n8n's database has the orders, so that a Retry finds them after a kill. */
			isTraced: boolean;
			isOfTool: boolean;
		},
	) {}

	/** Finds what the journal has of each wish. */
	pair(lines: readonly Line[]): void {
		const pairs = match(wishesOf(lines), this.journal.open);
		for (const line of lines) line.found = pairs.get(line.wish);
	}

	/** Adds to the journal what only n8n's database has: after a kill, and from other workers. */
	async findSent(lines: readonly Line[]): Promise<void> {
		const unknown = wishesOf(lines.filter(isFresh));
		const sent = await this.marks.findSent(unknown, this.journal.totalExcept().orders);
		if (sent.length === 0) return;
		this.journal.keep(sent.map((wish): Order => ({ ...wish, state: 'sent', timesSent: 1 })));
		this.pair(lines);
	}

	/**
	 * Decides about all orders, one after the other, since each may use a key or a limit. Orders that may have been sent
	 * use the limits first, wherever they are in the list.
	 */
	async decide(yielder: EventLoopYielder): Promise<void> {
		const { lines, marks, journal, run, isRecordable, unmatched } = this;
		const unsure = lines.filter((line) => isReal(line) && isUnsure(line));
		const except = new Set(unsure.map(({ wish, found }) => found?.order.id ?? wish.id));
		/** By subject, what its limits have counted so far. */
		const counts = new Map<string | undefined, Counted>();
		// After n8n was killed, only its database knows what the execution had sent.
		const isFirst = !(run.isRetry && run.isTraced) && (marks.family.others ?? 0) === 0;
		const areTriesKnown = marks.error === undefined || isFirst;
		/** The requests of the keys that this run uses. */
		const requests = new Map<string, string>();
		for (const line of [...unsure, ...lines.filter((line) => isPreview(line) || !isUnsure(line))]) {
			await yielder.yieldIfDue();
			const { wish, options, resendsLost, found } = line;
			const { parameters, idempotencyKey, key = '', request, cost, subject } = wish;
			const counted = counts.get(subject) ?? this.counted({ except, subject });
			const { ifOrderedBefore = 'skip', releasesKey = false } = options ?? {};
			const decision = decide(found, {
				...{ resendsLost, parameters, idempotencyKey, ifOrderedBefore, releasesKey },
				...{ areTriesKnown, isRecordable, hasObjection: line.objection !== undefined },
				keyUse: this.keyUse(line, requests.get(key)),
				unmatched: hasKey(line) ? [] : unmatched,
				isUnderWay: found !== undefined && journal.isUnderWay(found.order),
				limit: isContinued(line) ? undefined : limitStatus(options, cost, counted),
			});
			line.decision = decision;
			if (hasKey(line) && (isSent(line) || found)) requests.set(key, request);
			const times = decision.do === 'send' && !isContinued(line) ? 1 : 0;
			line.sends = isPreview(line) ? 0 : times;
			const earlierTimes = isUnsure(line) ? Math.max(1, found?.order.timesSent ?? 0) : 0;
			const ofExecution = totalOf([{ cost, timesSent: earlierTimes + times }]);
			counts.set(subject, addCounted(counted, ofExecution, totalOf([{ cost, timesSent: times }])));
		}
		this.refuseTooMany();
	}

	/**
	 * What the limits of a subject count.
	 * @param except IDs of orders that are not counted
	 * @param subject see {@link Wish.subject}
	 * @param sent what the run has sent itself; undefined before that
	 */
	counted({
		except,
		subject,
		sent,
	}: {
		except?: ReadonlySet<string>;
		subject?: string;
		sent?: readonly Line[];
	}): Counted {
		const { marks } = this;
		const { orders, cost } = this.journal.totalExcept(except, subject);
		const unnamed = this.unnamed(sent !== undefined);
		const totalIn = (period: LastingPeriod) => {
			const count = marks.error === undefined ? marks.counts?.find(period, subject) : undefined;
			if (!count?.isLimited) return undefined;
			return addTotals(count.others, count.sentBy(sent ?? []));
		};
		return {
			// After n8n was killed, nobody knows what these orders cost, or for whom they were.
			execution: { orders: orders + unnamed, cost: unnamed > 0 ? Infinity : cost },
			...{ day: totalIn('day'), month: totalIn('month') },
			isFull: subject !== undefined && marks.counts?.exceedsStore(this.freshOrders),
		};
	}

	/** How many orders of this run may be new. */
	private get freshOrders(): number {
		return this.lines.filter((line) => isReal(line) && isFresh(line)).length;
	}

	/** What others have ordered of what a limit of a day or month counts for a line; undefined where that is unknown. */
	usedBefore({ wish }: Line, period: Period): Total | undefined {
		const { error, counts } = this.marks;
		if (period === 'execution' || error !== undefined) return undefined;
		return counts?.find(period, wish.subject)?.others;
	}

	/** How far the limits of a line are used: those that count other executions, or separately. */
	usageOf({ options, wish: { subject } }: Line, sent: readonly Line[]): Usage[] {
		const counted = this.counted({ subject, sent });
		return (options?.limits ?? []).flatMap((limit) => {
			const used = counted[limit.period]?.[limit.of];
			const isShown = isLasting(limit) || subject !== undefined;
			return isShown && used !== undefined ? { limit, subject: options?.subject, used } : [];
		});
	}

	/**
	 * See {@link DecisionInput.isRecordable}. A job that is not recorded would be ordered again after a kill. Of other
	 * requests, only Order Keys and limits of the day are recorded.
	 */
	get isRecordable(): boolean {
		const { isMissing = true } = this.marks.failure ?? {};
		return !this.run.isTraced || isMissing;
	}

	/** @param earlier the request for which this run uses the key already */
	private keyUse(line: Line, earlier?: string): DecisionInput['keyUse'] {
		const { marks } = this;
		if (!hasKey(line)) return 'free';
		if (marks.error !== undefined) return 'unknown';
		const before = marks.keys.useOf(line.wish);
		if (before !== 'free' || earlier === undefined) return before;
		return earlier === line.wish.request ? 'same' : 'other';
	}

	/** Refuses a list that is too long for n8n's store. */
	private refuseTooMany(): void {
		const { isTraced } = this.run;
		const sent = this.lines.filter((line) => isReal(line) && isSent(line));
		const guarded = sent.filter((line) => isFresh(line) && (isTraced || hasKey(line)));
		if (guarded.length <= guardedOrders(guarded.some(hasKey))) return;
		for (const line of sent) {
			line.decision = { do: 'refuse', because: 'tooMany' };
			line.sends = 0;
		}
	}

	/** See {@link DecisionInput.unmatched}. */
	private get unmatched(): DecisionInput['unmatched'] {
		const { journal, lines, marks, run } = this;
		const isUnderWay = (order: Order) => journal.isUnderWay(order);
		const { isOfTool } = run;
		const orders = unmatchedOf(lines, { known: journal.open, isOfTool, isUnderWay });
		if (orders.length > 0) return orders;
		return this.unnamed(false) > 0 && marks.areParametersKnown ? 'unknown' : [];
	}

	/** How many requests n8n's database has of the execution and its Retries that the journal does not have. */
	private unnamed(isSent: boolean): number {
		const { others = 0, taken } = this.marks.family;
		return Math.max(0, others + (isSent ? taken : 0) - this.journal.totalExcept().orders);
	}
}
