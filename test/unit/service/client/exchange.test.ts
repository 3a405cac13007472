import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { waitForEventLoop } from '../../../../nodes/shared/service/client/eventLoop';
import { exchange } from '../../../../nodes/shared/service/client/exchange';
import type { HttpRequest, Runtime } from '../../../../nodes/shared/service/client/http';
import type { Call } from '../../../../nodes/shared/service/client/request';
import { ResponseMemory } from '../../../../nodes/shared/service/client/responseMemory';
import { listModels } from '../../../../nodes/shared/service/models/list';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { SimulatedTime } from '../../../harness';
import { failureOf, gatewayTo, key } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	cut,
	json,
	nobody,
	redirect,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

const requestInfo = { purpose: 'ask', cost: 'read' } as const;
const get = (url: string) => ({ method: 'GET', url, headers: {} }) as const;
const post = (url: string) =>
	({ method: 'POST', url, headers: {}, body: '{"prompt":"a"}' }) as const;

interface SendOptions extends Partial<Runtime>, Pick<Call<unknown>, 'onText' | 'mayLeadToFile'> {
	patience?: number;
	/** Below which the key may be sent. Default: the origin. */
	baseUrl?: string;
}

const send = async (
	request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
	{ patience, onText, mayLeadToFile, baseUrl, ...own }: SendOptions = {},
) => {
	const gateway = gatewayTo(baseUrl ?? new URL(request.url).origin, { patience });
	const response = await exchange(request, gateway.with(own), {
		call: { endpoint: endpoints.models, response: 'files', onText, mayLeadToFile },
		requestInfo,
		timeout: 60_000,
		held: new ResponseMemory().share(),
		slot: {},
	});
	if (response.redirect) throw response.redirect;
	return response;
};

const text = JSON.stringify({ text: 'Grüße, 世界 🎬' });
const bytes = Buffer.from(text);
const middleOfCharacter = bytes.indexOf('ü') + 1;

describe('large responses', () => {
	it('passes on one large response per turn of the event loop', async () => {
		let turn = 0;
		let counter: NodeJS.Immediate;
		const count = () => {
			turn++;
			counter = setImmediate(count);
		};
		count();
		async function* body() {
			yield Buffer.alloc(1_500_000, ' ');
		}
		const http = async () => ({ status: 200, headers: {}, body: body(), close: () => {} });
		const turnOf = async () => {
			await send(get('http://127.0.0.1'), { http, clock });
			// Parsing such a response blocks the event loop for a while.
			for (const end = performance.now() + 20; performance.now() < end;);
			return turn;
		};
		const seen = await Promise.all(Array.from({ length: 5 }, turnOf));
		clearImmediate(counter!);
		expect(new Set(seen).size).toBe(5);
	});

	/** The response to a body of these chunks, and how many of them were taken from it. */
	const sendChunks = async (status: number, chunks: Iterable<string>) => {
		const seen = { taken: 0, isClosed: false };
		async function* body() {
			for (const chunk of chunks) {
				seen.taken++;
				yield Buffer.from(chunk, 'latin1');
			}
		}
		const close = () => void (seen.isClosed = true);
		const http = async () => ({ status, headers: {}, body: body(), close });
		const response = await send(get('http://127.0.0.1'), { http, clock });
		return { ...response, ...seen };
	};
	function* repeated(before: string, part: string, count = Infinity, after = '') {
		yield before;
		for (let index = 0; index < count; index++) yield part;
		yield after;
	}
	const million = 'iVBORw0KGg'.repeat(100_000);

	const event = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'.repeat(1_000);

	it.each([
		['ten images of 20 MB as base64', repeated('{"data":["', million, 280, '"]}'), 280_000_013],
		['a stream of very many short events', repeated('', event, 500), 500 * event.length],
	])('reads %s', async (_, chunks, length) => {
		const { text, excess } = await sendChunks(200, chunks);
		expect([text.length, excess]).toEqual([length, undefined]);
	});

	it.each([
		['spaces', '[', ' '.repeat(1_000_000)],
		['an event', 'data: {"choices":["', million],
	])('stops at 300 million characters: %s', async (_, before, part) => {
		const response = await sendChunks(200, repeated(before, part));
		expect(response).toMatchObject({
			text: before,
			excess: 'has more than 300 million characters, and no response of this kind needs as many',
			taken: 301,
			isClosed: true,
		});
	});

	it('stops at more parts than any response needs, and keeps the beginning', async () => {
		const response = await sendChunks(200, repeated('[{"id":"a"},', '{},'.repeat(10_000)));
		expect(response).toMatchObject({
			text: '[{"id":"a"},',
			excess: 'has more lists, objects and texts in it than any response of the service needs',
			isClosed: true,
		});
		expect(response.taken).toBeLessThan(20);
	});

	it.each([
		['a long text', '{"error":{"message":"no"},"more":"', million, 11],
		['many parts', '{"error":{"message":"no"},"more":[', '{},'.repeat(10_000), 20],
	])('reads only the beginning of an error: %s', async (_, before, part, most) => {
		const { text, excess, taken, isClosed } = await sendChunks(500, repeated(before, part));
		expect([text.startsWith(before), excess, isClosed]).toEqual([true, undefined, true]);
		expect(taken).toBeLessThanOrEqual(most);
	});
});

