import {
	parseRateLimitPause,
	waitBeforeRetry,
} from '../../../../nodes/shared/service/client/retryPolicy';
import type { FailedRequest, SentRequest } from '../../../../nodes/shared/service/errors/verdict';

const refused: FailedRequest = { reach: 'answered', status: 500, kind: 'serverError' };
const rateLimit: FailedRequest = { ...refused, status: 429, kind: 'tooManyRequests' };
const lost: FailedRequest = { reach: 'lost', status: 0 };

interface Policy extends Partial<SentRequest> {
	tries?: number;
	retries?: number;
	random?: number;
}

/** The wait of a read, unless told otherwise, before its next try; undefined when there is none. */
const waitOf = (
	failure: FailedRequest,
	{ tries = 1, retries, random = 0.5, ...request }: Policy = {},
) => waitBeforeRetry(failure, { cost: 'read', ...request }, { tries, retries, random });

describe('the number of retries', () => {
	it.each([0, 3, 20])('is at most %s when the user sets this number', (retries) => {
		for (const failure of [refused, rateLimit]) {
			if (retries > 0) expect(waitOf(failure, { retries, tries: retries })).toBeDefined();
			expect(waitOf(failure, { retries, tries: retries + 1 })).toBeUndefined();
		}
	});

	it('is raised by no user where a further try may be charged, or cannot help', () => {
		const generation = { cost: 'generation', retries: 20 } as const;
		const proxied: FailedRequest = { reach: 'proxied', status: 502 };
		expect(waitOf(proxied, generation)).toBeDefined();
		expect(waitOf(proxied, { ...generation, tries: 2 })).toBeUndefined();
		expect(waitOf(proxied, { ...generation, retries: 0 })).toBeUndefined();
		expect(waitOf(lost, { cost: 'job', retries: 20 })).toBeUndefined();
	});

	it('is none when it is no number', () =>
		expect(waitOf(refused, { retries: NaN })).toBeUndefined());
});

describe('the wait before a retry', () => {
	it.each([
		[0, [750, 1500, 3000, 6000, 12_000, 22_500, 22_500]],
		[0.5, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
		[1, [1250, 2500, 5000, 10_000, 20_000, 37_500, 37_500]],
	])('doubles up to 30 s, and varies by a quarter (random %d)', (random, expected) => {
		const waits = expected.map((_, index) => waitOf(rateLimit, { random, tries: index + 1 }));
		expect(waits).toEqual(expected);
	});

	it.each([
		[1, 0, 0],
		[1, 300_000, 300_000],
		[1, 300_001, undefined],
		[2, 1000, 1000],
		// The clocks differ.
		[2, 999, 2000],
	])('after try %d is as long as Retry-After says: %d ms', (tries, retryAfter, wait) => {
		for (const failure of [refused, rateLimit]) {
			expect(waitOf({ ...failure, retryAfter }, { tries })).toBe(wait);
		}
	});
});

describe('the other base URL', () => {
	const proxied = (status: number): FailedRequest => ({ reach: 'proxied', status });

	it.each([{ reach: 'unsent', status: 0 } as const, lost, ...[502, 503, 504].map(proxied)])(
		'is tried before the wait grows: $reach, $status',
		(failure) => {
			const waits = [1, 2, 3, 4, 5].map((tries) => waitOf(failure, { tries, hasBackup: true }));
			expect(waits).toEqual([0, 1000, 0, 2000, undefined]);
		},
	);

	it('gets no order that a proxy may have passed on', () => {
		const order = { cost: 'job', idempotencyKey: 'a-key', hasBackup: true } as const;
		expect(waitOf(proxied(502), order)).toBe(1000);
	});
});

describe('the pause after a rate limit', () => {
	const now = Date.UTC(2026, 0, 1);
	const inSeconds = now / 1000;

	it.each([
		['retry-after', '7', 7_000],
		['retry-after-ms', '7500', 7_500],
		['retry-after-ms', 'soon', undefined],
		['retry-after-ms', '300001', undefined],
		['retry-after', 'Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
		['ratelimit-reset', '12', 12_000],
		['ratelimit-reset', ' 0.5 ', 500],
		['x-ratelimit-reset', '0', 0],
		['x-ratelimit-reset', `${inSeconds + 30}`, 30_000],
		['x-ratelimit-reset', `${inSeconds - 30}`, 0],
		['x-ratelimit-reset', `${now + 1_500}`, 1_500],
		['x-ratelimit-reset', '2026-01-01T00:00:45Z', 45_000],
		['x-ratelimit-reset', '300', 300_000],
		['x-ratelimit-reset', '301', undefined],
		['x-ratelimit-reset', '1h0m0s', undefined],
		['x-ratelimit-reset', '5, 3600', undefined],
	])('is read from the header %s: %s', (name, value, expected) => {
		expect(parseRateLimitPause({ [name]: value }, now)).toBe(expected);
	});

	it('comes from the first header that can be read', () => {
		const reset = { 'ratelimit-reset': '20', 'x-ratelimit-reset': '30' };
		expect(parseRateLimitPause({ 'retry-after': '10', ...reset }, now)).toBe(10_000);
		const exact = { 'retry-after': '10', 'retry-after-ms': '9100' };
		expect(parseRateLimitPause(exact, now)).toBe(9_100);
		expect(parseRateLimitPause({ ...exact, 'retry-after-ms': '' }, now)).toBe(10_000);
		expect(parseRateLimitPause({ 'retry-after': '3600', ...reset }, now)).toBeUndefined();
		expect(parseRateLimitPause({ 'retry-after': 'later', ...reset }, now)).toBe(20_000);
		expect(parseRateLimitPause(reset, now)).toBe(20_000);
	});
});
