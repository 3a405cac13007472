import { AdaptiveLimit } from '../../nodes/shared/gateway/client/adaptiveLimit';
import type { Connection } from '../../nodes/shared/gateway/client/connection';
import { Gateway, type Call } from '../../nodes/shared/gateway/client/gateway';
import { idempotencyKeyOf } from '../../nodes/shared/gateway/client/order';
import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { asyncHeader, endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import type { ErrorRecord } from '../../nodes/shared/n8n/errors/errorRecord';
import { create, created, error, list, models, poll } from '../support/calls';
import {
	failureOf,
	gatewayTo,
	key,
	shown,
	type ShownFailure,
	type SimulatedWorld,
	type WorldOptions,
} from '../support/gatewayWorld';
import {
	answer,
	cut,
	json,
	nobody,
	page,
	redirect,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../support/scriptedServer';

const chat: Call<unknown> = {
	endpoint: endpoints.chat,
	purpose: 'complete the chat',
	body: { model: 'chat-1' },
	parse: ({ json: body }) => {
		if (body === undefined) throw new UnusableResponse('is not JSON');
		return body;
	},
};
const graceOnStop = 5_000;
const createAgainIfLost = { ...create, resendsLost: true };
const rateLimit = error(429, { code: 'rate_limit_exceeded' });

/** The simulated milliseconds between the first request and the end of the call. */
const timeOf = async (gateway: Gateway<SimulatedWorld>, call: Call<unknown>) => {
	const { clock } = gateway.runtime;
	const start = clock.now();
	await gateway.call(call).catch(() => undefined);
	return clock.now() - start;
};

describe('a request', () => {
	it('carries the key and asks for JSON', async () => {
		const server = await startServer(list);
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([{ id: 'chat-1' }]);
		expect(server.requests).toEqual([
			{
				method: 'GET',
				path: '/v1/models',
				headers: expect.objectContaining({
					authorization: `Bearer ${key}`,
					accept: 'application/json',
				}),
				body: '',
			},
		]);
		expect(server.requests[0].headers).not.toHaveProperty('content-type');
	});

	it('carries its body as JSON', async () => {
		const server = await startServer(created);
		await gatewayTo(server.url).call(create);
		const [{ method, path, headers, body }] = server.requests;
		expect([method, path]).toEqual(['POST', '/v1/videos']);
		expect(headers['content-type']).toBe('application/json');
		expect(JSON.parse(body)).toEqual(create.body);
	});

	it.each(['', '/', '//', '/gateway', '/gateway/', '/a/b/'])(
		'goes below the path of the base URL: %s',
		async (path) => {
			const server = await startServer(list);
			await gatewayTo(server.url + path).call(models);
			expect(server.requests[0].path).toBe(`${path.replace(/\/+$/, '')}/v1/models`);
		},
	);

	it.each([
		['video_1', '/v1/videos/video_1'],
		['a/b?c=d#e f', '/v1/videos/a%2Fb%3Fc%3Dd%23e%20f'],
		['$&$1', '/v1/videos/%24%26%241'],
	])('has the id in its path: %s', async (id, path) => {
		const server = await startServer(json({ status: 'queued' }));
		await gatewayTo(server.url).call({ ...poll, id });
		expect(server.requests[0].path).toBe(path);
	});

	it('switches a reference video to asynchronous, and nothing else', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url);
		await gateway.call({ ...create, endpoint: endpoints.referenceVideoCreate });
		await gateway.call(create);
		const name = asyncHeader.name.toLowerCase();
		expect(server.requests.map(({ headers }) => headers[name])).toEqual(['enable', undefined]);
	});

	it('takes the name of that switch from the credential', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo({ baseUrl: server.url, asyncHeaderName: 'X-Vendor-Async' });
		await gateway.call({ ...create, endpoint: endpoints.referenceVideoCreate });
		expect(server.requests[0].headers['x-vendor-async']).toBe('enable');
		expect(server.requests[0].headers).not.toHaveProperty(asyncHeader.name.toLowerCase());
	});
});

