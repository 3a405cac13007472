import { meaningOf, passes } from '../protocol/errorCodes';
import type { Cost } from '../protocol/endpoints';
import type { Failure } from './gatewayError';

/** The facts about a failed request on which the verdict rests. */
export type FailedRequest = Pick<
	Failure,
	| 'reach'
	| 'status'
	| 'code'
	| 'type'
	| 'refusal'
	| 'retryAfter'
	| 'network'
	| 'redirect'
	| 'linkCarriesKey'
	| 'isExcess'
>;

/** What was requested, and what the user wants. */
export interface SentRequest {
	cost: Cost;
	/** Set when the service recognises the order, and makes no second job. */
	idempotencyKey?: string;
	/** Whether the user wants it sent again when its response was lost; undefined: as its cost says. */
	resendsLost?: boolean;
	hasBackup?: boolean;
	/** Whether an earlier try may have been accepted, and charged. */
	isUnclear?: boolean;
}

/** What a failed request means. */
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

type Applies = (failure: FailedRequest, request: SentRequest) => boolean;
type Row = [applies: Applies, tries: number, helps: boolean];

/** When a row applies, how many tries the request has, and whether sending it later helps. The first that applies decides. */
const rows: Row[] = [
	// No request failed: bad input, Stop, or a request that was held back.
	[({ reach }) => reach === 'none', 1, true],
	// The gateway would redirect again.
	[({ redirect, linkCarriesKey }) => redirect !== undefined || linkCarriesKey === true, 1, false],
	// The same address fails again; the other base URL may not.
	[(failure, { hasBackup }) => isAddressWrong(failure) && hasBackup === true, 2, true],
	[isAddressWrong, 1, true],
	// It was certainly not sent.
	[({ reach }) => reach === 'unsent', maxTries, true],
	// The service made nothing, and accepts the same request later.
	[isRateLimit, maxTriesOnRateLimit, true],
	// An earlier try of the same order is in progress.
	[({ refusal }) => refusal === 'knownOrder', maxTries, true],
	// The response was lost on its way. The request costs nothing, or the service recognises the order.
	[(failure, request) => isLost(failure, request) && isSafe(request), maxTries, true],
	// The user accepts a second one.
	[(failure, request) => isLost(failure, request) && request.resendsLost === true, maxTries, true],
	// A job may be running; of other requests, the user wants no second one.
	[
		(failure, request) =>
			isLost(failure, request) && (request.cost === 'job' || request.resendsLost === false),
		...([1, false] as const),
	],
	// The service may have delivered to the proxy, and charged: at most one more, and none after a long wait.
	[({ reach, status }) => reach === 'proxied' && gaveUpWaiting.includes(status), 1, false],
	[({ reach }) => reach === 'proxied', 2, false],
	// A call without a response is not charged ("Errors", status 0), unless an earlier one was.
	[(failure, request) => isLost(failure, request) && request.isUnclear === true, 1, true],
	[isLost, maxTries, true],
	// The service would give the same response again, at least for some seconds.
	[({ reach, refusal }) => reach === 'answered' && !passes(refusal), 1, false],
	[({ reach, status }) => reach === 'answered' && !mayPass(status), 1, true],
	[({ isExcess }) => isExcess === true, 1, false],
	// It costs nothing, or the service recognises the order.
	[(_, request) => isSafe(request), maxTries, true],
	// A 2xx had begun to arrive, so it is charged.
	[({ reach }) => reach === 'unreadable', 1, false],
	// A job is created again only where the error code says that nothing was made.
	[(failure, { cost }) => cost === 'job' && !saysNothingWasMade(failure), 1, true],
	// The service made nothing, and charges nothing.
	[() => true, maxTries, true],
];

/** What a failed request means. The only place where that is decided. */
export function verdictOf(failure: FailedRequest, request: SentRequest): Verdict {
	// The last row applies to all.
	const [, tries, helps] = rows.find(([applies]) => applies(failure, request)) as Row;
	return { charged: chargedOf(failure, request), tries, helps };
}

/**
 * Whether the failed request may have been accepted and charged ("Errors", status 0, and "What the service does",
 * billing rules). A call without a response is not charged, but the job it creates may be running. What a proxy did
 * with a request before it responded by itself is unknown.
 */
function chargedOf({ reach, refusal }: FailedRequest, { cost }: SentRequest): Verdict['charged'] {
	if (cost === 'read') return 'no';
	const isUnclear =
		reach === 'proxied' ||
		reach === 'unreadable' ||
		refusal === 'knownOrder' ||
		(cost === 'job' && (reach === 'lost' || refusal === 'responseNotDelivered'));
	return isUnclear ? 'unknown' : 'no';
}

/** Statuses of a proxy that has waited for the service in vain; the last two are those of content networks. */
const gaveUpWaiting = [408, 504, 522, 524];

/** A connection that broke may have named the same problem, and a server that starts may not speak TLS yet. */
function isAddressWrong({ reach, network }: FailedRequest): boolean {
	const { problem = '' } = network ?? {};
	return reach === 'unsent' && ['badCertificate', 'blocked'].includes(problem);
}

/** Whether the service refused the request only because there were too many. An empty account has the same status. */
export function isRateLimit({ reach, refusal }: Pick<Failure, 'reach' | 'refusal'>): boolean {
	return reach === 'answered' && refusal === 'tooManyRequests';
}

/** Whether a response with this status may be another one within seconds. */
const mayPass = (status: number) => status >= 500 || status === 408 || status === 425;

const saysNothingWasMade = (failure: FailedRequest) =>
	failure.status >= 500 && passes(meaningOf(failure)?.refusal);

/** Whether the same request makes nothing twice, whatever became of the first. */
const isSafe = ({ cost, idempotencyKey }: SentRequest) =>
	cost === 'read' || idempotencyKey !== undefined;

/** Whether the response was lost on its way, so that a job may be running. */
function isLost({ reach, refusal }: FailedRequest, { cost }: SentRequest): boolean {
	const isUndelivered = cost === 'job' && refusal === 'responseNotDelivered';
	return reach === 'lost' || reach === 'proxied' || isUndelivered;
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
