import { Gateway } from '../../nodes/shared/gateway/client/gateway';
import type { Http, HttpResponse } from '../../nodes/shared/gateway/client/http';
import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { verdictOn } from '../../nodes/shared/gateway/errors/verdict';
import { isObject } from '../../nodes/shared/gateway/json';
import { endpoints, type Endpoint } from '../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes } from '../../nodes/shared/gateway/protocol/errorCodes';
import { recordOf, type ErrorRecord } from '../../nodes/shared/n8n/errors/errorRecord';
import { fc } from '../support/fuzz';
import { SimulatedClock } from '../support/simulatedClock';

const connection = {
	baseUrl: 'https://gateway.example',
	asyncHeaderName: 'X-Gateway-Async',
	key: 'sk-verdict-0123456789',
};

/** What becomes of a request, each time it is sent. */
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

/** The real client, over a wire on which every request meets the same fate. */
async function meet(endpoint: Endpoint, fate: Fate, resendsLost: boolean) {
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
		.call({
			...{ endpoint, purpose: 'ask', id: 'job_1', resendsLost },
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
	it('has a record that does not contradict what was done', async () => {
		const names = fc.constantFrom(...(Object.keys(endpoints) as Array<keyof typeof endpoints>));
		const property = fc.asyncProperty(names, fates, fc.boolean(), async (name, fate, resends) => {
			const endpoint: Endpoint = endpoints[name];
			const { sent, failure, record } = await meet(endpoint, fate, resends);
			const { billed, retry_can_help: canHelp, advice } = record;

			// What was sent again by itself can be run again by the user, and what cannot help was not tried.
			if (sent > 1) expect(canHelp).toBe(true);
			if (!canHelp) expect(sent).toBe(1);
			expect(failure.sendsAgain).toBe(sent > 1);
			// What may be paid for is neither sent again nor said to be worth it, unless the user chose so.
			if (billed === 'unknown')
				expect([sent > 1, canHelp]).toEqual([resends && sent > 1, sent > 1]);
			if (endpoint.cost === 'read') expect(billed).toBe('no');
			// A wait never gives up on what a single request would be sent again for.
			if (sent > 1) expect(failure.pollCanHelp).toBe(true);
			// The advice is that of the verdict.
			if (/Top up/.test(advice)) expect([sent, canHelp]).toEqual([1, false]);
			if (/Lower Parallel Requests/.test(advice)) expect(canHelp).toBe(true);
			if (/may have been accepted/.test(advice)) expect(billed).toBe('unknown');
			if (/nothing was billed/.test(advice)) expect(billed).toBe('no');
		});
		await fc.assert(property, { numRuns: 2000 });
	});
});

describe('the advice', () => {
	const onRefusal = async (status: number, error: object): Promise<ErrorRecord> =>
		(await meet(endpoints.chat, { end: 'answered', status, error }, false)).record;

	it.each([
		["The key's group has no permission for this model", /owner/, /prompt|moderation/],
		['Blocked by content moderation', /prompt/, /owner|group/],
		['No', /prompt.*owner/, /$^/],
		['Permission denied by content moderation', /prompt.*owner/, /$^/],
	])('on 403 names the cause that the answer names: %s', async (message, named, unnamed) => {
		const { advice } = await onRefusal(403, { message });
		expect(advice).toMatch(named);
		expect(advice).not.toMatch(unnamed);
	});

	it.each([
		['Rejected by our safety system', /moderation/],
		['size must be one of 1024x1024', /Correct the value/],
		['The name is case-sensitive', /Correct the value/],
	])('on 400 too: %s', async (message, named) => {
		expect((await onRefusal(400, { message })).advice).toMatch(named);
	});

	it('on an empty account is to fill it, whatever tells so', async () => {
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

describe('the verdict', () => {
	it('lets polls go on where the job may be well, whatever they meet', () => {
		const pollCanHelp = (status: number, code?: string) =>
			verdictOn({ reach: 'answered', status, error: { code } }, 'read').pollCanHelp;
		expect(pollCanHelp(500, 'model_not_found')).toBe(true);
		expect(pollCanHelp(429, 'quota_exceeded')).toBe(true);
		expect(pollCanHelp(429, 'model_not_found')).toBe(true);
		expect(pollCanHelp(404, 'video_not_ready')).toBe(true);
		expect(pollCanHelp(404, 'video_not_found')).toBe(false);
		expect(pollCanHelp(401)).toBe(false);
		expect(pollCanHelp(403, 'quota_exceeded')).toBe(false);
	});
});
