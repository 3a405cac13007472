import type { Reach } from '../errors/gatewayError';
import { type Resend } from '../protocol/endpoints';
import { balanceWords, errorCodes } from '../protocol/errorCodes';

/** One failed try, as far as it matters for the next. */
export interface FailedTry {
	reach: Reach;
	/** HTTP status; 0 without an answer. */
	status: number;
	/** `code` and `type` of the error object, and its message. */
	code?: string;
	type?: string;
	message?: string;
	/** Milliseconds the service asked to wait. */
	retryAfter?: number;
	/** Tries made so far, this one included. */
	tries: number;
}

export interface RetryRules {
	resend: Resend;
	/** The user chose to send a create again whose answer was lost. */
	resendIfLost: boolean;
	hasBackup: boolean;
	/** How many times it is sent again at most; by default as often as stands below. */
	retries?: number;
	/** Between 0 and 1: spreads the tries of many workflows. */
	random: number;
}

const minBackoff = 1_000;
const maxBackoff = 30_000;

/** A longer Retry-After is reported instead of obeyed: nobody expects a node to sleep for an hour. */
const maxRetryAfter = 5 * 60_000;
export const maxTriesOnRateLimit = 8;
export const maxTries = 5;

/**
 * Whether and when to try again ("Errors", and who may resend in protocol.ts): milliseconds to wait;
 * undefined is: give up. Pure, so that every rule about money is a row in a test.
 */
export function waitBeforeRetry(failed: FailedTry, rules: RetryRules): number | undefined {
	if (!mayResend(failed, rules)) return undefined;
	const usualTries = failed.status === 429 ? maxTriesOnRateLimit : maxTries;
	const limit = rules.retries === undefined ? usualTries : rules.retries + 1;
	if (failed.tries >= limit) return undefined;
	if ((failed.retryAfter ?? 0) > maxRetryAfter) return undefined;

	// Each base gets its turn before the wait grows: a dead one costs no time when the other is well.
	const takesTurns = failed.status === 0 && rules.hasBackup;
	if (takesTurns && failed.tries % 2 === 1) return 0;
	const round = takesTurns ? failed.tries / 2 : failed.tries;
	const backOff = Math.min(maxBackoff, minBackoff * 2 ** (round - 1));
	const usual = backOff * (0.75 + rules.random / 2);
	const { retryAfter = usual, tries } = failed;
	// "At once" that only led to the next refusal is the work of a clock that differs.
	return tries > 1 && retryAfter < minBackoff ? usual : retryAfter;
}

function mayResend({ reach, status, ...said }: FailedTry, rules: RetryRules): boolean {
	const { resend, resendIfLost } = rules;
	switch (reach) {
		case 'none':
			return false;
		case 'unsent':
			return true;
		case 'lost':
			return resend !== 'ifRefused' || resendIfLost;
		case 'unreadable':
			// A good status had begun to arrive: whatever generates has been paid for.
			return resend === 'always';
		case 'answered':
			if (status === 429) return !isBalance(said);
			if (status === 408 || status === 425) return resend !== 'ifRefused';
			if (status < 500 || said.code === 'quota_exceeded') return false;
			return resend === 'ifRefused' ? isTransient(said) : true;
	}
}

/** The balance and the rate limit share a status; only the second heals by waiting. */
function isBalance({ code, type, message }: Pick<FailedTry, 'code' | 'type' | 'message'>): boolean {
	return [code, type, message].some((text) => text !== undefined && balanceWords.test(text));
}

function isTransient({ code, type }: Pick<FailedTry, 'code' | 'type'>): boolean {
	return [code, type].some(
		(name) => name !== undefined && Object.hasOwn(errorCodes, name) && errorCodes[name].isTransient,
	);
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
