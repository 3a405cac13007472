import {
	parseRateLimitPause,
	parseRetryAfter,
	waitBeforeRetry,
} from '../../../../nodes/shared/gateway/client/retryPolicy';
import type { ErrorObject } from '../../../../nodes/shared/gateway/reader/reason';
import type { Failure, Reach } from '../../../../nodes/shared/gateway/errors/gatewayError';
import type { AddressProblem } from '../../../../nodes/shared/gateway/errors/networkError';
import type { SentRequest } from '../../../../nodes/shared/gateway/errors/verdict';
import { refused } from '../../../../nodes/shared/gateway/errors/requestErrors';
import type { Cost } from '../../../../nodes/shared/gateway/protocol/endpoints';

const rules = {
	'a read': { cost: 'read' },
	'a generation': { cost: 'generation' },
	'a generation, once': { cost: 'generation', resendsLost: false },
	'a create': { cost: 'job' },
	'a create, again if lost': { cost: 'job', resendsLost: true },
	'a create with a key': { cost: 'job', idempotencyKey: 'a-key' },
} as const satisfies Record<string, { cost: Cost; resendsLost?: boolean; idempotencyKey?: string }>;
type RequestKind = keyof typeof rules;

/** What matters about a failed attempt for the next one. */
interface FailedTry extends ErrorObject {
	reach: Reach;
	status: number;
	retryAfter?: number;
	tries: number;
}

/** What the client knows of a failed attempt. */
function factsOf(
	{ reach, status, retryAfter, ...error }: FailedTry,
	request: SentRequest,
): Pick<Failure, 'reach' | 'status' | 'retry_can_help' | 'retryAfter'> {
	if (reach !== 'answered') return { reach, status, retryAfter, retry_can_help: true };
	const text = JSON.stringify({ error: { message: 'No', ...error } });
	return refused({ purpose: 'ask', ...request }, { status, headers: {}, text }, retryAfter).failure;
}

/** The wait before the next attempt, if any. */
function waitOf(
	{ tries, ...failure }: FailedTry,
	kind: RequestKind,
	{ hasBackup = false, random = 0.5, retries }: Policy = {},
): number | undefined {
	const request = rules[kind];
	const facts = factsOf({ ...failure, tries }, request);
	return waitBeforeRetry(facts, { ...request, hasBackup }, { tries, retries, random });
}

interface Policy {
	hasBackup?: boolean;
	random?: number;
	retries?: number;
}

const all = Object.keys(rules) as RequestKind[];
const allRepeatable = ['a read', 'a generation', 'a generation, once', 'a create with a key'];
const allUnlessAsked = all.filter((kind) => kind !== 'a create' && kind !== 'a generation, once');

const failed = (parts: Partial<FailedTry>): FailedTry => ({
	reach: 'answered',
	status: 500,
	tries: 1,
	...parts,
});
const answered = (status: number, said: Partial<FailedTry> = {}) => failed({ status, ...said });

describe('retries after a failure', () => {
	const insufficient = 'Insufficient balance, please top up';

	it.each<[string, FailedTry, string[]]>([
		['a request that was never sent', failed({ reach: 'unsent', status: 0 }), all],
		['a lost response', failed({ reach: 'lost', status: 0 }), allUnlessAsked],
		["a proxy's page with 502", failed({ reach: 'proxied', status: 502 }), allUnlessAsked],
		[
			"a proxy's page with 504",
			failed({ reach: 'proxied', status: 504 }),
			allUnlessAsked.filter((kind) => kind !== 'a generation'),
		],
		[
			'a 2xx status with a broken body',
			failed({ reach: 'unreadable', status: 200 }),
			['a read', 'a create with a key'],
		],
		['an end without a request', failed({ reach: 'none', status: 0 }), []],
		['400', answered(400), []],
		['400 with a transient code', answered(400, { code: 'upstream_error' }), []],
		['409', answered(409), ['a create with a key']],
		['408', answered(408), allRepeatable],
		['425', answered(425), allRepeatable],
		['429, the rate limit', answered(429, { code: 'rate_limit_exceeded' }), all],
		['429, the quota by its code', answered(429, { code: 'quota_exceeded' }), []],
		['429, the balance by its type', answered(429, { type: 'insufficient_quota' }), []],
		...[insufficient, 'User quota is not enough', 'You have run out of credits'].map(
			(message): [string, FailedTry, string[]] => [
				`429, ${message}`,
				answered(429, { message }),
				[],
			],
		),
		['500, the provider', answered(500, { code: 'upstream_error' }), all],
		['500 with a permanent code', answered(500, { code: 'invalid_prompt' }), []],
		[
			'500, not delivered',
			answered(500, { code: 'write_response_body_failed' }),
			all.filter((kind) => kind !== 'a create'),
		],
		['500 that names no cause', answered(500, { message: 'missing media' }), allRepeatable],
		['500, an unknown code', answered(500, { code: 'toString' }), allRepeatable],
		['503 of the service', answered(503), allRepeatable],
	])(
		'retries exactly the kinds of request that may be sent again after %s',
		(_, failure, expected) => {
			expect(all.filter((kind) => waitOf(failure, kind))).toEqual(expected);
		},
	);
});

