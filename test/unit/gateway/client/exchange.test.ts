import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { exchange, type ExchangeOptions } from '../../../../nodes/shared/gateway/client/exchange';
import type { HttpRequest } from '../../../../nodes/shared/gateway/client/http';
import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { listModels } from '../../../../nodes/shared/gateway/models/list';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { failureOf, gatewayTo, key, simulatedWorld } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	json,
	redirect,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

const redaction = new Redaction(key);
const what = { purpose: 'ask', cost: 'read' } as const;
const get = (url: string) => ({ method: 'GET', url, headers: {} }) as const;
const post = (url: string) =>
	({ method: 'POST', url, headers: {}, body: '{"prompt":"a"}' }) as const;

const send = async (
	request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
	options: Partial<ExchangeOptions> & { patience?: number } = {},
) => {
	const { http, clock } = simulatedWorld(options);
	const guard = { maySendKeyTo: () => true, redaction };
	const settings = { http, clock, timeout: 60_000, ...guard, ...options };
	const response = await exchange(what, request, settings);
	if (response.redirect) throw response.redirect;
	return response;
};

const text = JSON.stringify({ text: 'Grüße, 世界 🎬' });
const bytes = Buffer.from(text);

describe('large responses', () => {
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
		const options = { http, clock, timeout: 60_000, maySendKeyTo: () => true, redaction };
		const response = await exchange(what, get('http://127.0.0.1'), options);
		return { ...response, ...seen };
	};
	function* repeated(before: string, part: string, count = Infinity, after = '') {
		yield before;
		for (let index = 0; index < count; index++) yield part;
		yield after;
	}
	const million = 'iVBORw0KGg'.repeat(100_000);

	it.each([['an event', 'data: {"choices":["', million]])(
		'stops at 300 million characters: %s',
		async (_, before, part) => {
			const response = await sendChunks(200, repeated(before, part));
			expect(response).toMatchObject({
				text: before,
				excess:
					'has more than 300 million characters, and no response of the service needs as many',
				...{ taken: 301, isClosed: true },
			});
		},
	);

	it.each([['many parts', '{"error":{"message":"no"},"more":[', '{},'.repeat(10_000), 20]])(
		'reads only the beginning of an error: %s',
		async (_, before, part, most) => {
			const { text, excess, taken, isClosed } = await sendChunks(500, repeated(before, part));
			expect([text.startsWith(before), excess, isClosed]).toEqual([true, undefined, true]);
			expect(taken).toBeLessThanOrEqual(most);
		},
	);
});

describe('complete responses', () => {
	it('reads a response with its status and headers', async () => {
		const server = await startServer(json({ id: 'a' }, 202, { 'X-Request-Id': 'r1' }));
		const received = await send(get(`${server.url}/v1/models`));
		expect(received).toMatchObject({
			status: 202,
			text: '{"id":"a"}',
			url: `${server.url}/v1/models`,
		});
		expect(received.headers).toMatchObject({ 'x-request-id': 'r1' });
		expect(received).not.toHaveProperty('broken');
		await server.idle();
	});

	it.each([
		['gzip', gzipSync(text)],
		['deflate', deflateSync(text)],
		['br', brotliCompressSync(text)],
	])('decompresses a response with the encoding %s', async (encoding, packed) => {
		const server = await startServer(answer(200, packed, { 'content-encoding': encoding }));
		expect((await send(get(server.url))).text).toBe(text);
	});
});

describe('responses that break off', () => {
	const packed = gzipSync(text);

	it.each<[string, Reply]>([
		[
			'a reset',
			(response) =>
				void response.write(bytes.subarray(0, 10), () =>
					setTimeout(() => response.socket?.resetAndDestroy(), 20),
				),
		],
	])('keeps the text of a response that breaks off: %s', async (_, reply) => {
		const server = await startServer(reply);
		const received = await send(get(server.url));
		expect(received).toMatchObject({ status: 200, text: text.slice(0, 10) });
		expect(received.broken).toMatch(/aborted|hang up|ECONNRESET/);
	});

	it('keeps the text of a compressed response that breaks off', async () => {
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
		expect(received).toMatchObject({ status: 200, text });
		expect(received.broken).toMatch(/aborted/);
	});
});

