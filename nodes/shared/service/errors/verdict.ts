import { passes } from '../protocol/errorCodes';
import type { Cost } from '../protocol/endpoints';
import type { Failure } from './gatewayError';

export type FailedRequest = Pick<Failure, 'reach' | 'status' | 'kind' | 'retryAfter'>;

/** The request that was sent, and the user's wish. */
export interface SentRequest {
	cost: Cost;
	/** Whether it had reference media; undefined where the endpoint takes none. */
	media?: 'given' | 'none';
	/** The service recognises it, and makes no second job. */
	idempotencyKey?: string;
	/** Whether the user wants it sent again when its response was lost; undefined: as its cost says. */
	resendsLost?: boolean;
	hasBackup?: boolean;
	/** Whether an earlier try may have been accepted, and charged. */
	isUnclear?: boolean;
}

interface Tries {
	/** How often the client sends a request in all. */
	tries: number;
	/** Whether the user can send it later with nothing changed, without paying twice. */
	helps: boolean;
}

interface Verdict extends Tries {
	/** Whether what was ordered is charged. */
	charged: 'no' | 'unknown';
}

export const maxTries = 5;

const again: Tries = { tries: maxTries, helps: true };
const patiently: Tries = { tries: 8, helps: true };
const atOtherUrl: Tries = { tries: 2, helps: true };
const later: Tries = { tries: 1, helps: true };
const onceMore: Tries = { tries: 2, helps: false };
const never: Tries = { tries: 1, helps: false };

/** Failures that come again whenever the same request is sent. */
const repeating: string[] = ['foreignRedirect', 'uselessRedirect', 'linkCarriesKey', 'excess'];

/** The service has made nothing. */
const failedBefore: string[] = ['providerError', 'jobNotFinished'];

/** Statuses of a proxy that has waited for the service in vain; the last two are those of content networks. */
const gaveUpWaiting = [408, 504, 522, 524];

/** Whether a response with this status may be another one within seconds. */
const mayPass = (status: number) => status >= 500 || status === 408 || status === 425;

/** The meaning of a failed request. The only place where that is decided. */
export function verdictOf(failure: FailedRequest, request: SentRequest): Verdict {
	const { reach, kind } = failure;
	const { cost } = request;
	const isLost = wasLost(failure, request);
	// A call without a response is not charged ("Errors", status 0), but the job that it creates may be running. A proxy
	// that responds by itself may have passed the request on.
	const mayBeMade =
		reach === 'proxied' ||
		reach === 'unreadable' ||
		kind === 'knownOrder' ||
		(isLost && cost === 'job');
	return {
		charged: mayBeMade && cost !== 'read' ? 'unknown' : 'no',
		...triesOf(failure, request, isLost),
	};
}

/** Whether a response was lost on its way, perhaps that of the provider to the service, so that a job may be running. */
function wasLost({ reach, kind }: FailedRequest, { cost }: SentRequest): boolean {
	const isUndelivered = kind === 'responseNotDelivered' || kind === 'timedOut';
	return reach === 'lost' || reach === 'proxied' || (cost === 'job' && isUndelivered);
}

/** The first reason that applies decides. */
function triesOf(failure: FailedRequest, request: SentRequest, isLost: boolean): Tries {
	const { reach, status, kind = '' } = failure;
	const { cost, idempotencyKey, resendsLost, hasBackup, isUnclear } = request;
	// The same request makes nothing twice, whatever became of the first.
	const isSafe = cost === 'read' || idempotencyKey !== undefined;

	// No request failed: bad input, Stop, or a request that was held back.
	if (reach === 'none') return later;
	// The gateway would redirect again, or send as much again.
	if (repeating.includes(kind)) return never;

	if (reach === 'unsent') {
		// The same address fails again; another may be down: a server that starts may not speak TLS yet.
		const isAddressWrong = kind === 'badCertificate' || kind === 'blocked';
		if (isAddressWrong) return hasBackup ? atOtherUrl : later;
		return again;
	}
	// The service made nothing, and accepts the same request later.
	if (isRateLimit(failure)) return patiently;
	// An earlier try of the same order is in progress.
	if (kind === 'knownOrder') return again;

	if (isLost) {
		// The request makes nothing twice, or the user accepts a second one.
		if (isSafe || resendsLost) return again;
		// A job may be running; of other requests, the user wants no second one.
		if (cost === 'job' || resendsLost === false) return never;
		// The service may have delivered to the proxy, and charged: at most one more, and none after a long wait.
		if (reach === 'proxied') return gaveUpWaiting.includes(status) ? never : onceMore;
		// A call without a response is not charged ("Errors", status 0), unless an earlier one was.
		return isUnclear ? later : again;
	}
	// The service would give the same response again, at least for some seconds.
	if (reach === 'answered' && !passes(kind)) return never;
	if (reach === 'answered' && !mayPass(status)) return later;
	if (isSafe) return again;
	// A 2xx had begun to arrive, so it is charged.
	if (reach === 'unreadable') return never;
	// A job is created again only where the error code says that nothing was made. With another status than the
	// specification's, the service may pass on what a proxy before the provider said.
	const isNothingMade = status === 500 && failedBefore.includes(kind);
	return cost === 'job' && !isNothingMade ? later : again;
}

/** Whether the service refused only for too many requests. An empty account has the same status. */
export function isRateLimit({ kind }: Pick<Failure, 'kind'>): boolean {
	return kind === 'tooManyRequests';
}

/** The statuses of a proxy that cannot reach the server behind it (RFC 9110, 15.6.3 to 15.6.5), also of Cloudflare. */
const unreachableStatuses = [502, 503, 504, 521, 522, 523, 525, 526, 530];

/** Whether the gateway may be out of reach at this base URL. A proxy that responds may have passed on a job. */
export function isOutOfReach(
	{ reach, status }: Pick<Failure, 'reach' | 'status'>,
	cost: Cost,
): boolean {
	if (reach === 'proxied') return cost !== 'job' && unreachableStatuses.includes(status);
	return reach === 'unsent' || reach === 'lost';
}
