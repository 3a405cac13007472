import { Gateway } from '../../../../nodes/shared/gateway/client/gateway';
import type { Http, HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { isObject } from '../../../../nodes/shared/gateway/json';
import { endpoints, type Endpoint } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { recordOf, type ErrorRecord } from '../../../../nodes/shared/n8n/errors/errorRecord';
import { fc } from '../../../support/data/fuzz';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const connection = {
	baseUrl: 'https://gateway.example',
	asyncHeaderName: 'X-Gateway-Async',
	idempotencyHeaderName: 'Idempotency-Key',
	key: 'sk-verdict-0123456789',
};

/** What happens to a request each time it is sent. */
type Fate =
	| { end: 'unsent' | 'lost' | 'unreadable' }
	| { end: 'proxied'; status: number }
	| { end: 'answered'; status: number; error: object };

const response = (status: number, text: string): HttpResponse => ({
	status,
	headers: { 'content-type': 'application/json' },
	body: (async function* () {
		yield new TextEncoder().encode(text);
	})(),
	close: () => undefined,
});

const networkError = (code: string, syscall?: string) =>
	Object.assign(new Error(code), { code, syscall });

/** Makes a call with the real client, over HTTP in which every request meets the same fate. */
async function meet(
	endpoint: Endpoint,
	fate: Fate,
	{
		resendsLost,
		idempotencyKey,
		body,
	}: { resendsLost?: boolean; idempotencyKey?: string; body?: object } = {},
) {
	let sent = 0;
	const http: Http = async () => {
		sent++;
		if (fate.end === 'unsent') throw networkError('ECONNREFUSED', 'connect');
		if (fate.end === 'lost') throw networkError('ECONNRESET');
		if (fate.end === 'proxied') return response(fate.status, '<title>No</title>');
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
	return { sent, record: recordOf(outcome) };
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
			const { sent, record } = await meet(endpoint, fate, repetition);
			const { billed, retry_can_help: canHelp, advice } = record;

			// The user can run again what the client sent again; the client did not retry where that cannot help.
			if (sent > 1) expect(canHelp).toBe(true);
			if (!canHelp) expect(sent).toBe(1);
			// A request that may be charged is sent again, or called worth a retry, only when the user chose so or it
			// has a key.
			if (billed === 'unknown')
				expect([sent > 1, canHelp]).toEqual([resends && sent > 1, sent > 1]);
			if (endpoint.cost === 'read') expect(billed).toBe('no');
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
	])(
		'advises on the permission after a 403, or on the prompt when moderation is named: %s',
		async (message, named, unnamed) => {
			const { advice } = await onRefusal(403, { message });
			expect(advice).toMatch(named);
			expect(advice).not.toMatch(unnamed);
		},
	);

	it.each([
		['Rejected by our safety system', /moderation/],
		['size must be one of 1024x1024', /Correct the value/],
	])('advises on the cause that a 400 names: %s', async (message, named) => {
		expect((await onRefusal(400, { message })).advice).toMatch(named);
	});

	it.each<[string, number, object, Endpoint, RegExp, RegExp]>([
		['an empty balance under 402', 402, { message: 'No' }, endpoints.chat, /^Top up/, /Correct/],
		[
			...(['a quota under 403', 403, { code: 'insufficient_user_quota', message: 'No' }] as const),
			...([endpoints.chat, /^Top up/, /permission/] as const),
		],
		[
			...(['arrears under 400', 400, { code: 'Arrearage', message: 'Denied' }] as const),
			...([endpoints.videoCreate, /^Top up/, /Correct/] as const),
		],
		[
			...(['a balance that is a setting', 400, { message: 'white balance must be 0' }] as const),
			...([endpoints.imageGenerate, /^Correct/, /Top up/] as const),
		],
		['404 on the list', 404, { message: 'No' }, endpoints.models, /Base URL/, /Check the ID|model/],
		[
			...(['429 within a 200', 200, { code: '429', message: 'Rate limit' }] as const),
			...([endpoints.chat, /Requests per Second/, /Correct/] as const),
		],
	])('names what %s means', async (_, status, error, endpoint, named, unnamed) => {
		const { advice } = await onRefusal(status, error, endpoint);
		expect(advice).toMatch(named);
		expect(advice).not.toMatch(unnamed);
	});
});

