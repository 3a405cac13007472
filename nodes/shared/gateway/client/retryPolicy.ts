import type { Failure } from '../errors/gatewayError';
import type { Cost } from '../protocol/endpoints';
import { meaningOf } from '../protocol/errorCodes';

/** The facts about a failed request that decide whether it is sent again. */
export type FailedRequest = Pick<
	Failure,
	| 'reach'
	| 'status'
	| 'code'
	| 'type'
	| 'refusal'
	| 'retry_can_help'
	| 'retryAfter'
	| 'network'
	| 'redirect'
	| 'linkCarriesKey'
	| 'isExcess'
>;

export interface RetriedRequest {
	cost: Cost;
	/** Set when the service recognises the order, and makes no second job. */
	idempotencyKey?: string;
	/** Whether the user wants it sent again when its response was lost; undefined: as its cost says. */
	resendsLost?: boolean;
	hasBackup: boolean;
	/** Whether an earlier try may have been accepted, and charged. */
	isUnclear?: boolean;
}

const minBackoff = 1_000;
const maxBackoff = 30_000;

/** A longer Retry-After is reported instead of obeyed: nobody expects one request to take an hour. */
export const maxRetryAfter = 5 * 60_000;
const maxTriesOnRateLimit = 8;
export const maxTries = 5;

/** How many tries a request has that failed like this. The first rule that applies decides. */
const rules: Array<
	[tries: number, applies: (failure: FailedRequest, request: RetriedRequest) => boolean]
> = [
	// No request failed: bad input, Stop, or a request that was held back.
	[1, ({ reach }) => reach === 'none'],
	// The gateway would redirect again.
	[1, ({ redirect, linkCarriesKey }) => redirect !== undefined || linkCarriesKey === true],
	// The same address fails again; the other base URL may not.
	[2, (failure, { hasBackup }) => isAddressWrong(failure) && hasBackup],
	[1, isAddressWrong],
	// It was certainly not sent.
	[maxTries, ({ reach }) => reach === 'unsent'],
	// The service made nothing, and accepts the same request later.
	[maxTriesOnRateLimit, isRateLimit],
	// An earlier try of the same order is in progress.
	[maxTries, ({ refusal }) => refusal === 'knownOrder'],
	// The response was lost on its way. The request costs nothing, or the service recognises the order.
	[
		maxTries,
		(failure, request) => isLost(failure, request) && (request.cost === 'read' || hasKey(request)),
	],
	// The user accepts a second one.
	[maxTries, (failure, request) => isLost(failure, request) && request.resendsLost === true],
	// A job may be running; of other requests, the user wants no second one.
	[
		1,
		(failure, request) =>
			isLost(failure, request) && (request.cost === 'job' || request.resendsLost === false),
	],
	// The service may have delivered to the proxy, and charged: at most one more, and none after a long wait.
	[1, ({ reach, status }) => reach === 'proxied' && gaveUpWaiting.includes(status)],
	[2, ({ reach }) => reach === 'proxied'],
	[1, (failure, request) => isLost(failure, request) && request.isUnclear === true],
	// A call without a response is not charged ("Errors", status 0).
	[maxTries, isLost],
	// The service would give the same response again.
	[
		1,
		({ reach, status, retry_can_help }) =>
			reach === 'answered' && !(retry_can_help && mayPass(status)),
	],
	[1, ({ isExcess }) => isExcess === true],
	// It costs nothing, or the service recognises the order.
	[maxTries, (_, request) => request.cost === 'read' || hasKey(request)],
	// A 2xx had begun to arrive, so it is charged.
	[1, ({ reach }) => reach === 'unreadable'],
	// A job is created again only where the error code says that nothing was made.
	[1, (failure, { cost }) => cost === 'job' && !saysNothingWasMade(failure)],
	// The service made nothing, and charges nothing.
	[maxTries, () => true],
];

/** The user's number of retries replaces all of these but the lowest, which protect money. */
const firmTries = 2;

/** Statuses of a proxy that has waited for the service in vain; the last two are those of content networks. */
const gaveUpWaiting = [408, 504, 522, 524];

/** A connection that broke may have named the same problem, and a server that starts may not speak TLS yet. */
function isAddressWrong({ reach, network }: FailedRequest): boolean {
	const { problem = '' } = network ?? {};
	return reach === 'unsent' && ['badCertificate', 'blocked'].includes(problem);
}

/** Whether the service refused the request only because there were too many. An empty account has this status, too. */
export function isRateLimit({
	reach,
	status,
	retry_can_help,
}: Pick<Failure, 'reach' | 'status' | 'retry_can_help'>): boolean {
	return reach === 'answered' && status === 429 && retry_can_help;
}

