import { isOutOfReach, verdictOf, type FailedRequest, type SentRequest } from '../errors/verdict';

const minBackoff = 1_000;
const maxBackoff = 30_000;

/** A longer Retry-After is reported instead of obeyed: nobody expects one request to take an hour. */
export const maxRetryAfter = 5 * 60_000;
/** The user's number of retries replaces all of these but the lowest, which protect money. */
const firmTries = 2;

/**
 * Milliseconds to wait before the next try, or undefined to give up. Pure.
 * @param policy `tries`: so far, including the one that failed; `retries`: the maximum that the user has set; `random`:
 * jitter between 0 and 1, which spreads the retries of many clients
 */
export function waitBeforeRetry(
	failure: FailedRequest,
	request: SentRequest,
	{ tries, retries, random }: { tries: number; retries?: number; random: number },
): number | undefined {
	const { retryAfter } = failure;
	if ((retryAfter ?? 0) > maxRetryAfter) return undefined;
	const { tries: usualTries } = verdictOf(failure, request);
	const wantedTries = (retries ?? usualTries - 1) + 1;
	const allowedTries = usualTries <= firmTries ? Math.min(usualTries, wantedTries) : wantedTries;
	// With NaN, this comparison allows no retry; its opposite would retry forever.
	if (!(tries < allowedTries)) return undefined;

	// Both base URLs are tried before the wait grows, so that one that is down costs no time while the other works.
	const alternates = request.hasBackup === true && isOutOfReach(failure, request.cost);
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

/** Services give seconds, seconds or milliseconds since 1970, or a date. */
function parseReset(header: string | undefined, now: number): number | undefined {
	const value = header?.slice(0, maxHeaderLength).trim() ?? '';
	if (!/^\d+(\.\d+)?$/.test(value)) return millisecondsUntil(value, now);
	const number = Number(value);
	if (number < 1e9) return number * 1000;
	return Math.max(0, (number < 1e11 ? number * 1000 : number) - now);
}

function millisecondsUntil(value: string, now: number): number | undefined {
	// Date.parse reads a bare number as a year; an HTTP date has letters before its time of day.
	const [before, time] = value.split(/\d:\d/, 2);
	const date = time !== undefined && /[a-z]/i.test(before) ? Date.parse(value) : NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
