import type { IDataObject } from 'n8n-workflow';
import type { Idempotency } from '../../service/client/idempotency';
import { recordOf } from '../errors/errorRecord';
import { Line } from '../orders/line';
import type { ItemOutput, Sending } from './work';

/** One item of the input. Each step of the loop adds what it finds to the items that have not ended. */
export class Item extends Line {
	/** Undefined before its parameters are checked, and once the item has ended. */
	request: unknown;
	sending: Sending = {};
	/** How long its job was waited for; undefined where nothing waits. */
	waitedSeconds?: number;
	/** Estimated cost of its request. `cost` is the highest among all models, because a limit must hold for each. */
	estimate?: number;
	/** The models that are left to try; undefined where the user named none. */
	others?: OtherModel[];
	includesInput?: boolean;
	idempotency?: Idempotency;
	forecast?: Forecast;
	/** The files that the service will fetch, for a preview. */
	media?: IDataObject[];
	/** Set when the item has ended. */
	outcome?: Outcome;

	hint(message: string): void {
		// The delivery of a reused result repeats the hints that are stored with it.
		if (!this.hints.includes(message)) this.hints.push(message);
	}
}

export interface OtherModel {
	model: string;
	request: unknown;
	/** See `Item`. */
	estimate?: number;
	hints: readonly string[];
}

/** The outputs of an item, with a failure in place of each that could not be made. */
export type Outcome = Array<ItemOutput | { error: unknown }>;

export const isFailure = (output: Outcome[number]) => 'error' in output;

/** The fate of an item that is only previewed. */
export interface Forecast {
	would: 'order' | 'reuse' | 'skip' | 'fail';
	reason: string;
	/** For an item that would fail: how the user can prevent it. */
	advice?: string;
	/** How far the limits of days and months are used. */
	limits?: string[];
	/** The job that it would reuse, or that is the reason why it would fail. */
	job_id?: string;
}

export function failureForecast(error: unknown): Forecast {
	const { message, advice, job } = recordOf(error);
	return { would: 'fail', reason: message, advice, ...(job && { job_id: job.id }) };
}