/** Whether a response with this status may be another one within seconds. */
const mayPass = (status: number) => status >= 500 || status === 408 || status === 425;

const saysNothingWasMade = (failure: FailedRequest) =>
	failure.status >= 500 && meaningOf(failure)?.isTransient === true;

const hasKey = ({ idempotencyKey }: RetriedRequest) => idempotencyKey !== undefined;

/** Whether the response was lost on its way, so that a job may be running. */
function isLost({ reach, refusal }: FailedRequest, { cost }: RetriedRequest): boolean {
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

/**
 * Milliseconds to wait before the next try, or undefined to give up. Pure.
 * @param rules `tries`: so far, including the one that failed; `retries`: the maximum that the user has set; `random`:
 * jitter between 0 and 1, which spreads the retries of many clients
 */
export function waitBeforeRetry(
	failure: FailedRequest,
	request: RetriedRequest,
	{ tries, retries, random }: { tries: number; retries?: number; random: number },
): number | undefined {
	const { retryAfter } = failure;
	if ((retryAfter ?? 0) > maxRetryAfter) return undefined;
	const [usualTries] = rules.find(([, applies]) => applies(failure, request)) ?? [1];
	const wantedTries = (retries ?? usualTries - 1) + 1;
	const allowedTries = usualTries <= firmTries ? Math.min(usualTries, wantedTries) : wantedTries;
	// With NaN, this comparison allows no retry; its opposite would retry forever.
	if (!(tries < allowedTries)) return undefined;

	// Both base URLs are tried before the wait grows, so that one that is down costs no time while the other works.
	const alternates = request.hasBackup && isOutOfReach(failure, request.cost);
	if (alternates && tries % 2 === 1) return 0;
	const round = alternates ? tries / 2 : tries;
	const exponential = Math.min(maxBackoff, minBackoff * 2 ** (round - 1));
	const backoffWithJitter = exponential * (0.75 + random / 2);
	// A Retry-After near zero that led to another refusal comes from clocks that differ.
	const ignoresRetryAfter = retryAfter === undefined || (tries > 1 && retryAfter < minBackoff);
	return ignoresRetryAfter ? backoffWithJitter : retryAfter;
}

/** Maximum number of characters read from a header with a time. */
const maxHeaderLength = 100;

/**
 * `Retry-After` in milliseconds, given as seconds or as a date (RFC 9110, 10.2.3). Undefined when absent or neither.
 */
export function parseRetryAfter(headers: Record<string, string>, now: number): number | undefined {
	const value = headers['retry-after']?.slice(0, maxHeaderLength).trim();
	if (!value) return undefined;
	if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
	return millisecondsUntil(value, now);
}

/**
 * Milliseconds for which a rate limit holds back all requests: `Retry-After`, or else `RateLimit-Reset` or
 * `X-RateLimit-Reset`. Undefined when none of them gives a time, or it is longer than {@link maxRetryAfter}.
 */
export function parseRateLimitPause(
	headers: Record<string, string>,
	now: number,
): number | undefined {
	const pause =
		parseRetryAfter(headers, now) ??
		parseReset(headers['ratelimit-reset'], now) ??
		parseReset(headers['x-ratelimit-reset'], now);
	return pause !== undefined && pause <= maxRetryAfter ? pause : undefined;
}

/** Services give seconds, seconds or milliseconds since 1970, a date, or a duration such as `1m30.5s`. */
function parseReset(header: string | undefined, now: number): number | undefined {
	const value = header?.slice(0, maxHeaderLength).trim() ?? '';
	if (/^\d+(\.\d+)?$/.test(value)) {
		const number = Number(value);
		if (number < 1e9) return number * 1000;
		return Math.max(0, (number < 1e11 ? number * 1000 : number) - now);
	}
	if (/^(\d+(\.\d+)?(ms|[hms]))+$/.test(value)) {
		const parts = [...value.matchAll(/([\d.]+)(ms|[hms])/gy)];
		return parts.reduce(
			(sum, [, number, unit]) => sum + Number(number) * millisecondsPerUnit[unit],
			0,
		);
	}
	return millisecondsUntil(value, now);
}

const millisecondsPerUnit: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

function millisecondsUntil(value: string, now: number): number | undefined {
	// Date.parse reads a bare number as a year; an HTTP date has letters before its time of day.
	const [before, time] = value.split(/\d:\d/, 2);
	const date = time !== undefined && /[a-z]/i.test(before) ? Date.parse(value) : NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