describe('an order with a key', () => {
	const name = 'Idempotency-Key';
	const idempotencyKey = '0b5a7c62-3a7e-4f0c-a1d2-5e6f7a8b9c0d';
	const ordering = (baseUrl: string, more: { backupUrl?: string } = {}, options?: WorldOptions) =>
		gatewayTo({ baseUrl, idempotencyHeaderName: name, ...more }, options).withOrder({
			idempotencyKey,
		});
	const lossOf = async (baseUrl: string): Promise<GatewayError> => {
		const outcome: unknown = await ordering(baseUrl)
			.call(create)
			.catch((cause: unknown) => cause);
		if (outcome instanceof GatewayError) return outcome;
		throw new Error('the order was not lost');
	};
	const keysOf = (...servers: ScriptedServer[]) =>
		servers.flatMap(({ requests }) => requests.map(({ headers }) => headers['idempotency-key']));

	it.each<[string, Reply]>([
		['was lost', reset],
		['met the page of a proxy', page(502)],
		['had an answer that broke off', cut('{"id":')],
		['had an answer without an ID', json({})],
		['met an error of the service', error(500, {})],
		['met 503', error(503, {})],
		['met 408', error(408, {})],
		['met 425', error(425, {})],
		['is still under way', error(409, {})],
		['met the rate limit', rateLimit],
	])('is sent again with the same key and the same bytes when it %s', async (_, reply) => {
		for (const endpoint of [endpoints.videoCreate, endpoints.referenceVideoCreate]) {
			const server = await startServer(reply, reply, created);
			const job = await ordering(server.url).call({ ...create, endpoint });
			expect(job).toMatchObject({ id: 'video_1' });
			expect(keysOf(server)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
			expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
		}
	});

	it('keeps its key at the backup URL, and where the service leads it', async () => {
		const backup = await startServer(redirect(307, '/new/v1/videos'), created);
		const base = await startServer(reset);
		await ordering(base.url, { backupUrl: backup.url }).call(create);
		expect(keysOf(base, backup)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
	});

	it('that is lost in all its tries says so, and with which key', async () => {
		const server = await startServer(reset);
		const loss = await lossOf(server.url);
		const { message, record } = shown(loss);
		expect(message).toBe(
			'Could not create the video: the connection was lost before the answer came',
		);
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: true });
		expect(record.advice).toContain("n8n's Retry of this execution sends it with the same key");
		expect(loss.failure.idempotencyKey).toBe(idempotencyKey);
		expect(server.requests).toHaveLength(5);
	});

	it('stays in doubt whatever a later try is told, which is told too', async () => {
		const server = await startServer(reset, error(401, { code: 'invalid_api_key' }));
		const first = await failureOf(ordering(server.url).call(create));
		expect(first.record).toMatchObject({ status: 401, billed: 'unknown', retry_can_help: false });
		expect(first.record.advice).toMatch(/^Check the API key.*may have been accepted/);
	});

	it.each<[string, Reply]>([
		['it is refused', error(400, { code: 'invalid_prompt' })],
		['the account is empty', error(429, { code: 'quota_exceeded' })],
	])('is sent once when %s', async (_, reply) => {
		const server = await startServer(reply);
		const { record } = await failureOf(ordering(server.url).call(create));
		expect(record).toMatchObject({ billed: 'no', retry_can_help: false });
		expect(server.requests).toHaveLength(1);
	});

	it('was lost by an earlier run: no refusal of this one undoes that', async () => {
		const lost = await startServer(reset);
		const { failure: earlier } = await lossOf(lost.url);
		const server = await startServer(error(400, { message: 'another body' }));
		const order = { idempotencyKey, lost: earlier };
		const { message, record } = await failureOf(ordering(server.url).withOrder(order).call(create));
		expect(message).toBe('Could not create the video: another body (HTTP 400)');
		expect(record.billed).toBe('unknown');
	});

	it('gives its key to nothing that orders no job, and to no other address', async () => {
		const server = await startServer(list, json({}), json({ status: 'queued' }));
		const gateway = ordering(server.url);
		for (const call of [models, chat, poll]) await gateway.call(call);
		const other = await startServer(created);
		const leading = await startServer(redirect(307, `${other.url}/v1/videos`));
		await failureOf(ordering(leading.url).call(create));
		expect(keysOf(server, other)).toEqual([undefined, undefined, undefined]);
		expect(other.requests).toEqual([]);
	});

	it('is one as ever where the credential names no header for it', async () => {
		const server = await startServer(reset, created);
		const gateway = gatewayTo(server.url).withOrder({ idempotencyKey });
		expect((await failureOf(gateway.call(create))).record.retry_can_help).toBe(false);
		expect(server.requests).toHaveLength(1);
		expect(JSON.stringify(server.requests)).not.toContain(idempotencyKey);
	});
});

