import { isOutOfReach, verdictOf, type FailedRequest, type SentRequest } from '../errors/verdict';

const minBackoff = 1_000;
const maxBackoff = 30_000;

/** A longer Retry-After is reported instead of obeyed: nobody expects one request to take an hour. */
export const maxRetryAfter = 5 * 60_000;
/** A verdict with at most this many tries protects money: the user can lower it, but not raise it. */
const firmTries = 2;

/**
 * Milliseconds to wait before the next try, or undefined to give up.
 * @param policy `tries`: so far, including the one that failed; `retries`: the maximum that the user has set; `once`:
 * whether it is a poll; `random`: jitter between 0 and 1, which spreads the retries of many clients
 */
export function waitBeforeRetry(
	failure: FailedRequest,
	request: SentRequest,
	policy: { tries: number; retries?: number; once?: boolean; random: number },
): number | undefined {
	const { tries, retries, once, random } = policy;
	const { reach, retryAfter } = failure;
	if ((retryAfter ?? 0) > maxRetryAfter) return undefined;
	const { tries: usualTries } = verdictOf(failure, request);
	const wantedTries = retries === undefined ? usualTries : retries + 1;
	const allowedTries = usualTries <= firmTries ? Math.min(usualTries, wantedTries) : wantedTries;
	// With NaN, this comparison allows no retry; its opposite would retry forever.
	if (!(tries < allowedTries)) return undefined;

	// Both base URLs are tried before the wait grows, so that one that is down costs no time while the other works.
	const alternates = request.hasBackup === true && isOutOfReach(failure, request.cost);
	const isOtherNext = alternates && tries % 2 === 1;
	// The next poll is the retry of a poll, unless that was never sent.
	if (once && !(isOtherNext && reach === 'unsent')) return undefined;
	if (isOtherNext) return 0;
	const round = alternates ? tries / 2 : tries;
	const exponential = Math.min(maxBackoff, minBackoff * 2 ** (round - 1));
	const backoffWithJitter = exponential * (0.75 + random / 2);
	// A Retry-After near zero that led to another refusal comes from clocks that differ.
	const ignoresRetryAfter = retryAfter === undefined || (tries > 1 && retryAfter < minBackoff);
	return ignoresRetryAfter ? backoffWithJitter : retryAfter;
}

/** `Retry-After` (RFC 9110, 10.2.3), or the more exact `Retry-After-Ms` of some services, in milliseconds. */
export function parseRetryAfter(headers: Record<string, string>, now: number): number | undefined {
	const { 'retry-after-ms': milliseconds = '', 'retry-after': time } = headers;
	return /^\d{1,15}(\.\d{1,15})?$/.test(milliseconds) ? Number(milliseconds) : parseTime(time, now);
}

/** Milliseconds for which a rate limit holds back all requests, up to {@link maxRetryAfter}. */
export function parseRateLimitPause(
	headers: Record<string, string>,
	now: number,
): number | undefined {
	const pause =
		parseRetryAfter(headers, now) ??
		parseTime(headers['ratelimit-reset'], now) ??
		parseTime(headers['x-ratelimit-reset'], now);
	return pause !== undefined && pause <= maxRetryAfter ? pause : undefined;
}

const maxHeaderLength = 100;

/** Milliseconds until a time. Services give seconds, seconds or milliseconds since 1970, or a date. */
function parseTime(header: string | undefined, now: number): number | undefined {
	const value = header?.slice(0, maxHeaderLength).trim() ?? '';
	if (/^\d+(\.\d+)?$/.test(value)) {
		const number = Number(value);
		if (number < 1e9) return number * 1000;
		return Math.max(0, (number < 1e11 ? number * 1000 : number) - now);
	}
	// Date.parse reads a bare number as a year; an HTTP date has letters before its time of day.
	const [before, time] = value.split(/\d:\d/, 2);
	// The oldest form of an HTTP date has no zone, and is in GMT as well (RFC 9110, 5.6.7).
	const zoned = /\d$/.test(value) && !/[+-]\d\d:?\d\d$/.test(value) ? `${value}Z` : value;
	const date = time !== undefined && /[a-z]/i.test(before) ? Date.parse(zoned) : NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