it('reads large responses after a test in simulated time has ended while one was read', async () => {
	const time = new SimulatedTime();
	await waitForEventLoop(3_000_000, clock);
	await time.end();
	await waitForEventLoop(3_000_000, clock);
}, 5_000);

describe('complete responses', () => {
	const packed = (encoding: string, body: Buffer) =>
		answer(200, body, { 'content-encoding': encoding });
	const inParts: Reply = (response) => {
		response.write(bytes.subarray(0, middleOfCharacter));
		setTimeout(() => response.end(bytes.subarray(middleOfCharacter)), 20);
	};

	it.each<[string, Reply, status: number]>([
		['in two parts of a character', inParts, 200],
		['as gzip', packed('gzip', gzipSync(text)), 200],
		['as deflate', packed('deflate', deflateSync(text)), 200],
		['as br', packed('br', brotliCompressSync(text)), 200],
		['with an error', answer(404, text), 404],
	])('may arrive %s', async (_, reply, status) => {
		const server = await startServer(reply);
		expect(await send(get(server.url))).toMatchObject({ status, text });
	});

	it.each([204, 300, 304])('may have neither a body nor an address: %d', async (status) => {
		const server = await startServer(answer(status, ''));
		expect(await send(get(server.url))).toMatchObject({ status, text: '' });
	});
});

describe('responses that break off', () => {
	const packed = gzipSync(text);
	const damaged = (place: number) => Buffer.from(packed).fill(0xff, place, place + 1);
	const start = bytes.subarray(0, 10);
	const resetAfterStart: Reply = (response) =>
		void response.write(start, () => setTimeout(() => response.socket?.resetAndDestroy(), 20));

	it.each<[string, Reply]>([
		['fewer bytes than announced', cut(start, { 'content-length': '100' })],
		['no last chunk', cut(start)],
		['a reset', resetAfterStart],
	])('keep their text: %s', async (_, reply) => {
		const received = await send(get((await startServer(reply)).url));
		expect(received).toMatchObject({ status: 200, text: text.slice(0, 10) });
		expect(received.broken).toMatch(/aborted|hang up|ECONNRESET/);
	});

	it('keep their text up to the last whole character', async () => {
		const server = await startServer(cut(bytes.subarray(0, middleOfCharacter)));
		const received = await send(get(server.url));
		expect(received.text.replace('\ufffd', '')).toBe(text.slice(0, text.indexOf('ü')));
	});

	it.each([
		['damaged at its start', damaged(10), /invalid block type/],
		['damaged in its checksum', damaged(packed.length - 8), /incorrect data check/],
		['not compressed at all', bytes, /incorrect header check/],
	])('keep their status when the compressed body is %s', async (_, body, broken) => {
		const server = await startServer(answer(500, body, { 'content-encoding': 'gzip' }));
		const received = await send(get(server.url));
		expect(received.status).toBe(500);
		expect(received.broken).toMatch(broken);
	});

	it('keep their text although they are compressed', async () => {
		let breakConnection = () => {};
		const server = await startServer((response) => {
			response.writeHead(200, { 'content-encoding': 'gzip' }).write(packed.subarray(0, -8));
			breakConnection = () => void response.socket?.destroy();
		});
		const onText = () => {
			breakConnection();
			return false;
		};
		const received = await send(get(server.url), { onText });
		expect(received).toMatchObject({ status: 200, text, broken: expect.stringMatching(/aborted/) });
	});

	it('keep the text that arrived before the time limit passed', async () => {
		const server = await startServer(stall(text.slice(0, 5)));
		const received = await send(get(server.url), { patience: 100 });
		const broken = 'the time limit of 60 s passed';
		expect(received).toMatchObject({ text: text.slice(0, 5), broken });
		await server.idle();
	});
});

