import type { Cost } from '../protocol/endpoints';
import type { RefusalKind } from '../protocol/errorCodes';
import type { ModelKind } from '../protocol/models';
import type { JobSummary } from './jobSummary';
import type { AddressProblem } from './networkError';

/**
 * How far a failed request got, and who responded.
 * - `unsent`: no connection could be made.
 * - `lost`: no response arrived; the service may have acted on it.
 * - `proxied`: a proxy responded in place of the service, which may have acted on it.
 * - `answered`: the service refused it.
 * - `unreadable`: a response arrived, but cannot be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'proxied' | 'answered' | 'unreadable' | 'none';

/** The cause of a failure. Each kind has its advice; {@link Reach} adds how far the request got. */
export type FailureKind =
	| RefusalKind
	| AddressProblem
	/** No connection could be made, for another reason. */
	| 'unreachable'
	/** A proxy of n8n's own network does not respond. */
	| 'deadProxy'
	| 'timeout'
	/** Not valid HTTP. */
	| 'garbled'
	/** The response ended too early. */
	| 'cut'
	/** The response was larger than n8n could bear, and so was not read to its end. */
	| 'excess'
	| 'unreadable'
	| 'foreignRedirect'
	/** It leads nowhere, or would lose the request's content. */
	| 'uselessRedirect'
	/** A link, or the target of a redirect, carries the key. */
	| 'linkCarriesKey'
	/** The link of a file leads to an address that the gateway could not reach, so that nothing was sent to it. */
	| 'linkLeadsInside'
	/** n8n could not store a file that was received. */
	| 'notStored'
	| 'noSpace'
	| 'badInput'
	/** Other requests or limits held this one back for too long, so that it was not sent. */
	| 'heldBack';

/** A model that belongs to another endpoint than the one it was sent to. */
export interface OtherModel {
	id: string;
	kind: ModelKind;
}

/** The shown part of a failure. Names are the service's own where it has them ("Error object"). */
export interface FailureRecord {
	/** What happened, in one line. */
	message: string;
	/** HTTP status; 0 without a response ("Errors", last paragraph). */
	status: number;
	code?: string;
	type?: string;
	param?: string;
	request_id?: string;
	/** Whether what was ordered is charged. */
	billed: 'no' | 'unknown' | 'yes';
	/** Whether the same request can succeed later with nothing changed. */
	retry_can_help: boolean;
	raw_body?: string;
	/** The part of a text that arrived before its response broke off. */
	partial_text?: string;
	/** The link of an image that could not be fetched, or of a video that may be there, byte for byte. */
	url?: string;
	job?: JobSummary;
}

/** A failure as plain data that survives JSON. Advice is derived from it only where it is shown. */
export interface Failure extends FailureRecord {
	reach: Reach;
	kind?: FailureKind;
	/** Undefined where no request failed. */
	cost?: Cost;
	/** See `deniedBy`. */
	denies?: 'key' | 'job' | 'request';
	/** The service itself refused the model and made nothing: see `refusesModel`. An earlier try may have made something. */
	refusesModel?: true;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
	/** The model that the service refused, because it belongs to another operation. */
	otherModel?: OtherModel;
	/** The host of a file; undefined for the gateway. */
	host?: string;
	/** Of an order whose outcome is unknown. */
	idempotencyKey?: string;
	/** How many requests of an order with an unknown outcome may have been accepted. Default: one. */
	requests?: number;
	/** The wait for a job has ended, while the job may go on. */
	waitEnded?: 'timeout' | 'stopped';
	lastPoll?: Failure;
	/** A file that was made and charged, and cannot be delivered; `nothing` if the service says that there is none. */
	made?: 'video' | 'image' | 'lostImage' | 'nothing';
	/** The user pressed Stop. */
	isStopped?: true;
	/** Advice in the words of a layer that alone knows the cause. */
	advice?: string;
	/** The consequence for the order, in the words of the layer that records orders. */
	orderAdvice?: string;
}

/** If a request failed, it must be said what is charged. */
type Facts = Partial<Failure> &
	Pick<Failure, 'message'> &
	({ reach?: 'none' } | Pick<Failure, 'reach' | 'billed'>);

/** The only error that leaves the gateway layer. */
export class GatewayError extends Error {
	override readonly name = 'GatewayError';
	readonly failure: Failure;

	constructor(facts: Facts) {
		super(facts.message);
		this.failure = { reach: 'none', status: 0, billed: 'no', retry_can_help: false, ...facts };
	}

	with(changes: Partial<Failure>): GatewayError {
		return new GatewayError({ ...this.failure, ...changes });
	}

	/** The job exists, so it may be charged whatever the last request said. */
	about(job: JobSummary): GatewayError {
		const { billed } = this.failure;
		return this.with({ job, billed: billed === 'no' ? 'unknown' : billed });
	}
}

/** @throws any other error: a bug of ours is no failure of the network */
export function asGatewayError(error: unknown): GatewayError {
	if (error instanceof GatewayError) return error;
	throw error;
}

/** Everything in progress ends with it on Stop. @param interrupted a request whose outcome may be unknown */
export function stopped(interrupted?: GatewayError): GatewayError {
	const facts = {
		message: 'The execution was stopped',
		retry_can_help: true,
		isStopped: true as const,
	};
	return interrupted?.failure.billed === 'unknown'
		? interrupted.with(facts)
		: new GatewayError(facts);
}