describe('the creation of a job', () => {
	const outcomeUnknown = ['unknown', false, false];
	const sentAgain = ['no', true, true];
	const sentAgainByKey = ['unknown', true, true];
	const finallyRefused = ['no', false, false];
	/** A transient refusal after which only the user can send the order again. */
	const temporarilyRefused = ['no', false, true];
	const refused = (status: number, error: object = {}): Fate => ({
		...{ end: 'answered', status, error: { message: 'No', ...error } },
	});

	it.each<[string, Fate, withoutKey: unknown[], withKey: unknown[]]>([
		['never sent', { end: 'unsent' }, sentAgain, sentAgain],
		// The service keeps its response under the key: sending again makes no second job and returns the first.
		['lost', { end: 'lost' }, outcomeUnknown, sentAgainByKey],
		['lost at a proxy', { end: 'proxied', status: 502 }, outcomeUnknown, sentAgainByKey],
		['unreadable', { end: 'unreadable' }, outcomeUnknown, sentAgainByKey],
		...[408, 425, 500, 503].map((status): [string, Fate, unknown[], unknown[]] => [
			...([String(status), refused(status), temporarilyRefused, sentAgain] as const),
		]),
		['429', refused(429), sentAgain, sentAgain],
		// With a key, a 409 says that an earlier attempt arrived.
		['409', refused(409), finallyRefused, sentAgainByKey],
		...[400, 401, 403, 404, 422].map((status): [string, Fate, unknown[], unknown[]] => [
			...([String(status), refused(status), finallyRefused, finallyRefused] as const),
		]),
		[
			...(['an empty balance', refused(429, { code: 'quota_exceeded' })] as const),
			...([finallyRefused, finallyRefused] as const),
		],
		[
			...(['409 for its prompt', refused(409, { code: 'invalid_prompt' })] as const),
			...([finallyRefused, finallyRefused] as const),
		],
	])(
		'decides whether to send an order again with and without an idempotency key: %s',
		async (_, fate, withoutKey, withKey) => {
			const judge = async (idempotencyKey?: string) => {
				const { sent, record } = await meet(endpoints.videoCreate, fate, { idempotencyKey });
				return [record.billed, sent > 1, record.retry_can_help];
			};
			expect(await judge()).toEqual(withoutKey);
			expect(await judge('a-key')).toEqual(withKey);
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

describe('the page of a proxy', () => {
	const generations = Object.values(endpoints).filter(({ cost }) => cost === 'generation');

	it.each([
		[502, 2],
		[503, 2],
		[520, 2],
		[504, 1],
		[408, 1],
		[524, 1],
	])(
		'may come after the service has delivered, so after HTTP %i, %i requests are sent',
		async (status, requests) => {
			for (const endpoint of generations) {
				const { sent, record } = await meet(endpoint, { end: 'proxied', status });
				expect([sent, record.billed, record.retry_can_help]).toEqual([requests, 'unknown', false]);
				expect(record.advice).toMatch(requests === 2 ? /sent twice/ : /was not sent again/);
				const stopped = await meet(endpoint, { end: 'proxied', status }, { resendsLost: false });
				expect(stopped.sent).toBe(1);
			}
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
		['Internal error', []],
		['Internal error', undefined],
	])(
		'advises to add media when the error or the request shows that they are missing: %s %j',
		async (message, media) => {
			const { sent, record } = await create({ message }, media);
			expect([sent, record.billed, record.retry_can_help]).toEqual([1, 'no', false]);
			expect(record.advice).toMatch(/^Add the reference media/);
		},
	);

	it.each([['Internal error'], ['The upstream service failed while it read the media']])(
		'says that the cause may be the media or the provider when the error is unclear: %s',
		async (message) => {
			const { sent, record } = await create({ message }, some);
			expect([sent, record.retry_can_help]).toEqual([1, true]);
			expect(record.advice).toMatch(/if it names media/);
		},
	);
});
