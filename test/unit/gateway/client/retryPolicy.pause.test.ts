import { parseRateLimitPause } from '../../../../nodes/shared/gateway/client/retryPolicy';

describe('the pause after a rate limit', () => {
	const now = Date.UTC(2026, 0, 1);
	const inSeconds = now / 1000;

	it.each([
		['retry-after', '7', 7_000],
		['retry-after', 'Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
		['ratelimit-reset', '12', 12_000],
		['ratelimit-reset', ' 0.5 ', 500],
		['x-ratelimit-reset', '0', 0],
		['x-ratelimit-reset', `${inSeconds + 30}`, 30_000],
		['x-ratelimit-reset', `${inSeconds - 30}`, 0],
		['x-ratelimit-reset', `${now + 1_500}`, 1_500],
		['x-ratelimit-reset', '2026-01-01T00:00:45Z', 45_000],
		['x-ratelimit-reset', '1m30.5s', 90_500],
		['x-ratelimit-reset', '300', 300_000],
		['x-ratelimit-reset', '301', undefined],
		['x-ratelimit-reset', '1h0m0s', undefined],
		['x-ratelimit-reset', '5, 3600', undefined],
	])('reads the pause, if any, from the header %s: %s', (name, value, expected) => {
		expect(parseRateLimitPause({ [name]: value }, now)).toBe(expected);
	});

	it('uses the first header that it can read', () => {
		const reset = { 'ratelimit-reset': '20', 'x-ratelimit-reset': '30' };
		expect(parseRateLimitPause({ 'retry-after': '10', ...reset }, now)).toBe(10_000);
		expect(parseRateLimitPause({ 'retry-after': '3600', ...reset }, now)).toBeUndefined();
		expect(parseRateLimitPause({ 'retry-after': 'later', ...reset }, now)).toBe(20_000);
		expect(parseRateLimitPause(reset, now)).toBe(20_000);
	});
});
