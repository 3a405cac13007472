import { GatewayError } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { recordOf } from '../errors/nodeError';
import type { Receipt } from './receipts';
import type { ItemOutput, ItemWork } from './work';

export interface Failure {
	error: unknown;
}

/** How one item ended: its outputs, and failures in the place of those that did not come. */
export type Outcome = Array<ItemOutput | Failure>;

/** What is known of one item while the node runs. */
export class ItemState<Request, Made> {
	/** Undefined until it is prepared; stays so for an item that cannot be sent. */
	request?: Request;
	/** The answer, which is paid for. */
	made?: Made;
	outcome?: Outcome;
	job?: JobSummary;
	/** What was remarked. */
	readonly hints: string[] = [];

	constructor(
		readonly item: number,
		private readonly work: ItemWork<Request, Made>,
	) {}

	isPrepared(): this is Prepared<Request, Made> {
		return this.request !== undefined;
	}

	/** What makes its request the same as that of another try. */
	get identity(): unknown {
		const { request } = this;
		return request && (this.work.identity?.(request) ?? request);
	}

	get failure(): Failure | undefined {
		return this.outcome?.find((output) => 'error' in output);
	}

	/** For the next try; undefined for what is surely not paid for. */
	get receipt(): Receipt | undefined {
		const { made, outcome, job, hints, failure } = this;
		if (made !== undefined) {
			const outputs = failure ? undefined : (outcome as ItemOutput[] | undefined);
			return { made, outputs, job, hints };
		}
		const mayBePaid = failure && this.mayBePaid(failure.error);
		return mayBePaid ? { lost: recordOf(failure.error) } : undefined;
	}

	/** Whether the service may have done, and billed, what the error hides. */
	private mayBePaid(error: unknown): boolean {
		if (!(error instanceof GatewayError)) return false;
		// A lost answer is billed for jobs only ("Errors", status 0); they leave the choice to the user.
		return error.reach === 'unreadable' || (error.reach === 'lost' && isOrder(this.work));
	}
}

export type Prepared<Request, Made> = ItemState<Request, Made> & { request: Request };

/** What is ordered is never sent again by itself when it may have arrived. */
export function isOrder<Request, Made>(work: ItemWork<Request, Made>): boolean {
	return work.resendsLost !== undefined;
}