describe('the key of an order', () => {
	const connection = {
		...{ baseUrl: 'https://gateway.example', asyncHeaderName: 'A', key },
		idempotencyHeaderName: 'Idempotency-Key',
	};
	const of = (orderId: string, more: Partial<Connection> = {}) =>
		idempotencyKeyOf(orderId, { ...connection, ...more });

	it('is a UUID, the same for the same order', () => {
		expect(of('1')).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
		expect(of('1', { idempotencyHeaderName: 'idempotency-key', key: 'other' })).toBe(of('1'));
	});

	it('is another one for another order, header or address, where nobody knows the first', () => {
		const address = { baseUrl: 'https://other.example' };
		const keys = [of('1'), of('2'), of('1', address), of('1', { idempotencyHeaderName: 'X-Key' })];
		expect(new Set(keys).size).toBe(4);
	});

	it('is none where the credential names no header for it', () => {
		expect(of('1', { idempotencyHeaderName: undefined })).toBeUndefined();
	});
});

describe('a refusal', () => {
	it('keeps all that the service says', async () => {
		const body = {
			error: {
				message: 'model x does not exist',
				type: 'invalid_request_error',
				param: 'model',
				code: 'model_not_found',
			},
		};
		const server = await startServer(json(body, 404, { 'x-request-id': 'r-1' }));
		const { record, reach, message } = await failureOf(gatewayTo(server.url).call(chat));
		expect(record).toEqual({
			message: 'Could not complete the chat: model x does not exist (HTTP 404, model_not_found)',
			advice: expect.stringMatching(/^Choose another model from the list.* ID that was typed/),
			status: 404,
			code: 'model_not_found',
			type: 'invalid_request_error',
			param: 'model',
			request_id: 'r-1',
			billed: 'no',
			retry_can_help: false,
			raw_body: JSON.stringify(body),
		});
		expect(reach).toBe('answered');
		expect(message).toBe(record.message);
		expect(server.requests).toHaveLength(1);
	});

	it.each([400, 401, 403, 404])('is final: %d', async (status) => {
		for (const call of [models, chat, create, createAgainIfLost]) {
			const server = await startServer(error(status, { code: 'some_code' }));
			expect((await failureOf(gatewayTo(server.url).call(call))).record.status).toBe(status);
			expect(server.requests).toHaveLength(1);
		}
	});
});