describe('redirects', () => {
	it.each([
		['GET', 301],
		['GET', 302],
		['GET', 303],
		['GET', 307],
		['GET', 308],
		['POST', 307],
		['POST', 308],
	] as const)(
		'follows a redirect within the origin with the key (%s, %d)',
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

	it.each([301, 302, 303])(
		'refuses a redirect that would turn a POST into a GET (%d)',
		async (status) => {
			const server = await startServer(redirect(status, '/elsewhere'));
			const { record, reach } = await failureOf(send(post(server.url)));
			expect(record).toMatchObject({ status, retry_can_help: false });
			expect(reach).toBe('answered');
			expect(server.requests).toHaveLength(1);
		},
	);

	it.each(
		(['GET', 'POST'] as const).flatMap((method) =>
			[301, 302, 303, 307, 308].map((status) => [method, status] as const),
		),
	)('does not follow a redirect to another origin (%s, %d)', async (method, status) => {
		const elsewhere = await startServer(json({}));
		const server = await startServer(redirect(status, `${elsewhere.url}/v1/models`));
		const request = method === 'GET' ? get(server.url) : post(server.url);
		const { record, reach } = await failureOf(send(request));

		expect(elsewhere.requests).toEqual([]);
		expect(record).toMatchObject({ status, billed: 'no', retry_can_help: false });
		expect(record.message).toBe(`Could not ask: the gateway redirects to ${elsewhere.url}`);
		expect(reach).toBe('answered');
		await server.idle();
	});

	it('refuses a redirect to another host in the middle of a chain', async () => {
		const elsewhere = await startServer(json({}));
		const server = await startServer(redirect(307, '/b'), redirect(307, elsewhere.url));
		await failureOf(send(get(`${server.url}/a`)));
		expect(server.requests.map(({ path }) => path)).toEqual(['/a', '/b']);
		expect(elsewhere.requests).toEqual([]);
	});

	it.each([get, post])('gives up at once on a redirect to an earlier address', async (ask) => {
		const server = await startServer(redirect(308, '/'));
		expect((await failureOf(send(ask(server.url)))).record.status).toBe(308);
		expect(server.requests).toHaveLength(1);
	});

	it('refuses a redirect to an address that may not have the key', async () => {
		const server = await startServer(redirect(308, '/other-team/v1'));
		const { record } = await failureOf(
			send(post(`${server.url}/gw/v1`), { maySendKeyTo: (address) => address.includes('/gw/') }),
		);
		expect(record.message).toContain(`redirects to ${server.url}/other-team/v1`);
		expect(server.requests).toHaveLength(1);
	});

	it.each([
		['to another host', (echoed: string) => `https://other.example/${echoed}`],
		['to an invalid address', (echoed: string) => `https://[${echoed}`],
		['where the message is shortened', (echoed: string) => `/${'a'.repeat(268)}${echoed}`],
		['in a host name', (echoed: string) => `https://${echoed.toLowerCase()}.example`],
	])('redacts the key that a redirect carries %s', async (_, location) => {
		for (const echoed of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')]) {
			const server = await startServer(redirect(302, location(echoed)));
			const asked = listModels(gatewayTo(`${server.url}/gw`), { timeout: 60_000, retries: 0 });
			const { record } = await failureOf(asked);
			expect(JSON.stringify(record).toLowerCase()).not.toContain(echoed.toLowerCase().slice(0, 8));
		}
	});

	it('returns a redirect to another host when it may lead to a file', async () => {
		const server = await startServer(redirect(302, 'https://storage.example/v.mp4?sig=a%2Fb'));
		const received = await send(get(server.url), { mayLeadToFile: true });
		expect(received.location).toBe('https://storage.example/v.mp4?sig=a%2Fb');
	});

	it('returns a redirect within the origin when it may lead to a file', async () => {
		const server = await startServer(redirect(302, '/files/v.mp4?sig=a%2Fb'));
		const received = await send(get(server.url), { mayLeadToFile: true });
		expect(received.location).toBe(`${server.url}/files/v.mp4?sig=a%2Fb`);
		expect(server.requests).toHaveLength(1);
	});
});

describe('files in a response', () => {
	const file = Buffer.alloc(1_000_000);

	it.each(['video/mp4', 'application/octet-stream', 'application/mp4; codecs="avc1"'])(
		'does not read a file into memory: %s',
		async (type) => {
			const server = await startServer(answer(200, file, { 'content-type': type }));
			const received = await send(get(server.url), { mayLeadToFile: true });
			expect(received).toMatchObject({ status: 200, text: '', isFile: true });
			await server.idle();
		},
	);

	it.each(['', 'text/plain', 'application/json'])(
		'recognises a file by its bytes whatever its Content-Type is: "%s"',
		async (type) => {
			const body = Buffer.concat([Buffer.from('RIFF'), file]);
			const headers = type === '' ? undefined : { 'content-type': type };
			const server = await startServer((response) => {
				response.writeHead(200, headers).write(body.subarray(0, 2));
				response.end(body.subarray(2));
			});
			const received = await send(get(server.url), { mayLeadToFile: true });
			expect(received).toMatchObject({ status: 200, text: '', isFile: true });
			await server.idle();
		},
	);
});
