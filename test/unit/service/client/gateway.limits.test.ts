import { Gateway } from '../../../../nodes/shared/service/client/gateway';
import { RequestQueue } from '../../../../nodes/shared/service/client/requestQueue';
import { downloadVideo } from '../../../../nodes/shared/service/jobs/download';
import { connectionFrom } from '../../../../nodes/shared/n8n/client/connection';
import { mp4Of } from '../../../support/files/boxes';
import { created, error, list, models, poll } from '../../../support/workflows/calls';
import { failureOf, key, simulatedWorld } from '../../../support/workflows/gatewayWorld';
import {
	json,
	answer,
	redirect,
	silence,
	stall,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

const refusal = (code: string, headers = {}): Reply => error(429, { code }, headers);
const tooMany = (headers = {}) => refusal('rate_limit_exceeded', headers);

/** Gateways of one process, in simulated time. */
function startProcess({ patience }: { patience?: number } = {}) {
	const world = simulatedWorld({ patience });
	const { clock } = world;
	const start = clock.now();
	const times: number[] = [];
	return {
		clock,
		/** When each request was sent, in milliseconds. */
		times,
		run(baseUrl: string, credential: object, { signal, apiKey = key }: Settings = {}) {
			const connection = connectionFrom({ apiKey, baseUrl, ...credential });
			return new Gateway(connection, {
				...world,
				signal,
				queue: RequestQueue.of(connection, clock),
				http: async (request) => {
					times.push(clock.now() - start);
					return await world.http(request);
				},
			});
		},
	};
}

interface Settings {
	signal?: AbortSignal;
	apiKey?: string;
}

const all = async (...calls: Array<Promise<unknown>>) => await Promise.all(calls);

describe('the limit of requests per second', () => {
	const limit = { requestsPerSecond: 1 };

	it('delays no request with another key, nor one whose credential has no limit', async () => {
		const { run, times } = startProcess();
		const server = await startServer(list);
		const free = run(server.url, { requestsPerSecond: '', requestsInFlight: 0 });
		expect(free.runtime.queue).toBeUndefined();
		const other = run(server.url, limit, { apiKey: 'sk-of-another-one' });
		const gateways = [run(server.url, limit), other, free, free];
		await all(...gateways.map(async (gateway) => await gateway.call(models)));
		expect(times).toEqual([0, 0, 0, 0]);
	});

	it('counts polls and redirects towards the limit per second', async () => {
		const { run, times } = startProcess();
		const server = await startServer(redirect(307, '/v1/videos/video_1/'), created);
		await run(server.url, limit).call(poll);
		expect(times).toHaveLength(2);
		expect(times[1]).toBeGreaterThan(1000);
	});

	it('counts downloads with the key, and no other downloads, towards the limit per second', async () => {
		const { run, times } = startProcess();
		const server = await startServer(answer(200, mp4Of(1_000)));
		const gateway = run(server.url, limit);
		const fetchFile = async (authenticated: boolean) =>
			await downloadVideo(
				gateway,
				{
					source: { url: `${server.url}/v.mp4`, authenticated },
					refresh: async () => await Promise.reject(new Error('no need')),
					purpose: 'download the video',
				},
				async (bytes) => {
					let length = 0;
					for await (const chunk of bytes) length += chunk.length;
					return length;
				},
			);
		await gateway.call({ ...models, parse: () => undefined });
		await fetchFile(false);
		await fetchFile(true);
		await fetchFile(true);
		expect(times[1]).toBe(0);
		expect(times[2]).toBeGreaterThan(1000);
		expect(times[3]).toBeGreaterThan(2000);
	});

	it('does not count the time in the queue towards the time limit of a request', async () => {
		const { run, times } = startProcess();
		const server = await startServer(list);
		const gateway = run(server.url, { requestsPerSecond: 0.1 });
		const call = async () => await gateway.call({ ...models, timeout: 1_000, retries: 0 });
		await all(call(), call(), call());
		expect(times[2]).toBeGreaterThan(20_000);
	});

	it('gives up on a request that waits in the queue for too long, and sends nothing', async () => {
		const { run, times } = startProcess();
		const server = await startServer(created);
		const gateway = run(server.url, { requestsPerSecond: 0.01 });
		await gateway.call(poll);
		const { record } = await failureOf(gateway.call({ ...poll, patience: 10_000 }));
		expect(record).toMatchObject({
			message:
				'Could not get the job status: the limits of the credential held the request back for too long',
			billed: 'no',
			retry_can_help: true,
		});
		expect(times).toHaveLength(1);
	});
});

describe('the limit of requests in flight', () => {
	it('counts a request as in flight until its streamed response has ended', async () => {
		const { run, clock, times } = startProcess();
		let end = () => {};
		const server = await startServer((response) => {
			response.writeHead(200).write('the beginning');
			end = () => void response.end();
		}, list);
		const gateway = run(server.url, { requestsInFlight: 1 });
		const chunks: string[] = [];
		const stream = gateway.call({
			...models,
			onText: async (text) => {
				chunks.push(text);
				await clock.sleep(5_000);
				end();
				return false;
			},
			parse: ({ text }) => text,
		});
		await all(stream, run(server.url, { requestsInFlight: 1 }).call(models));
		expect(chunks).toEqual(['the beginning']);
		expect(times).toEqual([0, 5_000]);
	});

	it('frees the place of a request that is redirected, times out or breaks off', async () => {
		const { run } = startProcess({ patience: 50 });
		const server = await startServer(redirect(307, '/v1/models/'), silence, stall('{'), list);
		const gateway = run(server.url, { requestsInFlight: 1 });
		const call = { ...models, timeout: 1_000 };
		await expect(gateway.call(call)).resolves.toEqual([{ id: 'chat-1' }]);
		await expect(gateway.call(call)).resolves.toEqual([{ id: 'chat-1' }]);
	});
});

describe('429 responses', () => {
	const limit = { requestsInFlight: 5 };

	/** When a run sends its request, after another run with the key got this response. */
	const nextAfter = async (reply: Reply, credential: object = limit) => {
		const { run, clock, times } = startProcess();
		const server = await startServer(reply, list);
		await run(server.url, credential)
			.call({ ...models, retries: 0 })
			.catch(() => undefined);
		await clock.sleep(1_000);
		// Waiting for the pause uses up no retry.
		await run(server.url, credential).call({ ...models, retries: 0 });
		return times[1];
	};

	it.each([
		['RateLimit-Reset', { 'ratelimit-reset': '20' }, 20_000],
		['no header', {}, 1_000],
		['a Retry-After of an hour', { 'retry-after': '3600' }, 1_000],
	])(
		'holds back other runs with the key after a 429 as its headers ask, up to 5 minutes: %s',
		async (_, headers, time) => {
			expect(await nextAfter(tooMany(headers))).toBe(time);
		},
	);

	it('holds back other runs with the key after a rate limit within HTTP 200, too', async () => {
		const said = { error: { code: 'rate_limit_exceeded', message: 'Slow down' } };
		expect(await nextAfter(json(said, 200, { 'retry-after': '20' }))).toBe(20_000);
	});

	it('holds back no other run when the balance is empty or the credential has no limits', async () => {
		const headers = { 'retry-after': '30' };
		expect(await nextAfter(refusal('insufficient_quota', headers))).toBe(1_000);
		expect(await nextAfter(tooMany(headers), {})).toBe(1_000);
	});
});