describe('an odd body', () => {
	const html = '<!DOCTYPE html><html><body>Welcome</body></html>';
	const isPage = 'the answer is a web page instead of JSON (HTTP 200)';

	it.each<[string, Reply, Partial<ErrorRecord>, string]>([
		['a page with 502', page(502), { status: 502, message: 'the service had an error' }, 'lost'],
		['nothing with 500', answer(500, ''), { status: 500, raw_body: '' }, 'lost'],
		['broken JSON with 503', answer(503, '{"error":'), { raw_body: '{"error":' }, 'lost'],
		['a text with 404', answer(404, 'no route'), { status: 404, raw_body: 'no route' }, 'answered'],
		['an array with 400', json(['bad'], 400), { raw_body: '["bad"]' }, 'answered'],
		['null with 400', json(null, 400), { raw_body: 'null' }, 'answered'],
		[
			'nothing with 200',
			answer(200, ''),
			{ message: 'the answer is empty (HTTP 200)' },
			'unreadable',
		],
		[
			'nothing with 204',
			answer(204, ''),
			{ message: 'the answer is empty (HTTP 204)' },
			'unreadable',
		],
		['a page with 200', page(200), { message: isPage }, 'unreadable'],
		['a page that is called JSON', json(html), { message: 'unexpected form' }, 'unreadable'],
		['a page without a type', answer(200, html), { message: isPage }, 'unreadable'],
		['half of the JSON', answer(200, '{"data":['), { message: 'is not JSON' }, 'unreadable'],
		['JSON of another form', json({ ok: true }), { message: 'unexpected form' }, 'unreadable'],
		['a body that breaks off', cut('{"data":['), { message: 'broke off' }, 'unreadable'],
		['304', answer(304, ''), { status: 304 }, 'unreadable'],
	])(
		'ends in an error that keeps it: %s',
		async (_, reply, { message = '', ...expected }, reach) => {
			const server = await startServer((response, request) => {
				response.setHeader('x-request-id', 'r-2');
				reply(response, request);
			});
			const failure = await failureOf(gatewayTo(server.url).call({ ...models, once: true }));
			expect(failure.record).toMatchObject({ request_id: 'r-2', billed: 'no', ...expected });
			expect(failure.record.message).toContain(message);
			expect(failure.reach).toBe(reach);
		},
	);

	it('may be a refusal with a 2xx status', async () => {
		const server = await startServer(error(200, { code: 'quota_exceeded' }), created);
		const { record, reach } = await failureOf(gatewayTo(server.url).call(create));
		expect([reach, server.requests.length]).toEqual(['answered', 1]);
		expect(record).toMatchObject({
			message: 'Could not create the video: a reason (HTTP 200, quota_exceeded)',
			code: 'quota_exceeded',
			billed: 'no',
		});
	});

	it('is no trouble where what is needed came whole', async () => {
		const server = await startServer(cut('{"data":[{"id":"chat-1"}]}'));
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([{ id: 'chat-1' }]);
	});

	it.each<[string, Reply]>([
		['a body that breaks off', cut('{"data":[')],
		['a page', page(200)],
		['a page with 502', page(502)],
		['nothing', answer(200, '')],
	])('is read again, for reading is free: %s', async (_, reply) => {
		const server = await startServer(reply, list);
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([{ id: 'chat-1' }]);
	});

	it('of a generation is not paid for twice', async () => {
		const server = await startServer(cut('{"choices":['));
		const { record, reach } = await failureOf(gatewayTo(server.url).call(chat));
		expect(server.requests).toHaveLength(1);
		expect([reach, record.billed]).toEqual(['unreadable', 'unknown']);
		expect(record.raw_body).toBe('{"choices":[');
	});

	it('of a generation is no reason to speak of a job', async () => {
		const server = await startServer(cut('{"choices":['));
		const { record } = await failureOf(gatewayTo(server.url).call(chat));
		expect(record.advice).not.toMatch(/job|If the Answer Is Lost/);
	});
});

