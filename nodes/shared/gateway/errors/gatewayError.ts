import type { Cost } from '../protocol/endpoints';
import type { RefusalKind } from '../protocol/errorCodes';
import type { JobSummary } from './jobSummary';
import type { AddressProblem } from './networkError';
import type { OtherModel } from './otherModel';

/**
 * How far a failed request got, and who responded.
 * - `unsent`: it was never sent, because no connection could be made.
 * - `lost`: it was sent, but no response arrived; the service may have acted on it.
 * - `proxied`: a proxy responded in place of the service, which may have acted on it.
 * - `answered`: the service responded, and refused it.
 * - `unreadable`: a 2xx arrived, but its body cannot be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'proxied' | 'answered' | 'unreadable' | 'none';

/**
 * The facts about a failure, as plain data that survives JSON. Decisions read them; what the user can do is derived
 * from them where they are shown, and nowhere else. Names are the service's own where it has them ("Error object");
 * unknown fields are absent.
 */
export interface Failure {
	/** What happened, in one line. */
	message: string;
	reach: Reach;
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
	/** Whether the response broke off. */
	isCut?: true;
	/** Whether the response was larger than n8n could bear, and so was not read to its end. */
	isExcess?: true;
	/** The part of a text that arrived before its response broke off. */
	partial_text?: string;
	/** The link of an image that could not be fetched, byte for byte. */
	url?: string;
	/** The job this failure is about. */
	job?: JobSummary;

	/** What the request costs; undefined where no request failed. */
	cost?: Cost;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
	/** Whether the response has not the form of the service, and so may be the page of a proxy. */
	isPage?: true;
	/** Why the service refused. */
	refusal?: RefusalKind;
	/** The model that the service refused, because it belongs to another operation. */
	otherModel?: OtherModel;
	/** Settings that the model may have refused, where the response names none. */
	reasoningSettings?: { model: string; settings: string[] };
	/** What the network said, without a response. */
	network?: NetworkFailure;
	/** Where the gateway redirected to: another address, or one that would lose the request's content. */
	redirect?: 'foreign' | 'useless';
	/** Whether a link, or the target of a redirect, carried the key. */
	linkCarriesKey?: true;
	/** Whether the link of a file leads to an address that the gateway could not reach, so that nothing was sent to it. */
	linkLeadsInside?: true;
	/** Set when a request for something new may have been accepted although it failed. */
	mayBeAccepted?: UnknownOutcome;
	/** The idempotency key of an order whose outcome is unknown. */
	idempotencyKey?: string;
	/** How the wait for a job ended, while the job may go on. */
	waitEnded?: 'timeout' | 'stopped';
	/** Why the last poll failed. */
	lastPoll?: Failure;
	/** What was made and charged, although it cannot be delivered; nothing if the service says that there is none. */
	made?: 'video' | 'image' | 'lostImage' | 'nothing';
	/** n8n could not store a file that was received. */
	store?: 'failed' | 'full';
	/** Set when the input cannot work, so that nothing was sent. */
	isBadInput?: true;
	/** Set when other requests or limits held this request back for too long, so that it was not sent. */
	isHeldBack?: true;
	/** Set when the user pressed Stop. */
	isStopped?: true;
	/** What the user can do, in the words of a layer that alone knows the cause. */
	advice?: string;
	/** What the failure means for the order, in the words of the layer that records orders. */
	orderAdvice?: string;
}

export interface NetworkFailure {
	/** Quotes the network's own error. */
	detail: string;
	isTimeout: boolean;
	/** The host of a file; undefined for the gateway. */
	host?: string;
	problem?: AddressProblem;
	/** The address of a proxy that was to forward the request. */
	proxy?: string;
}

/** What is known of a request that may have been accepted. */
export interface UnknownOutcome {
	/** Whether the service sends no charge for such a call, although its job may run ("Errors", status 0). */
	isUnbilled: boolean;
	/** Whether the user wants it sent again. */
	isResent: boolean;
	/** How many requests were sent; default: 1. */
	requests?: number;
}

/** The only error that leaves the gateway layer. */
export class GatewayError extends Error {
	override readonly name = 'GatewayError';

	constructor(readonly failure: Failure) {
		super(failure.message);
	}

	/** The same error with some facts replaced. */
	with(changes: Partial<Failure>): GatewayError {
		return new GatewayError({ ...this.failure, ...changes });
	}

	/** The same error, about this job. The job exists, so it may be charged whatever the last request said. */
	about(job: JobSummary): GatewayError {
		const { billed } = this.failure;
		return this.with({ job, billed: billed === 'no' ? 'unknown' : billed });
	}
}

/** @throws any other error: a bug of ours must not be reported as a failure of the network */
export function asGatewayError(error: unknown): GatewayError {
	if (error instanceof GatewayError) return error;
	throw error;
}

/**
 * The error with which everything in progress ends when the user presses Stop.
 * @param interrupted the request that Stop interrupted, whose outcome may be unknown
 */
export function stopped(interrupted?: GatewayError): GatewayError {
	const unknown = interrupted?.failure.billed === 'unknown' ? interrupted.failure : undefined;
	return new GatewayError({
		...(unknown ?? { reach: 'none', status: 0, billed: 'no' }),
		message: 'The execution was stopped',
		retry_can_help: true,
		isStopped: true,
	});
}
