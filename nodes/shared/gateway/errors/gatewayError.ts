import type { JobSummary } from './jobSummary';

/**
 * What a failure shows, in the error panel and on the error output alike. Names are the service's own
 * where it has them ("Error object"); absent where nothing is known.
 */
export interface ErrorRecord {
	/** What happened, in one line. */
	message: string;
	/** What the user can do. */
	advice: string;
	/** HTTP status; 0 when no answer came ("Errors", last paragraph). */
	status: number;
	code?: string;
	type?: string;
	param?: string;
	request_id?: string;
	billed: 'no' | 'unknown' | 'yes';
	/** Whether the same request can succeed later with nothing changed. */
	retry_can_help: boolean;
	raw_body?: string;
	/** What came of a text whose answer could not be handed on as a whole. */
	partial_text?: string;
	/** The link of a picture that could not be fetched, byte for byte. */
	url?: string;
	/** The job this failure is about. */
	job?: JobSummary;
}

/**
 * How far a failed request got.
 * - `unsent`: it never left, or nobody was there to take it.
 * - `lost`: it left, and no answer of the service came back; the service may have acted on it.
 * - `answered`: the service answered, and refused.
 * - `unreadable`: a good status came, but no answer that can be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'answered' | 'unreadable' | 'none';

/** The only error that leaves the gateway layer. */
export class GatewayError extends Error {
	override readonly name = 'GatewayError';

	constructor(
		readonly record: ErrorRecord,
		readonly reach: Reach = 'none',
		/** Milliseconds the service asked to wait. */
		readonly retryAfter?: number,
	) {
		super(record.message);
	}

	/** The same error, of a request that an earlier try may have brought to the service. */
	after({ record: { billed, advice } }: GatewayError): GatewayError {
		return new GatewayError({ ...this.record, billed, advice }, this.reach, this.retryAfter);
	}

	/** The same error, about this job. */
	about(job: JobSummary): GatewayError {
		return new GatewayError({ ...this.record, job }, this.reach, this.retryAfter);
	}
}

/** A mistake of ours is an error of its own kind, and is not to be hidden behind the network. */
export function asGatewayError(error: unknown): GatewayError {
	if (error instanceof GatewayError) return error;
	throw error;
}

/**
 * What everything under way ends with when the user presses Stop.
 * @param broken the request that Stop interrupted, whose fate may be unknown
 */
export function canceled(broken?: GatewayError): GatewayError {
	const isUnknown = broken?.record.billed === 'unknown';
	return new GatewayError(
		{
			// n8n shows an execution as canceled when this word is in the message.
			message: 'The execution was canceled',
			advice: isUnknown ? broken.record.advice : 'Nothing more was sent to the gateway.',
			status: 0,
			billed: isUnknown ? 'unknown' : 'no',
			retry_can_help: true,
		},
		isUnknown ? broken.reach : 'none',
	);
}