describe('trying again', () => {
	it('waits as Retry-After says', async () => {
		const limited = error(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '7' });
		const server = await startServer(limited, limited, created);
		expect(await timeOf(gatewayTo(server.url), create)).toBe(14_000);
		expect(server.requests).toHaveLength(3);
	});

	it('waits until the date of Retry-After', async () => {
		const gateway = gatewayTo((await startServer()).url);
		const { clock } = gateway.runtime;
		const until = new Date(clock.now() + 90_000).toUTCString();
		const server = await startServer(error(503, {}, { 'retry-after': until }), list);
		expect(await timeOf(gatewayTo(server.url), models)).toBe(90_000);
	});

	it('does not wait for hours', async () => {
		const server = await startServer(error(429, {}, { 'retry-after': '3600' }));
		expect(await timeOf(gatewayTo(server.url), chat)).toBe(0);
		expect(server.requests).toHaveLength(1);
	});

	it.each<[string, Reply, number, number]>([
		['a rate limit', rateLimit, 8, 1000 + 2000 + 4000 + 8000 + 16_000 + 30_000 + 30_000],
		['a server error', error(500, {}), 5, 1000 + 2000 + 4000 + 8000],
		['a lost answer', reset, 5, 1000 + 2000 + 4000 + 8000],
	])('has an end: %s', async (_, reply, tries, milliseconds) => {
		const server = await startServer(reply);
		expect(await timeOf(gatewayTo(server.url), models)).toBe(milliseconds);
		expect(server.requests).toHaveLength(tries);
	});

	it('is left to the next poll', async () => {
		const server = await startServer(error(500, {}, { 'retry-after': '20' }));
		const failure = await failureOf(gatewayTo(server.url).call(poll));
		expect(failure.retryAfter).toBe(20_000);
		expect(server.requests).toHaveLength(1);
	});

	it('obeys the time limit of the call in mid-body', async () => {
		const server = await startServer(stall('{"data":['), list);
		const gateway = gatewayTo(server.url, { patience: 100 });
		expect(await timeOf(gateway, { ...models, timeout: 30_000 })).toBe(31_000);
		expect(server.requests).toHaveLength(2);
	});
});

describe('a create', () => {
	it.each<[string, Reply]>([
		['a reset', reset],
		['a page with 502', page(502)],
		['nothing with 500', answer(500, '')],
	])('whose answer was lost is sent once: %s', async (_, reply) => {
		const server = await startServer(reply, created);
		const { record, reach } = await failureOf(gatewayTo(server.url).call(create));
		expect(server.requests).toHaveLength(1);
		expect([reach, record.billed]).toEqual(['lost', 'unknown']);
		expect(record.advice).toMatch(/may have been accepted.*"If the Answer Is Lost"/);
	});

	it('whose answer was lost is sent again when the user chose so', async () => {
		const server = await startServer(reset, page(502), created);
		const job = await gatewayTo(server.url).call(createAgainIfLost);
		expect(job.id).toBe('video_1');
		expect(server.requests).toHaveLength(3);
	});

	it('that took too long is sent once', async () => {
		const server = await startServer(silence);
		const { record } = await failureOf(gatewayTo(server.url, { patience: 100 }).call(create));
		expect(server.requests).toHaveLength(1);
		expect(record).toMatchObject({ status: 0, billed: 'unknown' });
		expect(record.advice).toContain('the time limit of 60 s passed');
	});

	it.each<[string, Reply]>([
		['the rate limit', rateLimit],
		["the provider's error", error(500, { code: 'upstream_error' })],
		['an answer that was not delivered', error(500, { code: 'write_response_body_failed' })],
	])('that was surely not accepted is sent again: %s', async (_, reply) => {
		const server = await startServer(reply, created);
		expect((await gatewayTo(server.url).call(create)).id).toBe('video_1');
		expect(server.requests).toHaveLength(2);
	});

	it.each<[string, Reply]>([
		['the balance', error(429, { code: 'quota_exceeded' })],
		['missing media', error(500, { message: 'media is missing' })],
		['a good answer that names no job', json({ status: 'queued' })],
		['a good answer that is no JSON', page(200)],
		['a redirect', redirect(302, '/elsewhere')],
	])('is not sent again after %s', async (_, reply) => {
		const server = await startServer(reply, created);
		await failureOf(gatewayTo(server.url).call(createAgainIfLost));
		expect(server.requests).toHaveLength(1);
	});

	it('whose answer was cut behind the id gives the job', async () => {
		const reply = cut('{"id":"video_7","status":"que', { 'x-request-id': 'r-3' });
		const server = await startServer(reply);
		const job = await gatewayTo(server.url).call(create);
		expect(job).toEqual({ id: 'video_7', fields: { id: 'video_7', request_id: 'r-3' } });
	});

	it('whose answer was cut within the id may have been accepted', async () => {
		const server = await startServer(cut('{"id":"video_'));
		const { record, reach } = await failureOf(gatewayTo(server.url).call(create));
		expect([reach, record.billed]).toEqual(['unreadable', 'unknown']);
		expect(record.raw_body).toBe('{"id":"video_');
		expect(server.requests).toHaveLength(1);
	});

	it('that never left is sent again', async () => {
		const gateway = gatewayTo(nobody);
		expect(await timeOf(gateway, create)).toBe(1000 + 2000 + 4000 + 8000);
	});

	it('that was lost and then could not be sent may still have been accepted', async () => {
		const server = await startServer(reset);
		server.received(1).then(async () => await server.close());
		const { record } = await failureOf(gatewayTo(server.url).call(createAgainIfLost));
		expect(record.billed).toBe('unknown');
		expect(record.advice).not.toContain('nothing was billed');
	});
});

