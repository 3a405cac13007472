import type { Failure } from '../errors/gatewayError';

export interface RetryRules {
	/** Tries made so far, the failed one included. */
	tries: number;
	hasBackup: boolean;
	/** How many times it is sent again at most; by default as often as stands below. */
	retries?: number;
	/** Between 0 and 1: spreads the tries of many clients. */
	random: number;
}

const minBackoff = 1_000;
const maxBackoff = 30_000;

/** A longer Retry-After is reported instead of obeyed: nobody expects a request to take an hour. */
const maxRetryAfter = 5 * 60_000;
export const maxTriesOnRateLimit = 8;
export const maxTries = 5;

/**
 * When to send again what the verdict lets be sent again: milliseconds to wait; undefined is: give up. Pure.
 */
export function waitBeforeRetry(
	{ sendsAgain, status, retryAfter: asked }: Pick<Failure, 'sendsAgain' | 'status' | 'retryAfter'>,
	{ tries, hasBackup, retries, random }: RetryRules,
): number | undefined {
	if (!sendsAgain || (asked ?? 0) > maxRetryAfter) return undefined;
	const usualTries = status === 429 ? maxTriesOnRateLimit : maxTries;
	if (tries >= (retries === undefined ? usualTries : retries + 1)) return undefined;

	// Each base gets its turn before the wait grows: a dead one costs no time when the other is well.
	const takesTurns = status === 0 && hasBackup;
	if (takesTurns && tries % 2 === 1) return 0;
	const round = takesTurns ? tries / 2 : tries;
	const backoff = Math.min(maxBackoff, minBackoff * 2 ** (round - 1));
	const usual = backoff * (0.75 + random / 2);
	// "At once" that only led to the next refusal is the work of a clock that differs.
	const isUseless = asked === undefined || (tries > 1 && asked < minBackoff);
	return isUseless ? usual : asked;
}

/**
 * `Retry-After` in milliseconds: seconds, or a date (RFC 9110, 10.2.3). Undefined when absent or neither.
 */
export function parseRetryAfter(headers: Record<string, string>, now: number): number | undefined {
	const value = headers['retry-after']?.trim();
	if (!value) return undefined;
	if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
	// Date.parse makes years of bare numbers; a date has letters before its time of day.
	const date = /[a-z].*\d:\d/i.test(value) ? Date.parse(value) : NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
