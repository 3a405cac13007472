import type { DecisionInput } from './decide';
import type { Journal } from './journal';
import type { Counted } from './limits';
import { hasKey, isFresh, isReal, isUnsure, wishesOf, type Line } from './line';
import type { Marks } from './marks';
import { match, unmatchedOf } from './match';
import { addTotals, type Order, type Total } from './order';
import type { Facts } from './plan';

/** What the journal and n8n's database know of the wishes of a run. */
export class Knowledge {
	constructor(
		private readonly journal: Journal,
		private readonly marks: Marks,
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

	/** What the decisions about the run are made from. */
	get facts(): Facts {
		const { lines, marks, journal, run } = this;
		const unsure = lines.filter((line) => isReal(line) && isUnsure(line));
		const except = new Set(unsure.map(({ wish, found }) => found?.order.id ?? wish.id));
		const hasError = marks.error !== undefined;
		// After n8n was killed, only its database knows what the execution had sent.
		const isFirst = !(run.isRetry && run.isTraced) && (marks.family.others ?? 0) === 0;
		return {
			counted: this.counted({ except }),
			unmatched: this.unmatched,
			areTriesKnown: !hasError || isFirst,
			isRecordable: this.isRecordable,
			keyUse: (line) => {
				if (!hasKey(line)) return 'free';
				return hasError ? 'unknown' : marks.keyUse(line.wish);
			},
			isUnderWay: ({ found }) => found !== undefined && journal.isUnderWay(found.order),
		};
	}

	/**
	 * What the limits count.
	 * @param except IDs of orders that are not counted
	 * @param own what the run has sent itself; undefined before that
	 */
	counted({ except, own }: { except?: ReadonlySet<string>; own?: Total }): Counted {
		const { marks } = this;
		const { orders, cost } = this.journal.totalExcept(except);
		const unnamed = this.unnamed(own !== undefined);
		const isKnown = marks.isLimitedByDay && marks.error === undefined;
		const day = isKnown ? marks.day?.others : undefined;
		return {
			// After n8n was killed, nobody knows what these orders cost.
			execution: { orders: orders + unnamed, cost: unnamed > 0 ? Infinity : cost },
			day: day && own ? addTotals(day, own) : day,
		};
	}

	/**
	 * See {@link DecisionInput.isRecordable}. A job that is not recorded would be ordered again after a kill. Of other
	 * requests, only Order Keys and limits of the day are recorded.
	 */
	get isRecordable(): boolean {
		const { isMissing = true } = this.marks.failure ?? {};
		return !this.run.isTraced || isMissing;
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
