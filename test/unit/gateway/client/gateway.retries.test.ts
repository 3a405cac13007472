import type { Call, Gateway } from '../../../../nodes/shared/gateway/client/gateway';
import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import {
	chat,
	create,
	created,
	createAgainIfLost,
	error,
	list,
	models,
	poll,
	rateLimit,
} from '../../../support/calls';
import { failureOf, gatewayTo, key, type SimulatedWorld } from '../../../support/gatewayWorld';
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
} from '../../../support/scriptedServer';

/** The simulated milliseconds between the first request and the end of the call. */
const timeOf = async (gateway: Gateway<SimulatedWorld>, call: Call<unknown>) => {
	const { clock } = gateway.runtime;
	const start = clock.now();
	await gateway.call(call).catch(() => undefined);
	return clock.now() - start;
};

describe('the tries of a request', () => {
	it('wait as long as Retry-After says', async () => {
		const limited = error(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '7' });
		const server = await startServer(limited, limited, created);
		expect(await timeOf(gatewayTo(server.url), create)).toBe(14_000);
		expect(server.requests).toHaveLength(3);
	});

	it('wait until the date in Retry-After', async () => {
		const gateway = gatewayTo((await startServer()).url);
		const { clock } = gateway.runtime;
		const until = new Date(clock.now() + 90_000).toUTCString();
		const server = await startServer(error(503, {}, { 'retry-after': until }), list);
		expect(await timeOf(gatewayTo(server.url), models)).toBe(90_000);
	});

	it('end when Retry-After asks for hours', async () => {
		const server = await startServer(error(429, {}, { 'retry-after': '3600' }));
		expect(await timeOf(gatewayTo(server.url), chat)).toBe(0);
		expect(server.requests).toHaveLength(1);
	});

	it.each<[string, Reply, number, number]>([
		['a rate limit', rateLimit, 8, 1000 + 2000 + 4000 + 8000 + 16_000 + 30_000 + 30_000],
		['a server error', error(500, {}), 5, 1000 + 2000 + 4000 + 8000],
		['a lost answer', reset, 5, 1000 + 2000 + 4000 + 8000],
	])('are as many as the policy says: %s', async (_, reply, tries, milliseconds) => {
		const server = await startServer(reply);
		expect(await timeOf(gatewayTo(server.url), models)).toBe(milliseconds);
		expect(server.requests).toHaveLength(tries);
	});

	it('are one for a poll, because the next poll follows', async () => {
		const server = await startServer(error(500, {}, { 'retry-after': '20' }));
		const failure = await failureOf(gatewayTo(server.url).call(poll));
		expect(failure.retryAfter).toBe(20_000);
		expect(server.requests).toHaveLength(1);
	});

	it('keep the time limit of the call in the middle of a body', async () => {
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
	])('is sent once when its response is lost: %s', async (_, reply) => {
		const server = await startServer(reply, created);
		const { record, reach } = await failureOf(gatewayTo(server.url).call(create));
		expect(server.requests).toHaveLength(1);
		expect([reach, record.billed]).toEqual(['lost', 'unknown']);
		expect(record.advice).toMatch(/may have been accepted.*"If No Response Arrives"/);
	});

	it('is sent again after a lost response when the user chose so', async () => {
		const server = await startServer(reset, page(502), created);
		const job = await gatewayTo(server.url).call(createAgainIfLost);
		expect(job.id).toBe('video_1');
		expect(server.requests).toHaveLength(3);
	});

	it('is sent once when it takes too long', async () => {
		const server = await startServer(silence);
		const { record } = await failureOf(gatewayTo(server.url, { patience: 100 }).call(create));
		expect(server.requests).toHaveLength(1);
		expect(record).toMatchObject({ status: 0, billed: 'unknown' });
		expect(record.advice).toContain('the time limit of 60 s passed');
	});

	it.each<[string, Reply]>([
		['the rate limit', rateLimit],
		["the provider's error", error(500, { code: 'upstream_error' })],
	])('is sent again when it certainly was not accepted: %s', async (_, reply) => {
		const server = await startServer(reply, created);
		expect((await gatewayTo(server.url).call(create)).id).toBe('video_1');
		expect(server.requests).toHaveLength(2);
	});

	it('is lost when its response could not be delivered, and sent again only when the user chose so', async () => {
		const undelivered = error(500, { code: 'write_response_body_failed' });
		const server = await startServer(undelivered, created);
		const { record } = await failureOf(gatewayTo(server.url).call(create));
		expect(server.requests).toHaveLength(1);
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: false });

		const again = await startServer(undelivered, created);
		expect((await gatewayTo(again.url).call(createAgainIfLost)).id).toBe('video_1');
		expect(again.requests).toHaveLength(2);
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

	it('gives the job when its response was cut behind the ID', async () => {
		const reply = cut('{"id":"video_7","status":"que', { 'x-request-id': 'r-3' });
		const server = await startServer(reply);
		const job = await gatewayTo(server.url).call(create);
		expect(job).toEqual({ id: 'video_7', fields: { id: 'video_7', request_id: 'r-3' } });
	});

	it('may have been accepted when its response was cut within the ID', async () => {
		const server = await startServer(cut('{"id":"video_'));
		const { record, reach } = await failureOf(gatewayTo(server.url).call(create));
		expect([reach, record.billed]).toEqual(['unreadable', 'unknown']);
		expect(record.raw_body).toBe('{"id":"video_');
		expect(server.requests).toHaveLength(1);
	});

	it('is sent again when it never left', async () => {
		const gateway = gatewayTo(nobody);
		expect(await timeOf(gateway, create)).toBe(1000 + 2000 + 4000 + 8000);
	});

	it('may still have been accepted when it was lost and then could not be sent', async () => {
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
	])('is told apart from a lost response: %s', async (_, address, cause) => {
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
	])('takes over at once when no response came: %s', async (_, address) => {
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: await address(), backupUrl: `${backup.url}/b/` });
		expect(await timeOf(gateway, models)).toBe(0);
		expect(backup.requests[0]).toMatchObject({
			path: '/b/v1/models',
			headers: { authorization: `Bearer ${key}` },
		});
	});

	it('comes first from then on', async () => {
		const base = await startServer(reset, list);
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		for (let count = 0; count < 3; count++) await gateway.call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([1, 3]);
	});

	it('gives way to the base URL when it fails itself', async () => {
		const base = await startServer(reset, list);
		const backup = await startServer(list, reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		for (let count = 0; count < 3; count++) await gateway.call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([3, 2]);
	});

	it('is left once when requests fail side by side', async () => {
		const base = await startServer(reset);
		const backup = await startServer(list);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		await Promise.all(Array.from({ length: 7 }, async () => await gateway.call(models)));
		expect([base.requests.length, backup.requests.length]).toEqual([7, 7]);
	});

	it.each<[string, Reply]>([
		['500', error(500, {})],
		['503 of the service', error(503, {})],
		['a page with 500', page(500)],
		['the rate limit', rateLimit],
		['a broken body', cut('{')],
	])('is not tried when a response came: %s', async (_, reply) => {
		const base = await startServer(reply, list);
		const backup = await startServer(list);
		await gatewayTo({ baseUrl: base.url, backupUrl: backup.url }).call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([2, 0]);
	});

	it.each<[string, Reply]>([
		['a page with 502', page(502)],
		['nothing with 503', answer(503, '')],
		['JSON of a proxy with 504', json({ message: 'Endpoint request timed out' }, 504)],
	])('takes over reads and generations when a proxy has no gateway: %s', async (_, reply) => {
		for (const call of [models, chat]) {
			const base = await startServer(reply);
			const backup = await startServer(list);
			const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
			expect(await timeOf(gateway, call)).toBe(0);
			await gateway.call(call);
			expect([base.requests.length, backup.requests.length]).toEqual([1, 2]);
		}
	});

	it.each([create, createAgainIfLost])(
		'gets no order that a proxy may have passed on (resends: $resendsLost)',
		async (call: Call<unknown>) => {
			const base = await startServer(page(502));
			const backup = await startServer(created);
			const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
			const { record } = await failureOf(gateway.call(call));
			expect(record).toMatchObject({ status: 502, billed: 'unknown' });
			expect([base.requests.length, backup.requests.length]).toEqual([call.resendsLost ? 5 : 1, 0]);
		},
	);

	it('gets the next poll after a proxy without a gateway', async () => {
		const base = await startServer(page(502));
		const backup = await startServer(json({ status: 'queued' }));
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		expect((await failureOf(gateway.call(poll))).reach).toBe('lost');
		await expect(gateway.call(poll)).resolves.toMatchObject({ status: 'queued' });
		expect([base.requests.length, backup.requests.length]).toEqual([1, 1]);
	});

	it('alternates with the base URL when both fail', async () => {
		const base = await startServer(reset);
		const backup = await startServer(reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		expect(await timeOf(gateway, models)).toBe(3000);
		expect([base.requests.length, backup.requests.length]).toEqual([3, 2]);
	});

	it('gets no create whose response was lost', async () => {
		const base = await startServer(reset);
		const backup = await startServer(created);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		await failureOf(gateway.call(create));
		expect(backup.requests).toEqual([]);
	});

	it('takes over a poll that never left, and no other', async () => {
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
	])('waits at least 3 s when it %s, also before the backup URL', async (_, reply, wait) => {
		for (const endpoint of [endpoints.video, endpoints.task]) {
			const base = await startServer(reply, status);
			const backup = await startServer(status);
			const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
			expect(await timeOf(gateway, { ...get, endpoint })).toBe(wait);
			expect(base.requests.length + backup.requests.length).toBe(2);
			const alone = await startServer(reply, status);
			expect(await timeOf(gatewayTo(alone.url), { ...get, endpoint })).toBe(wait);
		}
	});

	it('goes to the backup URL at once when it was never sent', async () => {
		const backup = await startServer(reset, status);
		const gateway = gatewayTo({ baseUrl: nobody, backupUrl: backup.url });
		// The second one was sent and lost: the third goes nowhere, and the fourth is the next to be sent.
		expect(await timeOf(gateway, get)).toBeGreaterThanOrEqual(3000);
		const other = await startServer(status);
		expect(await timeOf(gatewayTo({ baseUrl: nobody, backupUrl: other.url }), get)).toBe(0);
	});

	it('keeps the interval when all five tries are lost', async () => {
		const base = await startServer(reset);
		const backup = await startServer(reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		expect(await timeOf(gateway, get)).toBe(4 * 3000);
	});
});
