import type { Idempotency } from '../../service/client/idempotency';
import type { JobSummary } from '../../service/errors/jobSummary';
import { recordOf } from '../errors/errorRecord';
import type { OrderOptions } from '../parameters/orderOptions';
import type { ItemOutput } from './work';

// Each step of the loop takes the items of one type, and returns them as the next: checked, planned, sent, ended.

/** One item of the input, and what is reported about it at any step. */
export class Item {
	/** The job that it has made, or waits for. */
	job?: JobSummary;
	/** Hints shown with the node's output. */
	readonly hints: string[] = [];

	constructor(readonly index: number) {}

	hint(message: string): void {
		// A reused result is delivered again, which repeats the hints that are stored with it.
		if (!this.hints.includes(message)) this.hints.push(message);
	}
}

/** What a step hands on: its items, those that are only previewed, and those that have ended. */
export interface Step<StepItem> {
	items: StepItem[];
	previewed: PreviewedItem[];
	ended: EndedItem[];
}

/** An item whose parameters can be sent. */
export interface CheckedItem {
	item: Item;
	/** Set to undefined once the item has ended, to free its memory. */
	request: unknown;
	/** The user's options for its order; undefined where nothing is ordered. */
	orderOptions?: OrderOptions;
	/** Estimated cost of its order; undefined without a price. */
	cost?: number;
	/** Whether the item only shows what would be ordered. */
	isPreview: boolean;
	/** Whether its outputs also have the fields of its input. */
	includesInput?: boolean;
}

/** A checked item whose request is sent, because it is a read or the ledger allows it. */
export interface PlannedItem extends CheckedItem {
	/** The results so far, when the item takes several requests. */
	parts: object[];
	/** The key by which the gateway recognises its order. */
	idempotency?: Idempotency;
}

/** An item whose request has a result, perhaps of an earlier try: what was charged, if anything was. */
export interface AnsweredItem extends PlannedItem {
	result: object;
	error?: undefined;
}

/** An item whose request was sent, and has its result or has failed. */
export type SentItem = AnsweredItem | (PlannedItem & { result?: undefined; error: unknown });

/** An item that only shows what would be ordered. */
export interface PreviewedItem extends CheckedItem {
	forecast: Forecast;
	idempotencyKey?: string;
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

/** The forecast for an item that would fail. */
export function failureForecast(error: unknown): Forecast {
	const { message, advice, job } = recordOf(error);
	return { would: 'fail', reason: message, advice, ...(job && { job_id: job.id }) };
}

export interface EndedItem extends Pick<CheckedItem, 'item' | 'includesInput'> {
	outcome: Outcome;
	/** Whether its outputs were charged. */
	isCharged?: boolean;
}

/** How an item ended: its outputs, with a failure in place of each output that could not be made. */
export type Outcome = Array<ItemOutput | { error: unknown }>;

export const isFailure = (output: Outcome[number]) => 'error' in output;
