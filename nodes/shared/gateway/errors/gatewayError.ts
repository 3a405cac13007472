import type { RefusalKind } from '../protocol/errorCodes';
import type { JobSummary } from './jobSummary';
import type { AddressProblem } from './networkError';
import type { OtherModel } from './otherModel';
import type { Reach } from './verdict';

/**
 * Everything known about a failure, as plain data that survives JSON. Names are the service's own where it has
 * them ("Error object"); unknown fields are absent.
 */
export interface Failure {
	/** What happened, in one line. */
	message: string;
	/** What the user can do, in the order in which it is shown. */
	remedies: Remedy[];
	reach: Reach;
	/** HTTP status; 0 without a response ("Errors", last paragraph). */
	status: number;
	code?: string;
	type?: string;
	param?: string;
	request_id?: string;
	billed: 'no' | 'unknown' | 'yes';
	/** Whether the same request can succeed later with nothing changed. */
	retry_can_help: boolean;
	raw_body?: string;
	/** The part of a text that arrived before its response broke off. */
	partial_text?: string;
	/** The link of an image that could not be fetched, byte for byte. */
	url?: string;
	/** The job this failure is about. */
	job?: JobSummary;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
	/** Why the service refused. */
	refusal?: RefusalKind;
	/** Whether the same request is sent again without asking the user; default: no. */
	sendsAgain?: boolean;
	/** Whether the other base URL is used next. */
	triesOtherBase?: boolean;
	/** Whether a later poll of the same job may succeed; default: no. */
	pollCanHelp?: boolean;
	/** The idempotency key of an order whose outcome is unknown. */
	idempotencyKey?: string;
	/** Set when other requests or limits held this request back for too long, so that it was not sent. */
	isHeldBack?: true;
	/** Set when the user pressed Stop. */
	isStopped?: true;
}

/**
 * What a user can do about a failure, or should know about it. A layer that knows the labels of the user
 * interface turns it into words.
 */
export type Remedy =
	/** The advice for this kind of refusal. */
	| { about: 'refusal'; refusal: RefusalKind }
	| { about: 'otherModel'; model: OtherModel }
	| { about: 'retryAfter'; milliseconds: number }
	/** No connection could be made: to the gateway, or to the host of a file. `detail` quotes the network's own error. */
	| { about: 'unreachable'; detail: string; host?: string; problem?: AddressProblem }
	/** The connection broke, or the time limit passed, before the response arrived. */
	| {
			about: 'lost';
			detail: string;
			isTimeout: boolean;
			host?: string;
			problem?: AddressProblem;
	  }
	| { about: 'lostIsNotBilled' }
	/**
	 * A job may have been accepted, even when the service does not charge for the call. Without an idempotency key, the
	 * order is not sent again unless the user wanted that (`isResent`); a limit may have allowed one request only
	 * (`isOnly`).
	 */
	| {
			about: 'mayBeAccepted';
			hasKey: boolean;
			isUnbilled?: boolean;
			isResent?: boolean;
			isOnly?: boolean;
	  }
	| { about: 'rawBody' }
	| { about: 'partialText' }
	| { about: 'foreignRedirect' }
	| { about: 'uselessRedirect' }
	/** The gateway, or a proxy, put the key into a link or a redirect. */
	| { about: 'linkCarriesKey' }
	| { about: 'nothingMoreSent' }
	| { about: 'badInput'; isFree: boolean }
	/** The job may be running, and charged. */
	| { about: 'jobMayRun'; job: KnownJob; canWaitLonger: boolean }
	| { about: 'lastPollFailed'; message: string }
	| { about: 'jobFailed'; refusal?: RefusalKind }
	| { about: 'videoIsKept'; job: KnownJob }
	| { about: 'videoIsFinished' }
	/** A file was received, but could not be stored. */
	| { about: 'notStored'; isFull: boolean }
	| { about: 'imageIsPaid'; hasLink: boolean; isLost: boolean }
	/** A reasoning model may refuse these settings. */
	| { about: 'reasoningModel'; model: string; settings: string[] }
	/** Text from a layer above. */
	| { about: 'other'; text: string };

/** What it takes to collect the video of a job later. */
export type KnownJob = Pick<JobSummary, 'id' | 'kind'>;

/** The only error that leaves the gateway layer. */
export class GatewayError extends Error {
	override readonly name = 'GatewayError';

	constructor(readonly failure: Failure) {
		super(failure.message);
	}

	/** The same error with some fields replaced. */
	with(changes: Partial<Failure>): GatewayError {
		return new GatewayError({ ...this.failure, ...changes });
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
	const failure = interrupted?.failure.billed === 'unknown' ? interrupted.failure : undefined;
	return new GatewayError({
		message: 'The execution was stopped',
		remedies: failure?.remedies ?? [{ about: 'nothingMoreSent' }],
		reach: failure?.reach ?? 'none',
		status: 0,
		billed: failure?.billed ?? 'no',
		retry_can_help: true,
		...(failure && { idempotencyKey: failure.idempotencyKey }),
		isStopped: true,
	});
}
