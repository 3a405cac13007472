import type { IExecuteFunctions } from 'n8n-workflow';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { LastingPeriod } from './counts';
import { decide, isRecognised, type Circumstances } from './decide';
import type { Journal } from './journal';
import { Tally } from './limits';
import { sentTotalOf, wishesOf, type Line } from './line';
import { guardedOrders, type Marks } from './marks';
import { match, unmatchedOf, type Match } from './match';
import { addTotals, type Order, type Wish } from './order';

/** Decides about the orders of a run by what the journal and n8n's database know of them. */
export class Plan {
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly journal: Journal,
		private readonly marks: Marks,
		/** Previews come last. */
		private readonly lines: readonly Line[],
	) {}

	/** Finds what the journal has of each wish. */
	pair(lines: readonly Line[]): void {
		const pairs = match(wishesOf(lines), this.journal.open);
		for (const line of lines) line.found = pairs.get(line.wish);
	}

	/** Adds to the journal what only n8n's database has: after a kill, and from other workers. */
	async findSent(lines: readonly Line[]): Promise<void> {
		const { marks, journal } = this;
		const keep = (sent: readonly Wish[], timesSent: number) => {
			journal.keep(sent.map((wish): Order => ({ ...wish, state: 'sent', timesSent })));
			this.pair(lines);
		};
		const unknown = wishesOf(lines.filter(({ found }) => !found));
		const sent = await marks.findSent(unknown, journal.totalExcept().orders);
		if (sent.length > 0) keep(sent, 1);
		while (this.unnamed > 0) {
			const again = await marks.findAgain(lines.flatMap(({ found }) => unansweredOf(found)));
			if (again.length === 0) return;
			for (const order of again) keep([order], order.timesSent + 1);
		}
	}

	/**
	 * Decides about all orders one after the other, since each may use a key or a limit. Those that may have been sent
	 * before use the limits first.
	 */
	async decide(yielder: EventLoopYielder): Promise<void> {
		const { lines, journal, unguarded } = this;
		// An earlier turn may have decided otherwise.
		for (const line of lines) line.sends = 0;
		const { unmatched } = this;
		const unsure = new Set(lines.filter(mayBeUnsent));
		const notCountedYet = new Set([...unsure].map(({ found }) => found?.order.id));
		const subjects = new Set(lines.map(({ wish }) => wish.subject));
		const tallies = new Map(
			[...subjects].map((subject) => [subject, this.tally(subject, notCountedYet)]),
		);
		/** By each key that this run uses. */
		const requests = new Map<string, string>();
		for (const line of new Set([...unsure, ...lines])) {
			await yielder.yieldIfDue();
			const { wish, options, found, hasKey } = line;
			const { key = '', request, cost, subject } = wish;
			const tally = tallies.get(subject) as Tally;
			line.decision = decide(line, {
				unguarded,
				keyUse: this.keyUse(line, requests.get(key)),
				unmatched: hasKey ? [] : unmatched,
				isUnderWay: found !== undefined && journal.isUnderWay(found.order),
				limit: tally.status(options, cost),
			});
			const isSend = line.decision.do === 'send';
			if (hasKey && (isSend || found)) requests.set(key, request);
			const times = isSend ? 1 : 0;
			if (!line.isPreview) line.sends = times;
			const earlierTimes = unsure.has(line) ? Math.max(1, found?.order.timesSent ?? 0) : 0;
			tally.add({ cost, times, earlierTimes });
		}
		this.refuseTooMany();
	}

	/** The sums that the limits of a subject count. @param except IDs of orders that are not counted */
	tally(subject?: string, except?: ReadonlySet<string | undefined>): Tally {
		const { failure, counts } = this.marks;
		const { orders, cost } = this.journal.totalExcept(except, subject);
		const { unnamed } = this;
		const own = sentTotalOf(this.lines, subject);
		const totalIn = (period: LastingPeriod) => {
			const others = failure ? undefined : counts.othersIn(period, subject);
			return others && addTotals(others, own);
		};
		const used = {
			// After n8n was killed, nobody knows what these orders cost, or for whom they were.
			execution: { orders: orders + unnamed, cost: unnamed > 0 ? Infinity : cost },
			day: totalIn('day'),
			month: totalIn('month'),
		};
		return new Tally(used, subject !== undefined && counts.isFull);
	}

	/** Why n8n's database does not guard new orders. A job that is not recorded would be ordered again after a kill. */
	get unguarded(): Circumstances['unguarded'] {
		const { failure, family, isTraced } = this.marks;
		if (!failure) return undefined;
		if (isTraced && !failure.isMissing) return 'notRecorded';
		// After n8n was killed, only its database knows what the execution had sent.
		const isRetry = isTraced && this.context.getMode() === 'retry';
		return isRetry || (family.others ?? 0) > 0 ? 'triesUnknown' : undefined;
	}

	/** @param earlier the request for which this run already uses the key */
	private keyUse({ hasKey, wish }: Line, earlier?: string): Circumstances['keyUse'] {
		const { failure, keys } = this.marks;
		if (!hasKey) return 'free';
		if (failure) return 'unknown';
		const before = keys.useOf(wish);
		if (before !== 'free' || earlier === undefined) return before;
		return earlier === wish.request ? 'same' : 'other';
	}

	private refuseTooMany(): void {
		const { isTraced } = this.marks;
		const sent = this.lines.filter(({ isSent }) => isSent);
		const guarded = sent.filter(({ found, hasKey }) => !found && (isTraced || hasKey));
		if (guarded.length <= guardedOrders(guarded.some(({ hasKey }) => hasKey))) return;
		for (const line of sent) {
			line.decision = { do: 'refuse', because: 'tooMany' };
			line.sends = 0;
		}
	}

	private get unmatched(): Circumstances['unmatched'] {
		const orders = unmatchedOf(this.lines, this.journal);
		if (orders.length > 0) return orders;
		return this.unnamed > 0 && this.marks.areParametersKnown ? 'unknown' : [];
	}

	/** How many requests of other runs of the execution and its Retries n8n's database has and the journal has not. */
	private get unnamed(): number {
		const { marks, journal, lines } = this;
		const earlier = journal.totalExcept().orders - sentTotalOf(lines).orders;
		return Math.max(0, (marks.family.others ?? 0) - earlier);
	}
}

const unansweredOf = (found?: Match): Order[] =>
	found?.order.state === 'sent' || found?.order.state === 'lost' ? [found.order] : [];

/**
 * Whether an order may make its first job when it is sent again: n8n may have been killed after it was recorded and before
 * it was sent. Only a gateway that recognises it makes no second one, so without a key each time counts.
 */
const mayBeUnsent = ({ found, wish, isPreview }: Line): boolean =>
	found?.order.state === 'sent' && !isPreview && isRecognised(found, wish);
