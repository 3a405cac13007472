import type { Call, Gateway } from '../../../../nodes/shared/service/client/gateway';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import {
	chat,
	create,
	createAgainIfLost,
	error,
	list,
	models,
	poll,
} from '../../../support/workflows/calls';
import { failureOf, gatewayTo, type SimulatedWorld } from '../../../support/workflows/gatewayWorld';
import {
	json,
	nobody,
	page,
	redirect,
	reset,
	silence,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

/** The simulated milliseconds between the first request and the end of the call. */
const timeOf = async (gateway: Gateway<SimulatedWorld>, call: Call<unknown>) => {
	const { clock } = gateway.runtime;
	const start = clock.now();
	await gateway.call(call).catch(() => undefined);
	return clock.now() - start;
};

describe('creates', () => {
	it('returns the job that a redirect describes, and does not know the outcome of another redirect', async () => {
		const described = await startServer((response) => {
			const headers = { location: '/v1/videos/video_8', 'content-type': 'application/json' };
			response.writeHead(303, headers).end('{"id":"video_8","status":"queued"}');
		});
		expect((await gatewayTo(described.url).call(create)).id).toBe('video_8');
		expect(described.requests).toHaveLength(1);

		const billedAfter = async (reply: Reply) => {
			const { url } = await startServer(reply);
			return (await failureOf(gatewayTo(url).call(create))).record.billed;
		};
		expect(await billedAfter(redirect(303, '/v1/videos/video_8'))).toBe('unknown');
		expect(await billedAfter(redirect(307, 'https://elsewhere.example/v1/videos'))).toBe('no');
	});

	it('reports a generation as possibly charged after the page of a proxy and a lost response', async () => {
		const server = await startServer(page(502), reset);
		const { record } = await failureOf(gatewayTo(server.url).call(chat));
		expect(server.requests).toHaveLength(2);
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: false });
		expect(record.advice).toMatch(/may have been/);
	});

	it('tries a generation no longer than its time limit allows in all', async () => {
		const server = await startServer(reset, silence);
		const gateway = gatewayTo(server.url, { patience: 100 });
		// A second before the second try.
		expect(await timeOf(gateway, { ...chat, timeout: 30_000 })).toBe(31_000);
		expect(server.requests).toHaveLength(2);
	});

	it('reports a create as possibly accepted when it was lost and its retries could not be sent', async () => {
		const server = await startServer(reset);
		server.received(1).then(async () => await server.close());
		const { record } = await failureOf(gatewayTo(server.url).call(createAgainIfLost));
		expect(record.billed).toBe('unknown');
		expect(record.advice).not.toContain('nothing was charged');
	});
});

describe('the backup URL', () => {
	it('is left again when it fails', async () => {
		const base = await startServer(reset, list);
		const backup = await startServer(list, reset);
		const gateway = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
		for (let count = 0; count < 3; count++) await gateway.call(models);
		expect([base.requests.length, backup.requests.length]).toEqual([3, 2]);
	});

	it('gets a poll at once only when it never left', async () => {
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

it.each<[string, Reply, number]>([
	['got no response', reset, 3000],
	['met a rate limit that asks for more', error(429, {}, { 'retry-after': 9 }), 9000],
])('sends a Get again after at least 3 s, also to the backup URL, when it %s', async (...given) => {
	const [, reply, wait] = given;
	const get: Call<unknown> = { ...poll, endpoint: endpoints.task, once: undefined };
	const status = json({ status: 'queued' });
	const base = await startServer(reply, status);
	const backup = await startServer(status);
	const both = gatewayTo({ baseUrl: base.url, backupUrl: backup.url });
	expect(await timeOf(both, get)).toBe(wait);
	expect(base.requests.length + backup.requests.length).toBe(2);
	const alone = await startServer(reply, status);
	expect(await timeOf(gatewayTo(alone.url), get)).toBe(wait);
});