describe('an address that leads nowhere', () => {
	it.each<[string, () => Promise<string>, RegExp]>([
		['a port where nobody listens', async () => nobody, /ECONNREFUSED/],
		['a name that does not exist', async () => 'https://nowhere.invalid', /ENOTFOUND|EAI_AGAIN/],
		[
			'TLS to a port without it',
			async () => (await startServer()).url.replace('http:', 'https:'),
			/EPROTO|wrong version/i,
		],
	])('is told from a lost answer: %s', async (_, address, cause) => {
		const call = { ...create, once: true };
		const { record, reach } = await failureOf(gatewayTo(await address()).call(call));
		expect(reach).toBe('unsent');
		expect(record).toMatchObject({ status: 0, billed: 'no', retry_can_help: true });
		expect(record.message).toBe('Could not create the video: the gateway could not be reached');
		expect(record.advice).toMatch(cause);
	});
});

describe('the backup URL', () => {
	it.each<[string, () => Promise<string>]>([
		['nobody listens', async () => nobody],
		['the connection is reset', async () => (await startServer(reset)).url],
	])('takes over at once when no answer came: %s', async (_, address) => {
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: await address(), backupUrl: `${backup.url}/b/` });
		expect(await timeOf(gateway, models)).toBe(0);
		expect(backup.requests[0]).toMatchObject({
			path: '/b/v1/models',
			headers: { authorization: `Bearer ${key}` },
		});
	});

	it('is asked first from then on', async () => {
		const base = await startServer(reset, list);
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		for (let count = 0; count < 3; count++) await gateway.call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([1, 3]);
	});

	it('hands back to the base when it dies itself', async () => {
		const base = await startServer(reset, list);
		const backup = await startServer(list, reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		for (let count = 0; count < 3; count++) await gateway.call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([3, 2]);
	});

	it('is left once by requests that fail side by side', async () => {
		const base = await startServer(reset);
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		await Promise.all(Array.from({ length: 7 }, async () => await gateway.call(models)));
		expect([base.requests.length, backup.requests.length]).toEqual([7, 7]);
	});

	it.each<[string, Reply]>([
		['500', error(500, {})],
		['a page with 502', page(502)],
		['the rate limit', rateLimit],
		['a broken body', cut('{')],
	])('is not asked when an answer came: %s', async (_, reply) => {
		const base = await startServer(reply, list);
		const backup = await startServer(list);
		await gatewayTo({ baseUrl: base.url, backupUrl: backup.url }).call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([2, 0]);
	});

	it('is asked in turn with the base when both are dead', async () => {
		const base = await startServer(reset);
		const backup = await startServer(reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		expect(await timeOf(gateway, models)).toBe(3000);
		expect([base.requests.length, backup.requests.length]).toEqual([3, 2]);
	});

	it('is no way round the rule for lost creates', async () => {
		const base = await startServer(reset);
		const backup = await startServer(created);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		await failureOf(gateway.call(create));
		expect(backup.requests).toEqual([]);
	});

	it('takes a poll that never left, and no other', async () => {
		const backup = await startServer(json({ status: 'queued' }));
		const base = await startServer(reset);
		const unsent = gatewayTo({ baseUrl: nobody, backupUrl: backup.url });
		const lost = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		await expect(unsent.call(poll)).resolves.toMatchObject({ status: 'queued' });
		expect((await failureOf(lost.call(poll))).reach).toBe('lost');
		await lost.call(poll);
		expect([base.requests.length, backup.requests.length]).toEqual([1, 2]);
	});
});

