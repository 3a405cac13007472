import { GatewayError, type Failure } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { OrderOptions } from '../parameters/orderOptions';
import type { Decision } from './decide';
import type { Match } from './match';
import { totalOf, type Order, type State, type Total, type Wish } from './order';

/** An item whose request may cost money: what is wanted, known and decided, and what came of it. */
export class Line {
	/** Equal for equal requests. */
	identity: unknown;
	/** Undefined where no video or image is ordered. */
	options?: OrderOptions;
	/** Whether only the decision is wanted: nothing is sent or kept. */
	isPreview = false;
	/** Estimated cost; undefined without a price. */
	cost?: number;
	/** Why it would be ordered in vain. What was ordered before is delivered all the same. */
	objection?: Failure;

	/** Set by the ledger, as all up to `learned`. */
	wish!: Wish;
	/** The same order of another try. */
	found?: Match;
	/** Undefined before it is decided, and after Stop. */
	decision?: Decision;
	/** How many requests of this run may have made something. */
	sends = 0;
	/** The state of its order after it was sent. */
	learned?: State;

	/** Perhaps of an earlier try. */
	result?: object;
	error?: unknown;
	model?: string;
	/** The results so far, where the item takes several requests. */
	parts: object[] = [];
	/** The job that it has made, or waits for. */
	job?: JobSummary;
	readonly hints: string[] = [];

	/** @param index of the item */
	constructor(readonly index: number) {}

	get hasKey(): boolean {
		return this.wish.key !== undefined;
	}

	/** Whether this run sends it, perhaps with the key of an earlier try. */
	get isSent(): boolean {
		const { decision, isPreview } = this;
		return !isPreview && (decision?.do === 'send' || decision?.do === 'sendUnderKey');
	}
}

export const wishesOf = (lines: readonly Line[]): Wish[] => lines.map(({ wish }) => wish);

/** What this run sends for these. @param subject if given, only its orders count, see {@link Wish.subject} */
export function sentTotalOf(lines: readonly Line[], subject?: string): Total {
	const counted = lines.filter(({ wish }) => subject === undefined || wish.subject === subject);
	return totalOf(counted.map(({ wish: { cost }, sends }) => ({ cost, timesSent: sends })));
}

/** The state of an order after it was sent; undefined when it was refused. */
export function stateAfter(
	line: Pick<Line, 'result' | 'job' | 'hints' | 'parts' | 'error' | 'model'>,
): State | undefined {
	const { result, job, hints, parts, error, model } = line;
	if (result !== undefined) return { state: 'answered', result, job, hints, model };
	if (error instanceof GatewayError && error.failure.billed !== 'no') {
		return { state: 'lost', failure: error.failure };
	}
	return parts.length > 0 ? { state: 'new', parts } : undefined;
}

export function orderOf({ wish, found, sends }: Line, state: State): Order {
	const timesSent = Math.max(1, (found?.order.timesSent ?? 0) + sends);
	return { ...wish, ...state, timesSent };
}