describe('an address that is wrong', () => {
	const unsent = (problem: AddressProblem) => ({
		...({ reach: 'unsent', status: 0, retry_can_help: true } as const),
		network: { detail: 'no', isTimeout: false, problem },
	});
	const waitsOf = (problem: AddressProblem, hasBackup: boolean) =>
		[1, 2].map((tries) =>
			waitBeforeRetry(unsent(problem), { cost: 'read', hasBackup }, { tries, random: 0.5 }),
		);

	it.each(['badCertificate', 'blocked'] as const)(
		'is not tried again, except at the other base URL: %s',
		(problem) => {
			expect(waitsOf(problem, false)).toEqual([undefined, undefined]);
			expect(waitsOf(problem, true)).toEqual([0, undefined]);
		},
	);

	it('is tried again when nothing listens there yet', () => {
		expect(waitsOf('refused', false)).toEqual([1000, 2000]);
	});
});

describe('the number of retries', () => {
	it.each<[string, FailedTry, number]>([
		['a lost response', failed({ reach: 'lost', status: 0 }), 5],
		['a request that was never sent', failed({ reach: 'unsent', status: 0 }), 5],
		['408', answered(408), 5],
		['425', answered(425), 5],
		['500', answered(500), 5],
		['429', answered(429), 8],
	])('stops after the maximum number of attempts: %s', (_, failure, max) => {
		expect(waitOf({ ...failure, tries: max - 1 }, 'a read')).toBeDefined();
		expect(waitOf({ ...failure, tries: max }, 'a read')).toBeUndefined();
	});

	it.each([0, 3, 20])('retries at most %s times when the user sets this number', (retries) => {
		for (const failure of [answered(500), answered(429)]) {
			const wait = (tries: number) => waitOf({ ...failure, tries }, 'a read', { retries });
			if (retries > 0) expect(wait(retries)).toBeDefined();
			expect(wait(retries + 1)).toBeUndefined();
		}
	});
});

describe('the wait before a retry', () => {
	const waits = (random: number, status: number) =>
		[1, 2, 3, 4, 5, 6, 7].map((tries) => waitOf(answered(status, { tries }), 'a read', { random }));

	it.each([
		[0, [750, 1500, 3000, 6000, 12_000, 22_500, 22_500]],
		[0.5, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
		[1, [1250, 2500, 5000, 10_000, 20_000, 37_500, 37_500]],
	])('doubles the wait up to 30 s, and varies it by a quarter (random %d)', (random, expected) => {
		expect(waits(random, 429)).toEqual(expected);
		expect(waits(random, 503).slice(0, 4)).toEqual(expected.slice(0, 4));
	});

	it.each([0, 1000, 299_000, 300_000])('waits as long as Retry-After says: %d ms', (retryAfter) => {
		for (const status of [429, 503]) {
			expect(waitOf(answered(status, { retryAfter }), 'a read', { random: 1 })).toBe(retryAfter);
		}
	});

	it('does not retry when Retry-After is more than 5 minutes', () => {
		expect(waitOf(answered(429, { retryAfter: 300_001 }), 'a read')).toBeUndefined();
	});
});

describe('the other base URL', () => {
	const tries = (failure: FailedTry) =>
		[1, 2, 3, 4, 5].map((count) =>
			waitOf({ ...failure, tries: count }, 'a read', { hasBackup: true }),
		);

	it.each([
		...[failed({ reach: 'unsent', status: 0 }), failed({ reach: 'lost', status: 0 })],
		...[502, 503, 504].map((status) => failed({ reach: 'proxied', status })),
	])('tries the other base URL before the wait grows ($reach, $status)', (failure) => {
		expect(tries(failure)).toEqual([0, 1000, 0, 2000, undefined]);
	});

	it.each([
		answered(500),
		answered(429),
		failed({ reach: 'proxied', status: 500 }),
		answered(503),
		failed({ reach: 'unreadable', status: 200 }),
	])('does not try the other base URL when a gateway responded ($reach, $status)', (failure) => {
		// The other base URL would be tried without a wait.
		expect(tries(failure)).not.toContain(0);
	});

	it('does not send a create to the other base URL when its response was lost', () => {
		const lost = failed({ reach: 'lost', status: 0 });
		expect(waitOf(lost, 'a create', { hasBackup: true })).toBeUndefined();
	});
});

describe('Retry-After', () => {
	const now = Date.UTC(2026, 0, 1, 12);
	const retryAfter = (value: string) => parseRetryAfter({ 'retry-after': value }, now);

	it.each([
		['0', 0],
		['7', 7000],
		[' 7 ', 7000],
		['1.5', 1500],
		['Thu, 01 Jan 2026 12:01:30 GMT', 90_000],
		['Thu, 01 Jan 2026 11:59:00 GMT', 0],
	])('reads the Retry-After header "%s"', (value, expected) => {
		expect(retryAfter(value)).toBe(expected);
	});
});

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
