import { AdaptiveLimit } from '../../../../nodes/shared/gateway/client/adaptiveLimit';
import { Gateway, type Call } from '../../../../nodes/shared/gateway/client/gateway';
import { asyncHeader, endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import {
	create,
	created,
	createAgainIfLost,
	error,
	list,
	models,
	poll,
} from '../../../support/workflows/calls';
import {
	failureOf,
	gatewayTo,
	key,
	type ShownFailure,
	type WorldOptions,
} from '../../../support/workflows/gatewayWorld';
import {
	json,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

const graceOnStop = 5_000;

describe('requests', () => {
	it('sends the key and asks for JSON', async () => {
		const server = await startServer(list);
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([{ id: 'chat-1' }]);
		expect(server.requests).toMatchObject([
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

	it.each(['', '/', '//', '/gateway', '/gateway/', '/a/b/'])(
		'sends a request below the path of the base URL: %s',
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
	])('encodes the ID of a job in the path: %s', async (id, path) => {
		const server = await startServer(json({ status: 'queued' }));
		await gatewayTo(server.url).call({ ...poll, id });
		expect(server.requests[0].path).toBe(path);
	});

	it('sends the async header only for a reference video', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url);
		await gateway.call({ ...create, endpoint: endpoints.referenceVideoCreate });
		await gateway.call(create);
		const name = asyncHeader.name.toLowerCase();
		expect(server.requests.map(({ headers }) => headers[name])).toEqual(['enable', undefined]);
	});
});

describe('the limit of parallel requests', () => {
	const pacedTo = (url: string, atOnce: number, options: WorldOptions = {}) => {
		const { connection, runtime } = gatewayTo(url, options);
		return new Gateway(connection, { ...runtime, limiter: new AdaptiveLimit(atOnce) });
	};
	it('limits the requests under way, but not polls', async () => {
		let underWay = 0;
		let most = 0;
		let answerAll = () => {};
		const held = new Promise<void>((resolve) => (answerAll = resolve));
		const server = await startServer((response, request) => {
			const isList = request.path === '/v1/models';
			if (isList) most = Math.max(most, ++underWay);
			void held.then(() => {
				if (isList) underWay--;
				json({ data: [], status: 'queued' })(response, request);
			});
		});
		const paced = pacedTo(server.url, 2);
		const lists = Array.from({ length: 6 }, async () => await paced.call(models));
		await server.received(2);
		const ids = ['1', '2', '3', '4', '5', '6'];
		const polls = ids.map(async (id) => await paced.call({ ...poll, id }));
		// Nothing has been answered when the last poll arrives.
		await server.received(2 + ids.length);
		answerAll();
		await Promise.all([...lists, ...polls]);
		expect(server.requests).toHaveLength(12);
		expect(most).toBe(2);
	});

	it('does not count a request that waits for its next attempt', async () => {
		const server = await startServer(error(429, {}, { 'retry-after': '9' }), list);
		const paced = pacedTo(server.url, 1);
		await Promise.all([paced.call(models), paced.call(models)]);
		expect(server.requests).toHaveLength(3);
	});

	it('reports a create that was still waiting at Stop as not sent', async () => {
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
		// The headers need a moment to arrive.
		setTimeout(() => stop.abort(), 20);
		const failure = await ended;
		await server.idle();
		expect(server.requests).toHaveLength(1);
		return failure;
	};

	it.each<[string, Reply]>([
		['before the headers', silence],
		['in the middle of the body', stall('{"data":[')],
	])('ends a read at once at Stop: %s', async (_, reply) => {
		const { record, reach } = await stopped(models, reply);
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'no' });
		expect(reach).toBe('none');
	});

	it.each<[string, Reply]>([
		['before the headers', silence],
		['in the middle of the body', stall('{"id":"vid')],
	])(
		'ends a create soon after Stop, and says that it may have been accepted: %s',
		async (_, reply) => {
			const { record } = await stopped(create, reply, 50);
			expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'unknown' });
			expect(record.advice).toContain('may have been accepted');
		},
	);

	it('waits after Stop until a create under way returns its ID', async () => {
		const stop = new AbortController();
		const server = await startServer((response, request) => {
			stop.abort();
			setTimeout(() => created(response, request), 50);
		});
		const gateway = gatewayTo(server.url, { signal: stop.signal, graceOnStop });
		expect(await gateway.call(create)).toMatchObject({ id: expect.any(String) });
	});

	it('sends nothing when Stop was pressed before the request', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url, { signal: AbortSignal.abort() });
		const { record } = await failureOf(gateway.call(create));
		expect(record).toMatchObject({ message: 'The execution was canceled', billed: 'no' });
		expect(server.requests).toEqual([]);
	});

	const stoppedWhileWaiting = async (call: Call<unknown>, reply: Reply) => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const gateway = gatewayTo(server.url, { signal: stop.signal });
		const { clock } = gateway.runtime;
		// The next attempt would come after a second.
		const stopped = server.received(1).then(async () => await clock.sleep(500));
		void stopped.then(() => stop.abort());
		const failure = await failureOf(gateway.call(call));
		expect(server.requests).toHaveLength(1);
		return failure.record;
	};

	it('says at Stop between the attempts of a lost create that it may have been accepted', async () => {
		const record = await stoppedWhileWaiting(createAgainIfLost, reset);
		expect(record.billed).toBe('unknown');
		expect(record.advice).toContain('may have been accepted');
	});
});