it.each<[string, Reply | undefined, object]>([
	['a reset', reset, { code: 'ECONNRESET' }],
	[
		'a response that is not HTTP',
		(response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
		{ code: 'HPE_INVALID_CONSTANT' },
	],
	['no server', undefined, { code: 'ECONNREFUSED' }],
	['silence', silence, { message: expect.stringContaining('the time limit of 60 s passed') }],
])("rejects with the network's own error after %s", async (_, reply, error) => {
	const server = reply && (await startServer(reply));
	const sent = send(get(server?.url ?? nobody), { patience: 100 });
	await expect(sent).rejects.toMatchObject(error);
	await server?.idle();
});

describe('redirects', () => {
	const kept = [301, 302, 303, 307, 308].map((status) => ['GET', status] as const);
	const posted = [307, 308].map((status) => ['POST', status] as const);

	it.each([...kept, ...posted])(
		'are followed within the origin with the key: %s, %d',
		async (method, status) => {
			const server = await startServer(redirect(status, '/v2/models?page=1'), json({ ok: true }));
			const request = method === 'GET' ? get(`${server.url}/v1/models`) : post(server.url);
			const received = await send(request);
			expect(received).toMatchObject({ status: 200, url: `${server.url}/v2/models?page=1` });
			expect(server.requests[1]).toMatchObject({
				method,
				path: '/v2/models?page=1',
				headers: { authorization: `Bearer ${key}` },
				body: method === 'GET' ? '' : '{"prompt":"a"}',
			});
			await server.idle();
		},
	);

	it.each([301, 302, 303])('are refused that turn a POST into a GET: %d', async (status) => {
		const server = await startServer(redirect(status, '/elsewhere'));
		const { record, reach } = await failureOf(send(post(server.url)));
		expect(record).toMatchObject({ status, retry_can_help: false });
		expect(reach).toBe('answered');
		expect(server.requests).toHaveLength(1);
	});

	it.each(
		[get, post].flatMap((ask) => [301, 302, 303, 307, 308].map((status) => [ask, status] as const)),
	)('are not followed to another origin: %p, %d', async (ask, status) => {
		const elsewhere = await startServer(json({}));
		const server = await startServer(redirect(status, `${elsewhere.url}/v1/models`));
		const { record } = await failureOf(send(ask(server.url)));
		expect(elsewhere.requests).toEqual([]);
		expect(record).toMatchObject({ status, billed: 'no', retry_can_help: false });
		expect(record.message).toBe(`Could not ask: the gateway redirects to ${elsewhere.url}`);
		await server.idle();
	});

	const endless = () => {
		let count = 0;
		return ((...given) => redirect(307, `/${++count}`)(...given)) satisfies Reply;
	};

	it.each<[string, Reply[], typeof get | typeof post, number]>([
		['that never end', [endless()], get, 6],
		['to another host in a chain', [redirect(307, '/b'), redirect(307, nobody)], get, 2],
		['of a read to an earlier address', [redirect(308, '/')], get, 1],
		['of an order to an earlier address', [redirect(308, '/')], post, 1],
		['to an invalid address', [redirect(302, 'https://')], get, 1],
	])('are given up %s', async (_, replies, ask, requests) => {
		const server = await startServer(...replies);
		const { record } = await failureOf(send(ask(server.url)));
		expect(record.message).toContain('the gateway redirects to ');
		expect(server.requests).toHaveLength(requests);
	});

	it('are refused to an address that may not have the key', async () => {
		const server = await startServer(redirect(308, '/other-team/v1'));
		const baseUrl = `${server.url}/gw`;
		const { record } = await failureOf(send(post(`${baseUrl}/v1`), { baseUrl }));
		expect(record.message).toContain(`redirects to ${server.url}/other-team/v1`);
		expect(server.requests).toHaveLength(1);
	});

	it.each([
		['in a path', (echoed: string) => `/v2/${echoed}`],
		['to another host', (echoed: string) => `https://other.example/${echoed}`],
		['to an invalid address', (echoed: string) => `https://[${echoed}`],
		['where the message is shortened', (echoed: string) => `/${'a'.repeat(268)}${echoed}`],
		['in a host name', (echoed: string) => `https://${echoed.toLowerCase()}.example`],
	])('show no key that they carry %s', async (_, location) => {
		for (const echoed of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')]) {
			const server = await startServer(redirect(302, location(echoed)));
			const asked = listModels(gatewayTo(`${server.url}/gw`), { timeout: 60_000, retries: 0 });
			const { record } = await failureOf(asked);
			expect(JSON.stringify(record).toLowerCase()).not.toContain(echoed.toLowerCase().slice(0, 8));
		}
	});

	it.each([
		['to another host', 'https://storage.example/v.mp4?sig=a%2Fb'],
		['within the origin', '/files/v.mp4?sig=a%2Fb'],
	])('are returned where they may lead to a file: %s', async (_, location) => {
		const server = await startServer(redirect(302, location));
		const received = await send(get(server.url), { mayLeadToFile: true });
		expect(received.location).toBe(new URL(location, server.url).href);
		expect(server.requests).toHaveLength(1);
	});

	it('are followed where they only add a slash, even when they may lead to a file', async () => {
		const location = '/content/?signature=1';
		const server = await startServer(redirect(308, location), json({}));
		const received = await send(get(`${server.url}/content`), { mayLeadToFile: true });
		expect(received).toMatchObject({ status: 200, text: '{}' });
		expect(server.requests.map(({ path }) => path)).toEqual(['/content', location]);
	});
});

describe('files in a response', () => {
	const typed = (type: string) => (type === '' ? undefined : { 'content-type': type });
	const riff = 'RIFF'.padEnd(1_000_000, '\0');
	const zeros = ''.padEnd(1_000_000, '\0');

	it.each([
		...['video/mp4', 'application/octet-stream', 'application/mp4; codecs="avc1"'].map((type) => [
			type,
			zeros,
		]),
		...['', 'text/plain', 'application/json'].map((type) => [type, riff]),
	])('are known by their type or bytes, and not read: "%s"', async (type, body) => {
		const server = await startServer((response) => {
			response.writeHead(200, typed(type)).write(body.slice(0, 2));
			response.end(body.slice(2));
		});
		const received = await send(get(server.url), { mayLeadToFile: true });
		expect(received).toMatchObject({ status: 200, text: '', isFile: true });
		await server.idle();
	});

	it.each([
		[200, 'application/json'],
		[404, 'application/octet-stream'],
	])('are not texts, nor errors: %d, %s', async (status, type) => {
		const server = await startServer(answer(status, text, typed(type)));
		expect((await send(get(server.url), { mayLeadToFile: true })).text).toBe(text);
	});
});
