import { Gateway } from '../../../../nodes/shared/gateway/client/gateway';
import type { Http, HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { verdictOn, type FailedRequest } from '../../../../nodes/shared/gateway/errors/verdict';
import { isObject } from '../../../../nodes/shared/gateway/json';
import { endpoints, type Endpoint } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { recordOf, type ErrorRecord } from '../../../../nodes/shared/n8n/errors/errorRecord';
import { fc } from '../../../support/fuzz';
import { SimulatedClock } from '../../../support/simulatedClock';

const connection = {
	baseUrl: 'https://gateway.example',
	asyncHeaderName: 'X-Gateway-Async',
	idempotencyHeaderName: 'Idempotency-Key',
	key: 'sk-verdict-0123456789',
};

/** What happens to a request each time it is sent. */
type Fate =
	{ end: 'unsent' | 'lost' | 'unreadable' } | { end: 'answered'; status: number; error: object };

const response = (status: number, text: string): HttpResponse => ({
	status,
	headers: { 'content-type': 'application/json' },
	body: (async function* () {
		yield new TextEncoder().encode(text);
	})(),
	close: () => undefined,
});

const networkError = (code: string) => Object.assign(new Error(code), { code });

/** Makes a call with the real client, over HTTP in which every request meets the same fate. */
async function meet(
	endpoint: Endpoint,
	fate: Fate,
	{
		resendsLost = false,
		idempotencyKey,
		body,
	}: { resendsLost?: boolean; idempotencyKey?: string; body?: object } = {},
) {
	let sent = 0;
	const http: Http = async () => {
		sent++;
		if (fate.end === 'unsent') throw networkError('ECONNREFUSED');
		if (fate.end === 'lost') throw networkError('ECONNRESET');
		if (fate.end !== 'answered') return response(200, 'Welcome');
		return response(fate.status, JSON.stringify({ error: fate.error }));
	};
	const gateway = new Gateway(connection, { http, clock: new SimulatedClock(), random: () => 0.5 });
	const outcome: unknown = await gateway
		.withIdempotency({ idempotencyKey })
		.call({
			...{ endpoint, purpose: 'ask', id: 'job_1', resendsLost, body },
			parse({ json }) {
				if (isObject(json) && !('error' in json)) return json;
				throw new UnusableResponse('is of no use');
			},
		})
		.catch((error: unknown) => error);
	if (!(outcome instanceof GatewayError)) throw outcome;
	return { sent, failure: outcome.failure, record: recordOf(outcome) };
}

const codes = [...Object.keys(errorCodes), 'insufficient_quota', 'rate_limit_exceeded', 'other'];
const messages = [
	'No',
	'Rate limit reached',
	'Insufficient balance, please top up',
	'Blocked by content moderation',
	"The key's group has no permission for this model",
	'The request was rejected by our safety system',
];
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const fates: fc.Arbitrary<Fate> = fc.oneof(
	fc.record({ end: fc.constantFrom('unsent', 'lost', 'unreadable') }),
	fc.record({
		end: fc.constant('answered' as const),
		status: fc.constantFrom(
			...[200, 400, 401, 402, 403, 404, 408, 409, 422, 425, 429],
			...[500, 502, 503, 504],
		),
		error: fc.record({
			message: fc.oneof(fc.constantFrom(...messages), fc.string()),
			code: optional(fc.oneof(fc.constantFrom(...codes), fc.string())),
			type: optional(fc.constantFrom(...codes, 'invalid_request_error')),
		}),
	}),
);

describe('any failure of any endpoint', () => {
	it('reports every failure of every endpoint in agreement with what the client did', async () => {
		const names = fc.constantFrom(...(Object.keys(endpoints) as Array<keyof typeof endpoints>));
		const repetitions = fc.record({
			resendsLost: fc.boolean(),
			idempotencyKey: optional(fc.constant('a-key')),
		});
		const property = fc.asyncProperty(names, fates, repetitions, async (name, fate, repetition) => {
			const endpoint: Endpoint = endpoints[name];
			const resends = repetition.resendsLost || repetition.idempotencyKey !== undefined;
			const { sent, failure, record } = await meet(endpoint, fate, repetition);
			const { billed, retry_can_help: canHelp, advice } = record;

			// The user can run again what the client sent again; the client did not retry where that cannot help.
			if (sent > 1) expect(canHelp).toBe(true);
			if (!canHelp) expect(sent).toBe(1);
			expect(failure.sendsAgain).toBe(sent > 1);
			// A request that may be charged is sent again, or called worth a retry, only when the user chose so or it
			// has a key.
			if (billed === 'unknown')
				expect([sent > 1, canHelp]).toEqual([resends && sent > 1, sent > 1]);
			if (endpoint.cost === 'read') expect(billed).toBe('no');
			// A wait polls on after every failure after which a single request is sent again.
			if (sent > 1) expect(failure.pollCanHelp).toBe(true);
			// The advice agrees with the verdict.
			if (/Top up/.test(advice)) expect([sent, canHelp]).toEqual([1, false]);
			if (/Lower Parallel Requests/.test(advice)) expect(canHelp).toBe(true);
			if (/may have been accepted/.test(advice)) expect(billed).toBe('unknown');
			if (/nothing was charged/.test(advice)) expect(billed).toBe('no');
		});
		await fc.assert(property, { numRuns: 500 });
	});
});

describe('the advice', () => {
	const onRefusal = async (
		status: number,
		error: object,
		endpoint: Endpoint = endpoints.chat,
	): Promise<ErrorRecord> => (await meet(endpoint, { end: 'answered', status, error })).record;

	it.each([
		["The key's group has no permission for this model", /owner/, /prompt|moderation/],
		['Blocked by content moderation', /prompt/, /owner|group/],
		['No', /owner/, /prompt|moderation/],
		['Permission denied by content moderation', /prompt.*owner/, /$^/],
	])(
		'advises on the permission after a 403, or on the prompt when moderation is named: %s',
		async (message, named, unnamed) => {
			const { advice } = await onRefusal(403, { message });
			expect(advice).toMatch(named);
			expect(advice).not.toMatch(unnamed);
		},
	);

	it.each(Object.keys(endpoints) as Array<keyof typeof endpoints>)(
		'mentions moderation after a 403 without a cause only for a reference video: %s',
		async (name) => {
			const { advice } = await onRefusal(403, { message: 'No' }, endpoints[name]);
			expect(advice).toMatch(/owner/);
			expect(/moderation/.test(advice)).toBe(name === 'referenceVideoCreate');
		},
	);

	it.each([
		['Rejected by our safety system', /moderation/],
		['size must be one of 1024x1024', /Correct the value/],
		['The name is case-sensitive', /Correct the value/],
	])('advises on the cause that a 400 names: %s', async (message, named) => {
		expect((await onRefusal(400, { message })).advice).toMatch(named);
	});

	it('advises to top up when a code, a type or a message says that the balance is empty', async () => {
		for (const said of [
			{ code: 'insufficient_quota', message: 'No' },
			{ type: 'insufficient_quota', message: 'No' },
			{ message: 'Insufficient balance' },
		]) {
			const { advice, retry_can_help } = await onRefusal(429, said);
			expect(advice).toBe('Top up the account or raise its quota, then run again.');
			expect(retry_can_help).toBe(false);
		}
	});
});

describe('the creation of a job', () => {
	const outcomeUnknown = { billed: 'unknown', sendsAgain: false, retryCanHelp: false };
	const sentAgain = { sendsAgain: true, retryCanHelp: true };
	const finallyRefused = { billed: 'no', sendsAgain: false, retryCanHelp: false };
	/** A transient refusal after which only the user can send the order again. */
	const temporarilyRefused = { billed: 'no', sendsAgain: false, retryCanHelp: true };

	it.each<[string, FailedRequest, withoutKey: object, withKey: object]>([
		['never sent', { reach: 'unsent', status: 0 }, { billed: 'no', ...sentAgain }, sentAgain],
		// The service keeps its response under the key: sending again makes no second job and returns the first.
		['lost', { reach: 'lost', status: 0 }, outcomeUnknown, { billed: 'unknown', ...sentAgain }],
		[
			'lost at a proxy',
			{ reach: 'lost', status: 502 },
			outcomeUnknown,
			{ billed: 'unknown', ...sentAgain },
		],
		[
			'unreadable',
			{ reach: 'unreadable', status: 200 },
			outcomeUnknown,
			{ billed: 'unknown', ...sentAgain },
		],
		['408', { reach: 'answered', status: 408 }, temporarilyRefused, { billed: 'no', ...sentAgain }],
		['425', { reach: 'answered', status: 425 }, temporarilyRefused, { billed: 'no', ...sentAgain }],
		['429', { reach: 'answered', status: 429 }, { billed: 'no', ...sentAgain }, sentAgain],
		['500', { reach: 'answered', status: 500 }, temporarilyRefused, { billed: 'no', ...sentAgain }],
		['503', { reach: 'answered', status: 503 }, temporarilyRefused, { billed: 'no', ...sentAgain }],
		// With a key, a 409 says that an earlier attempt arrived.
		[
			'409',
			{ reach: 'answered', status: 409 },
			finallyRefused,
			{ billed: 'unknown', ...sentAgain },
		],
		...[400, 401, 403, 404, 422].map((status): [string, FailedRequest, object, object] => [
			String(status),
			{ reach: 'answered', status },
			finallyRefused,
			finallyRefused,
		]),
		[
			'an empty balance',
			{ reach: 'answered', status: 429, error: { code: 'quota_exceeded' } },
			finallyRefused,
			finallyRefused,
		],
		[
			'409 for its prompt',
			{ reach: 'answered', status: 409, error: { code: 'invalid_prompt' } },
			finallyRefused,
			finallyRefused,
		],
		['not tried', { reach: 'none', status: 0 }, finallyRefused, finallyRefused],
	])(
		'decides whether to send an order again with and without an idempotency key: %s',
		(_, failure, withoutKey, withKey) => {
			expect(verdictOn(failure, { cost: 'job' })).toMatchObject(withoutKey);
			expect(verdictOn(failure, { cost: 'job', idempotencyKey: 'a-key' })).toMatchObject(withKey);
		},
	);

	it('advises against ordering again after a 409 with an idempotency key', async () => {
		const { record } = await meet(
			endpoints.videoCreate,
			{ end: 'answered', status: 409, error: { message: 'in progress' } },
			{ idempotencyKey: 'a-key' },
		);
		expect(record.message).toBe('Could not ask: in progress (HTTP 409)');
		expect(record.advice).toContain('do not order it again');
	});
});

describe('the verdict', () => {
	it('lets polls continue while the job may still succeed', () => {
		const pollCanHelp = (status: number, code?: string) =>
			verdictOn({ reach: 'answered', status, error: { code } }, { cost: 'read' }).pollCanHelp;
		expect(pollCanHelp(500, 'other')).toBe(true);
		expect(pollCanHelp(500, 'model_not_found')).toBe(false);
		expect(pollCanHelp(429, 'quota_exceeded')).toBe(true);
		expect(pollCanHelp(429, 'model_not_found')).toBe(false);
		expect(pollCanHelp(500, 'video_not_found')).toBe(false);
		expect(pollCanHelp(500, 'write_response_body_failed')).toBe(true);
		expect(pollCanHelp(404, 'video_not_ready')).toBe(true);
		expect(pollCanHelp(404, 'video_not_found')).toBe(false);
		expect(pollCanHelp(401)).toBe(false);
		expect(pollCanHelp(403, 'quota_exceeded')).toBe(false);
	});
});

describe('an error response of any endpoint', () => {
	const names = Object.keys(endpoints) as Array<keyof typeof endpoints>;
	const statuses = [200, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504];
	const permanentCodes = Object.keys(errorCodes).filter((code) => !errorCodes[code].isTransient);
	const keys = [undefined, 'a-key'];

	it.each(names)(
		'treats an error response with a permanent code as final whatever its status: %s',
		async (name) => {
			for (const code of permanentCodes) {
				for (const status of statuses) {
					for (const idempotencyKey of keys) {
						const fate: Fate = { end: 'answered', status, error: { message: 'No', code } };
						const options = { idempotencyKey, resendsLost: true };
						const { sent, record, failure } = await meet(endpoints[name], fate, options);
						const observed = { code, status, sent, canHelp: record.retry_can_help };
						expect(observed).toEqual({ code, status, sent: 1, canHelp: false });
						expect(record.billed).toBe('no');
						expect(record.advice).not.toMatch(/^Run again|run again later/);
						// A wait continues while the balance is empty, and ends after errors that waiting cannot fix.
						const isEmptyAccount = code === 'quota_exceeded' && (status < 400 || status >= 429);
						expect(failure.pollCanHelp).toBe(isEmptyAccount);
					}
				}
			}
		},
	);

	const unknownOutcomes: Fate[] = [
		...(['lost', 'unreadable'] as const).map((end) => ({ end })),
		...statuses.map((status) => ({
			...{ end: 'answered' as const, status },
			error: { message: 'Insufficient balance', code: 'write_response_body_failed' },
		})),
	];
	const creates = names.filter((name) => endpoints[name].cost === 'job');
	const others = names.filter((name) => endpoints[name].cost !== 'job');

	it.each(creates)('sends an order only once when its outcome is unknown: %s', async (name) => {
		for (const fate of unknownOutcomes) {
			const { sent, record } = await meet(endpoints[name], fate);
			expect([fate, sent, record.billed, record.retry_can_help]).toEqual([
				...[fate, 1, 'unknown', false],
			]);
			expect(record.advice).toContain('may have been accepted');
			expect(record.advice).not.toMatch(/run again/i);
		}
	});

	it.each(creates)(
		'sends an order again only when it certainly was not accepted: %s',
		async (name) => {
			const certainlyRefused = ['upstream_error', 'video_not_ready'];
			for (const code of [...Object.keys(errorCodes), 'other', undefined]) {
				for (const status of statuses.filter((each) => each !== 429)) {
					const fate: Fate = { end: 'answered', status, error: { message: 'No', code } };
					const { sent } = await meet(endpoints[name], fate);
					const isCertain = status >= 500 && code !== undefined && certainlyRefused.includes(code);
					expect([code, status, sent > 1]).toEqual([code, status, isCertain]);
				}
			}
		},
	);

	it.each(others)(
		'sends a request that is no order again when its response could not be delivered: %s',
		async (name) => {
			const error = { message: 'No', code: 'write_response_body_failed' };
			const { sent, record } = await meet(endpoints[name], { end: 'answered', status: 500, error });
			expect([sent, record.billed, record.retry_can_help]).toEqual([5, 'no', true]);
		},
	);
});

describe('HTTP 500 on the creation of a reference video', () => {
	const create = async (
		error: object,
		media?: unknown,
		name: keyof typeof endpoints = 'referenceVideoCreate',
	) =>
		await meet(
			endpoints[name],
			{ end: 'answered', status: 500, error },
			{ body: { model: 'a', input: { prompt: 'A boat', media } } },
		);
	const some = [{ type: 'reference_image', url: 'https://a.example/a.png' }];

	it.each([
		['missing media', some],
		['input.media is required', some],
		['The reference_image could not be read', some],
		['Internal error', []],
		['Internal error', undefined],
		['Internal error', null],
	])(
		'advises to add media when the error or the request shows that they are missing: %s %j',
		async (message, media) => {
			const { sent, record } = await create({ message }, media);
			expect([sent, record.billed, record.retry_can_help]).toEqual([1, 'no', false]);
			expect(record.advice).toMatch(/^Add the reference media/);
		},
	);

	it.each([
		['Internal error'],
		['The upstream service failed while it read the media'],
		['Multimedia is fun'],
		['The creation of the reference video failed'],
	])(
		'says that the cause may be the media or the provider when the error is unclear: %s',
		async (message) => {
			const { sent, record } = await create({ message }, some);
			expect([sent, record.retry_can_help]).toEqual([1, true]);
			expect(record.advice).toMatch(/if it names media/);
		},
	);

	it('follows the error code rather than a message about media', async () => {
		const { sent, record } = await create({ message: 'no media', code: 'upstream_error' }, some);
		expect([sent, record.retry_can_help]).toEqual([5, true]);
	});

	it('does not mention media for a video that takes no media', async () => {
		const { record } = await create({ message: 'missing media' }, undefined, 'videoCreate');
		expect(record.retry_can_help).toBe(true);
		expect(record.advice).not.toMatch(/media/);
	});
});
