import { passes } from '../protocol/errorCodes';
import type { Cost } from '../protocol/endpoints';
import type { Failure } from './gatewayError';

/** The facts about a failed request on which the verdict rests. */
export type FailedRequest = Pick<Failure, 'reach' | 'status' | 'kind' | 'retryAfter'>;

/** The request that was sent, and the user's wish. */
export interface SentRequest {
	cost: Cost;
	/** The idempotency key of the order: the service recognises it, and makes no second job. */
	idempotencyKey?: string;
	/** Whether the user wants it sent again when its response was lost; undefined: as its cost says. */
	resendsLost?: boolean;
	hasBackup?: boolean;
	/** Whether an earlier try may have been accepted, and charged. */
	isUnclear?: boolean;
}

/** The meaning of a failed request. */
interface Verdict {
	/** Whether what was ordered is charged. */
	charged: 'no' | 'unknown';
	/** How often the client sends it in all. */
	tries: number;
	/** Whether the same order can succeed later with nothing changed, and costs nothing twice. */
	helps: boolean;
}

const maxTriesOnRateLimit = 8;
export const maxTries = 5;

/** The facts that the rows compare. */
interface Facts extends FailedRequest, SentRequest {
	/** Whether the response was lost on its way, so that a job may be running. */
	isLost: boolean;
	/** Whether the same request makes nothing twice, whatever became of the first. */
	isSafe: boolean;
	/** Whether the address itself is wrong. Another one may be down: a server that starts may not speak TLS yet. */
	isAddressWrong: boolean;
}

type Row = [applies: (facts: Facts) => boolean | undefined, tries: number, helps: boolean];

/** When a row applies, how many tries the request has, and whether sending it later helps. The first that applies decides. */
const rows: Row[] = [
	// No request failed: bad input, Stop, or a request that was held back.
	[({ reach }) => reach === 'none', 1, true],
	// The gateway would redirect again, or send as much again.
	[({ kind = '' }) => repeating.includes(kind), 1, false],
	// The same address fails again; the other base URL may not.
	[({ isAddressWrong, hasBackup }) => isAddressWrong && hasBackup, 2, true],
	[({ isAddressWrong }) => isAddressWrong, 1, true],
	// It was certainly not sent.
	[({ reach }) => reach === 'unsent', maxTries, true],
	// The service made nothing, and accepts the same request later.
	[isRateLimit, maxTriesOnRateLimit, true],
	// An earlier try of the same order is in progress.
	[({ kind }) => kind === 'knownOrder', maxTries, true],
	// The request costs nothing, or the service recognises the order.
	[({ isLost, isSafe }) => isLost && isSafe, maxTries, true],
	// The user accepts a second one.
	[({ isLost, resendsLost }) => isLost && resendsLost, maxTries, true],
	// A job may be running; of other requests, the user wants no second one.
	[
		({ isLost, cost, resendsLost }) => isLost && (cost === 'job' || resendsLost === false),
		1,
		false,
	],
	// The service may have delivered to the proxy, and charged: at most one more, and none after a long wait.
	[({ reach, status }) => reach === 'proxied' && gaveUpWaiting.includes(status), 1, false],
	[({ reach }) => reach === 'proxied', 2, false],
	// A call without a response is not charged ("Errors", status 0), unless an earlier one was.
	[({ isLost, isUnclear }) => isLost && isUnclear, 1, true],
	[({ isLost }) => isLost, maxTries, true],
	// The service would give the same response again, at least for some seconds.
	[({ reach, kind }) => reach === 'answered' && !passes(kind), 1, false],
	[({ reach, status }) => reach === 'answered' && !mayPass(status), 1, true],
	// It costs nothing, or the service recognises the order.
	[({ isSafe }) => isSafe, maxTries, true],
	// A 2xx had begun to arrive, so it is charged.
	[({ reach }) => reach === 'unreadable', 1, false],
	// A job is created again only where the error code says that nothing was made.
	[
		({ cost, status, kind = '' }) =>
			cost === 'job' && !(status >= 500 && failedBefore.includes(kind)),
		1,
		true,
	],
	// The service made nothing, and charges nothing.
	[() => true, maxTries, true],
];

/** Failures that come again whenever the same request is sent. */
const repeating: string[] = ['foreignRedirect', 'uselessRedirect', 'linkCarriesKey', 'excess'];

/** With these, the service has made nothing. */
const failedBefore: string[] = ['providerError', 'jobNotFinished'];

/** Statuses of a proxy that has waited for the service in vain; the last two are those of content networks. */
const gaveUpWaiting = [408, 504, 522, 524];

/** Whether a response with this status may be another one within seconds. */
const mayPass = (status: number) => status >= 500 || status === 408 || status === 425;

/** The meaning of a failed request. The only place where that is decided. */
export function verdictOf(failure: FailedRequest, request: SentRequest): Verdict {
	const { reach, kind } = failure;
	const { cost, idempotencyKey } = request;
	const isUndelivered = cost === 'job' && kind === 'responseNotDelivered';
	const isLost = reach === 'lost' || reach === 'proxied' || isUndelivered;
	const facts: Facts = {
		...failure,
		...request,
		isLost,
		isSafe: cost === 'read' || idempotencyKey !== undefined,
		isAddressWrong: reach === 'unsent' && (kind === 'badCertificate' || kind === 'blocked'),
	};
	// The last row applies to all.
	const [, tries, helps] = rows.find(([applies]) => applies(facts)) as Row;
	// A call without a response is not charged ("Errors", status 0), but the job that it creates may be running. What a
	// proxy did with a request before it responded by itself is unknown.
	const mayBeMade =
		reach === 'proxied' ||
		reach === 'unreadable' ||
		kind === 'knownOrder' ||
		(isLost && cost === 'job');
	return { charged: mayBeMade && cost !== 'read' ? 'unknown' : 'no', tries, helps };
}

/** Whether the service refused the request only because there were too many. An empty account has the same status. */
export function isRateLimit({ kind }: Pick<Failure, 'kind'>): boolean {
	return kind === 'tooManyRequests';
}

/** The statuses of a proxy that cannot reach the server behind it (RFC 9110, 15.6.3 to 15.6.5). */
const unreachableStatuses = [502, 503, 504];

/** Whether the gateway may be out of reach at this base URL. A job may have been passed on by the proxy that responds. */
export function isOutOfReach(
	{ reach, status }: Pick<Failure, 'reach' | 'status'>,
	cost: Cost,
): boolean {
	if (reach === 'proxied') return cost !== 'job' && unreachableStatuses.includes(status);
	return reach === 'unsent' || reach === 'lost';
}
