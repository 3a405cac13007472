import { Gateway } from '../../../../nodes/shared/gateway/client/gateway';
import type { Http, HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { isObject } from '../../../../nodes/shared/gateway/json';
import { endpoints, type Endpoint } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { recordOf } from '../../../../nodes/shared/n8n/errors/errorRecord';
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

it.each([
	[502, 2, /sent twice/],
	[504, 1, /was not sent again/],
])(
	'says after the page of a proxy with HTTP %i that %i requests may be charged',
	async (status, requests, said) => {
		const { sent, record } = await meet(endpoints.chat, { end: 'proxied', status });
		expect([sent, record.billed, record.retry_can_help]).toEqual([requests, 'unknown', false]);
		expect(record.advice).toMatch(said);
	},
);

it('advises against ordering again after a 409 with an idempotency key', async () => {
	const refusal: Fate = { end: 'answered', status: 409, error: { message: 'in progress' } };
	const { record } = await meet(endpoints.videoCreate, refusal, { idempotencyKey: 'a-key' });
	expect(record.advice).toContain('do not order it again');
});

it('takes the media of a reference video for missing where the request has none', async () => {
	const error: Fate = { end: 'answered', status: 500, error: { message: 'Internal error' } };
	const adviceWith = async (media: unknown) => {
		const body = { model: 'a', input: { prompt: 'A boat', media } };
		return (await meet(endpoints.referenceVideoCreate, error, { body })).record.advice;
	};
	for (const none of [undefined, null, []]) {
		expect(await adviceWith(none)).toMatch(/^Add the reference media/);
	}
	expect(await adviceWith([{ type: 'reference_image' }])).toMatch(/if it names media/);
});
