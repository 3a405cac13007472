import { AdaptiveLimit } from '../../../../nodes/shared/service/client/adaptiveLimit';
import { Gateway, type Call } from '../../../../nodes/shared/service/client/gateway';
import { asyncHeader, endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
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
const canceled = 'The execution was canceled';

describe('a request', () => {
	it('carries the key and asks for JSON', async () => {
		const server = await startServer(list);
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([{ id: 'chat-1' }]);
		const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
		expect(server.requests).toMatchObject([{ method: 'GET', headers, body: '' }]);
		expect(server.requests[0].headers).not.toHaveProperty('content-type');
	});

	it.each(['', '//', '/gateway', '/a/b/'])('stays below the base URL: %s', async (path) => {
		const server = await startServer(list);
		await gatewayTo(server.url + path).call(models);
		expect(server.requests[0].path).toBe(`${path.replace(/\/+$/, '')}/v1/models`);
	});

	it.each([
		['a/b?c=d#e f', '/v1/videos/a%2Fb%3Fc%3Dd%23e%20f'],
		['$&$1', '/v1/videos/%24%26%241'],
	])('encodes the ID of a job in its path: %s', async (id, path) => {
		const server = await startServer(json({ status: 'queued' }));
		await gatewayTo(server.url).call({ ...poll, id });
		expect(server.requests[0].path).toBe(path);
	});
	it('has the async header only for a reference video', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url);
		await gateway.call({ ...create, endpoint: endpoints.referenceVideoCreate });
		await gateway.call(create);
		const name = asyncHeader.name.toLowerCase();
		expect(server.requests.map(({ headers }) => headers[name])).toEqual(['enable', undefined]);
	});
});

it('does not say that nothing was charged where the code fails on a response that has arrived', async () => {
	const broken = () => {
		throw new TypeError('x is not a function');
	};
	const server = await startServer(created);
	const call = { ...create, parse: broken };
	const { record } = await failureOf(gatewayTo(server.url).call(call));
	expect(record).toMatchObject({ billed: 'unknown', raw_body: expect.stringContaining('id') });
	expect(record.message).toContain('cannot be read: TypeError: x is not a function');
	await expect(gatewayTo(server.url).call({ ...models, parse: broken })).rejects.toThrow(TypeError);
	expect(server.requests).toHaveLength(2);
});

describe('the limit of parallel requests', () => {
	const pacedTo = (url: string, atOnce: number, options: WorldOptions = {}) => {
		const { connection, runtime } = gatewayTo(url, options);
		return new Gateway(connection, { ...runtime, limiter: new AdaptiveLimit(atOnce) });
	};

	it('holds back no poll', async () => {
		const server = await startServer((response, request) => {
			const isList = request.path === '/v1/models';
			(isList ? silence : json({ status: 'queued' }))(response, request);
		});
		const stop = new AbortController();
		const paced = pacedTo(server.url, 2, { signal: stop.signal });
		const lists = Array.from({ length: 3 }, async () => await failureOf(paced.call(models)));
		await server.received(2);
		await Promise.all(['1', '2', '3'].map(async (id) => await paced.call({ ...poll, id })));
		expect(server.requests).toHaveLength(5);
		stop.abort();
		await Promise.all(lists);
	});

	it('does not count a request that waits for its next try', async () => {
		const server = await startServer(error(429, {}, { 'retry-after': '9' }), list);
		const paced = pacedTo(server.url, 1);
		await Promise.all([paced.call(models), paced.call(models)]);
		expect(server.requests).toHaveLength(3);
	});

	it('has a create that still waited at Stop not sent', async () => {
		const server = await startServer(silence);
		const stop = new AbortController();
		const paced = pacedTo(server.url, 1, { signal: stop.signal, patience: 50, graceOnStop });
		const failures = [failureOf(paced.call(create)), failureOf(paced.call(create))];
		await server.received(1);
		stop.abort();
		const billed = (await Promise.all(failures)).map(({ record }) => record.billed);
		expect(billed).toEqual(['unknown', 'no']);
		expect(server.requests).toHaveLength(1);
	});
});

describe('Stop', () => {
	it.each<[string, Call<unknown>, Reply, billed: string]>([
		['a read before the headers', models, silence, 'no'],
		['a create in the middle of the body', create, stall('{"id":"vid'), 'unknown'],
	])('soon ends %s, and says whether it may have been accepted', async (_, call, reply, billed) => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const patience = billed === 'no' ? undefined : 50;
		const world = { signal: stop.signal, patience, graceOnStop };
		const ended = failureOf(gatewayTo(server.url, world).call(call));
		await server.received(1);
		// The headers need a moment to arrive.
		setTimeout(() => stop.abort(), 20);
		const { record } = await ended;
		await server.idle();
		expect(record).toMatchObject({ message: canceled, billed });
		expect(record.advice.includes('may have been accepted')).toBe(billed === 'unknown');
		expect(server.requests).toHaveLength(1);
	});

	it('lets no request begin', async () => {
		const server = await startServer(created);
		const gateway = gatewayTo(server.url, { signal: AbortSignal.abort() });
		const { record } = await failureOf(gateway.call(create));
		expect(record).toMatchObject({ message: canceled, billed: 'no' });
		expect(server.requests).toEqual([]);
	});

	it('says between the tries of a lost create that it may have been accepted', async () => {
		const server = await startServer(reset);
		const stop = new AbortController();
		const gateway = gatewayTo(server.url, { signal: stop.signal });
		// The next try would come after a second.
		const stopped = server.received(1).then(async () => await gateway.runtime.clock.sleep(500));
		void stopped.then(() => stop.abort());
		const { record } = await failureOf(gateway.call(createAgainIfLost));
		expect(record.billed).toBe('unknown');
		expect(server.requests).toHaveLength(1);
	});
});