describe('a Get', () => {
	const get: Call<unknown> = { ...poll, once: undefined };
	const status = json({ status: 'queued' });
	const hasty = { 'retry-after': '1' };

	it.each<[string, Reply, number]>([
		['was lost', reset, 3000],
		['met the rate limit', rateLimit, 3000],
		['met the rate limit, though the service asks for less', error(429, {}, hasty), 3000],
		[
			'met the rate limit, and the service asks for more',
			error(429, {}, { 'retry-after': 9 }),
			9000,
		],
		['met an error', error(503, {}), 3000],
		['met a page', page(502), 3000],
		['got a broken body', cut('{'), 3000],
	])(
		'waits at least 3 s when it %s, also before it goes to the backup URL',
		async (_, reply, wait) => {
			for (const endpoint of [endpoints.video, endpoints.task]) {
				const base = await startServer(reply, status);
				const backup = await startServer(status);
				const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
				expect(await timeOf(gateway, { ...get, endpoint })).toBe(wait);
				expect(base.requests.length + backup.requests.length).toBe(2);
				const alone = await startServer(reply, status);
				expect(await timeOf(gatewayTo(alone.url), { ...get, endpoint })).toBe(wait);
			}
		},
	);

	it('that was never sent goes to the backup URL at once', async () => {
		const backup = await startServer(reset, status);
		const gateway = gatewayTo({ baseUrl: nobody, backupUrl: backup.url });
		// The second one was sent and lost: the third goes nowhere, and the fourth is the next to be sent.
		expect(await timeOf(gateway, get)).toBeGreaterThanOrEqual(3000);
		const other = await startServer(status);
		expect(await timeOf(gatewayTo({ baseUrl: nobody, backupUrl: other.url }), get)).toBe(0);
	});

	it('keeps the distance when all five tries are lost', async () => {
		const base = await startServer(reset);
		const backup = await startServer(reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		expect(await timeOf(gateway, get)).toBe(4 * 3000);
	});
});

describe('the pace', () => {
	const pacedTo = (url: string, atOnce: number, options: WorldOptions = {}) => {
		const { connection, runtime } = gatewayTo(url, options);
		return new Gateway(connection, { ...runtime, limiter: new AdaptiveLimit(atOnce) });
	};
	/** Tells how many requests are under way at once. */
	const countedServer = async (body: object) => {
		let underWay = 0;
		const widths: number[] = [];
		const server = await startServer((response, request) => {
			widths.push(++underWay);
			setTimeout(() => {
				underWay--;
				json(body)(response, request);
			}, 20);
		});
		return { url: server.url, widest: () => Math.max(...widths) };
	};

	it('lets only so many requests be under way, and polls as their own times say', async () => {
		const server = await countedServer({ data: [], status: 'queued' });
		const paced = pacedTo(server.url, 2);
		await Promise.all(Array.from({ length: 6 }, async () => await paced.call(models)));
		expect(server.widest()).toBe(2);
		await Promise.all(Array.from({ length: 6 }, async () => await paced.call(poll)));
		expect(server.widest()).toBe(6);
	});

	it('does not count a request that waits for its next try', async () => {
		const server = await startServer(error(429, {}, { 'retry-after': '9' }), list);
		const paced = pacedTo(server.url, 1);
		await Promise.all([paced.call(models), paced.call(models)]);
		expect(server.requests).toHaveLength(3);
	});

	it('leaves no doubt about creates that were still waiting when Stop was pressed', async () => {
		const server = await startServer(silence);
		const stop = new AbortController();
		const paced = pacedTo(server.url, 1, { signal: stop.signal, patience: 50, graceOnStop });
		const [first, second] = [failureOf(paced.call(create)), failureOf(paced.call(create))];
		await server.received(1);
		stop.abort();
		expect((await first).record.billed).toBe('unknown');
		expect((await second).record.billed).toBe('no');
		expect(server.requests).toHaveLength(1);
	});
});

describe('the key', () => {
	const echo = { message: `the key ${key} is unknown`, code: 'invalid_api_key' };

	it('is blotted out of errors', async () => {
		const server = await startServer(error(401, echo));
		const { record } = await failureOf(gatewayTo(server.url).call(models));
		expect(JSON.stringify(record)).not.toContain(key);
		expect(record.message).toContain('the key *** is unknown');
	});

	it('is blotted out of answers that cannot be used', async () => {
		for (const reply of [answer(200, `key ${key}`), cut(`{"key":"${key}"`)]) {
			const server = await startServer(reply);
			const failure = await failureOf(gatewayTo(server.url).call(chat));
			expect(JSON.stringify(failure.record)).not.toContain(key);
		}
	});

	it('is blotted out of outputs', async () => {
		const server = await startServer(json({ data: [{ id: 'chat-1', asked_by: key }] }));
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([
			{ id: 'chat-1', asked_by: '***' },
		]);
	});

	it('is blotted out as JSON may spell it', async () => {
		const spelled = JSON.stringify(echo).replaceAll('/', '\\/');
		expect(spelled).not.toContain(key);
		const server = await startServer(answer(401, `{"error":${spelled}}`));
		const { record } = await failureOf(gatewayTo(server.url).call(models));
		expect(JSON.stringify(record)).not.toContain(key);
	});
});

describe('Stop', () => {
	const stopped = async (
		call: Call<unknown>,
		reply: Reply,
		patience?: number,
	): Promise<ShownFailure> => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const ended = failureOf(
			gatewayTo(server.url, { signal: stop.signal, patience, graceOnStop }).call(call),
		);
		await server.received(1);
		// The head needs a moment to arrive.
		setTimeout(() => stop.abort(), 20);
		const failure = await ended;
		await server.idle();
		expect(server.requests).toHaveLength(1);
		return failure;
	};

	it.each<[string, Reply]>([
		['before the head', silence],
		['in mid-body', stall('{"data":[')],
	])('ends a read at once: %s', async (_, reply) => {
		const { record, reach } = await stopped(models, reply);
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'no' });
		expect(reach).toBe('none');
	});

	it.each<[string, Reply]>([
		['before the head', silence],
		['in mid-body', stall('{"id":"vid')],
	])('ends a create soon, which may have been accepted: %s', async (_, reply) => {
		const { record } = await stopped(create, reply, 50);
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'unknown' });
		expect(record.advice).toContain('may have been accepted');
	});

	it('leaves a create under way the time to tell its id', async () => {
		const stop = new AbortController();
		const server = await startServer((response, request) => {
			stop.abort();
			setTimeout(() => created(response, request), 50);
		});
		const gateway = gatewayTo(server.url, { signal: stop.signal, graceOnStop });
		expect(await gateway.call(create)).toMatchObject({ id: expect.any(String) });
	});

	it('that was pressed before sends nothing', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url, { signal: AbortSignal.abort() });
		const { record } = await failureOf(gateway.call(create));
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'no' });
		expect(server.requests).toEqual([]);
	});

	const stoppedWhileWaiting = async (call: Call<unknown>, reply: Reply) => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const { connection, runtime } = gatewayTo(server.url);
		const sleep = async (milliseconds: number, signal?: AbortSignal) => {
			// The only wait of this length is the one before the next try.
			if (milliseconds === 1000) stop.abort();
			await runtime.clock.sleep(milliseconds, signal);
		};
		const clock = { now: () => runtime.clock.now(), sleep };
		const failure = await failureOf(
			new Gateway(connection, { ...runtime, clock, signal: stop.signal }).call(call),
		);
		expect(server.requests).toHaveLength(1);
		return failure.record;
	};

	it('ends the wait for the next try', async () => {
		const record = await stoppedWhileWaiting(models, error(500, {}));
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'no' });
	});

	it('between the tries of a create that was lost says that it may have been accepted', async () => {
		const record = await stoppedWhileWaiting(createAgainIfLost, reset);
		expect(record.billed).toBe('unknown');
		expect(record.advice).toContain('may have been accepted');
	});
});
