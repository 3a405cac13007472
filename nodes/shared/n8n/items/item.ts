import type { Idempotency } from '../../gateway/client/idempotency';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { OrderOptions } from '../parameters/orderOptions';
import type { ItemOutput } from './work';

/** The state of one item while the node runs. */
export interface Item {
	index: number;
	/** Remarks shown beside the node's output. */
	hints: string[];
	job?: JobSummary;
	/** Whether it only shows what would be ordered. */
	isPreview?: boolean;
	/** Whether its outputs carry the fields of its input, too. */
	includesInput?: boolean;
	/** Aborts its request, while that is in flight. */
	abortController?: AbortController;
	/** What was answered so far, when it takes several requests. */
	parts: object[];
	/** The result of its request: what is paid for, if anything is. */
	result?: object;
	outcome?: Outcome;
}

/** An item that can be sent. */
export interface CheckedItem extends Item {
	/** Let go of once the item has ended. */
	request: unknown;
	/** What the user wants of its order; undefined where nothing is ordered. */
	orderOptions?: OrderOptions;
	/** What would become of its order, where it is only previewed. */
	forecast?: Forecast;
	/** What its order is estimated to cost; undefined where no price tells. */
	cost?: number;
	/** By what the service recognises the creation of its job. */
	idempotency?: Idempotency;
}

/** What would become of an item that is only previewed. */
export interface Forecast {
	would: 'order' | 'reuse' | 'skip' | 'fail';
	reason: string;
	/** What the user can do, where it would fail. */
	advice?: string;
	/** Of the job that it would reuse, or that stands in its way. */
	job_id?: string;
}

/** How one item ended: its outputs, with failures in place of those that could not be made. */
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
