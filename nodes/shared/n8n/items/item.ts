import type { Idempotency } from '../../gateway/client/idempotency';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { OrderOptions } from '../parameters/orderOptions';
import type { ItemOutput } from './work';

/** The state of one item while the node runs. */
export interface Item {
	index: number;
	/** Hints shown with the node's output. */
	hints: string[];
	job?: JobSummary;
	/** Whether the item only shows what would be ordered. */
	isPreview?: boolean;
	/** Whether its outputs also have the fields of its input. */
	includesInput?: boolean;
	/** Aborts its request while that is in flight. */
	abortController?: AbortController;
	/** The results so far, when the item takes several requests. */
	parts: object[];
	/** The result of its request: what was charged, if anything was. */
	result?: object;
	outcome?: Outcome;
}

/** An item that can be sent. */
export interface CheckedItem extends Item {
	/** Set to undefined once the item has ended, to free its memory. */
	request: unknown;
	/** The user's options for its order; undefined where nothing is ordered. */
	orderOptions?: OrderOptions;
	/** Only of a previewed item: what would happen to its order. */
	forecast?: Forecast;
	/** Estimated cost of its order; undefined without a price. */
	cost?: number;
	/** The key by which the gateway recognises its order. */
	idempotency?: Idempotency;
}

/** What would happen to an item that is only previewed. */
export interface Forecast {
	would: 'order' | 'reuse' | 'skip' | 'fail';
	reason: string;
	/** What the user can do if it would fail. */
	advice?: string;
	/** The job that it would reuse, or that is the reason why it would fail. */
	job_id?: string;
}

/** How an item ended: its outputs, with a failure in place of each output that could not be made. */
export type Outcome = Array<ItemOutput | Failure>;

export interface Failure {
	error: unknown;
}

export function isFailure(output: ItemOutput | Failure): output is Failure {
	return 'error' in output;
}

export function failureOf({ outcome }: Item): Failure | undefined {
	return outcome?.find(isFailure);
}
