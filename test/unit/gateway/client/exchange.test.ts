import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { exchange, type ExchangeOptions } from '../../../../nodes/shared/gateway/client/exchange';
import type { HttpRequest } from '../../../../nodes/shared/gateway/client/http';
import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { ResponseMemory } from '../../../../nodes/shared/gateway/client/responseMemory';
import { listModels } from '../../../../nodes/shared/gateway/models/list';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { failureOf, gatewayTo, key, simulatedWorld } from '../../../support/workflows/gatewayWorld';
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

const redaction = new Redaction(key);
const bounds = () => ({ kind: 'files', held: new ResponseMemory().share() }) as const;
const what = { purpose: 'ask', cost: 'read' } as const;
const get = (url: string) => ({ method: 'GET', url, headers: {} }) as const;
const post = (url: string) =>
	({ method: 'POST', url, headers: {}, body: '{"prompt":"a"}' }) as const;

const send = async (
	request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
	options: Partial<ExchangeOptions> & { patience?: number } = {},
) => {
	const { http, clock } = simulatedWorld(options);
	const guard = { maySendKeyTo: () => true, redaction, ...bounds() };
	const settings = { http, clock, timeout: 60_000, ...guard, ...options };
	const response = await exchange(what, request, settings);
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
			await exchange(what, get('http://127.0.0.1'), {
				...{ http, clock, timeout: 60_000, maySendKeyTo: () => true, redaction, ...bounds() },
			});
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
		const options = {
			http,
			clock,
			timeout: 60_000,
			maySendKeyTo: () => true,
			redaction,
			...bounds(),
		};
		const response = await exchange(what, get('http://127.0.0.1'), options);
		return { ...response, ...seen };
	};
	function* repeated(before: string, part: string, count = Infinity, after = '') {
		yield before;
		for (let index = 0; index < count; index++) yield part;
		yield after;
	}
	const million = 'iVBORw0KGg'.repeat(100_000);

	it('reads ten images of 20 MB as base64 in one response', async () => {
		const image = 28_000_000;
		const { text, excess } = await sendChunks(200, repeated('{"data":["', million, 280, '"]}'));
		expect([text.length, excess]).toEqual([10 * image + 13, undefined]);
	});

	it.each([
		['spaces', '[', ' '.repeat(1_000_000)],
		['an event', 'data: {"choices":["', million],
	])('stops at 300 million characters: %s', async (_, before, part) => {
		const response = await sendChunks(200, repeated(before, part));
		expect(response).toMatchObject({
			text: before,
			excess: 'has more than 300 million characters, and no response of this kind needs as many',
			...{ taken: 301, isClosed: true },
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

	it('reads a stream of very many short events', async () => {
		const event = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
		const chunks = repeated('', event.repeat(1_000), 500);
		const { text, excess } = await sendChunks(200, chunks);
		expect([text.length, excess]).toEqual([event.length * 500_000, undefined]);
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

	it('joins a character that arrives in two parts', async () => {
		const server = await startServer((response) => {
			response.write(bytes.subarray(0, middleOfCharacter));
			setTimeout(() => response.end(bytes.subarray(middleOfCharacter)), 20);
		});
		expect((await send(get(server.url))).text).toBe(text);
	});

	it.each([
		['gzip', gzipSync(text)],
		['deflate', deflateSync(text)],
		['br', brotliCompressSync(text)],
	])('decompresses a response with the encoding %s', async (encoding, packed) => {
		const server = await startServer(answer(200, packed, { 'content-encoding': encoding }));
		expect((await send(get(server.url))).text).toBe(text);
	});

	it.each([204, 400, 404, 429, 500, 503])(
		'returns a response with any status (%d)',
		async (status) => {
			const server = await startServer(answer(status, status === 204 ? '' : text));
			expect(await send(get(server.url))).toMatchObject({
				status,
				text: status === 204 ? '' : text,
			});
		},
	);
});

describe('responses that break off', () => {
	const packed = gzipSync(text);
	/** The compressed text with one byte changed. */
	const damaged = (place: number) => Buffer.from(packed).fill(0xff, place, place + 1);

	it.each<[string, Reply]>([
		[
			'fewer bytes than Content-Length says',
			cut(bytes.subarray(0, 10), { 'content-length': '100' }),
		],
		['no last chunk', cut(bytes.subarray(0, 10))],
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

	it('keeps the text of a response that breaks off up to the last whole character', async () => {
		const server = await startServer(cut(bytes.subarray(0, middleOfCharacter)));
		const received = await send(get(server.url));
		expect(received.text.replace('\ufffd', '')).toBe(text.slice(0, text.indexOf('ü')));
	});

	it.each([
		['damaged at its start', damaged(10), /invalid block type/],
		['damaged in its checksum', damaged(packed.length - 8), /incorrect data check/],
		['not compressed at all', bytes, /incorrect header check/],
	])(
		'keeps the status and reports the problem when the compressed body is %s',
		async (_, body, broken) => {
			const server = await startServer(answer(500, body, { 'content-encoding': 'gzip' }));
			const received = await send(get(server.url));
			expect(received.status).toBe(500);
			expect(received.broken).toMatch(broken);
		},
	);

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

	it('keeps the text that arrived before the time limit passed', async () => {
		const server = await startServer(stall(text.slice(0, 5)));
		const received = await send(get(server.url), { patience: 100 });
		expect(received).toMatchObject({
			text: text.slice(0, 5),
			broken: 'the time limit of 60 s passed',
		});
		await server.idle();
	});
});

describe('requests without a response', () => {
	it.each<[string, Reply | undefined, string]>([
		['a reset', reset, 'ECONNRESET'],
		[
			'a response that is not HTTP',
			(response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
			'HPE_INVALID_CONSTANT',
		],
	])("rejects with the network's own error after %s", async (_, reply, code) => {
		const server = await startServer(reply as Reply);
		await expect(send(get(server.url))).rejects.toMatchObject({ code });
	});

	it('rejects when the time limit passes before the headers arrive', async () => {
		const server = await startServer(silence);
		await expect(send(get(server.url), { patience: 100 })).rejects.toThrow(
			'the time limit of 60 s passed',
		);
		await server.idle();
	});

	it('rejects when nothing listens at the address', async () => {
		await expect(send(get(nobody))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
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

	it('gives up on redirects that never end', async () => {
		let count = 0;
		const server = await startServer((...given) => redirect(307, `/${++count}`)(...given));
		expect((await failureOf(send(get(server.url)))).record.status).toBe(307);
		expect(server.requests).toHaveLength(6);
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
		['in a path', (echoed: string) => `/v2/${echoed}`],
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

	it('reports a redirect to an invalid address as it is', async () => {
		const server = await startServer(redirect(302, 'https://'));
		expect((await failureOf(send(get(server.url)))).record.message).toMatch(
			/redirects to https:\/\/$/,
		);
	});

	it.each([300, 304])(
		'returns a 3xx response without an address like any other (%d)',
		async (status) => {
			const server = await startServer(answer(status, ''));
			expect(await send(get(server.url))).toMatchObject({ status, text: '' });
		},
	);

	it('returns a redirect to another host when it may lead to a file', async () => {
		const server = await startServer(redirect(302, 'https://storage.example/v.mp4?sig=a%2Fb'));
		const received = await send(get(server.url), { mayLeadToFile: true });
		expect(received.location).toBe('https://storage.example/v.mp4?sig=a%2Fb');
	});

	it('follows a redirect that only adds a slash, even when it may lead to a file', async () => {
		const server = await startServer(
			answer(308, '', { location: '/content/?signature=1' }),
			answer(200, '{}', { 'content-type': 'application/json' }),
		);
		const received = await send(get(`${server.url}/content`), { mayLeadToFile: true });
		expect(received).toMatchObject({ status: 200, text: '{}' });
		expect(server.requests.map(({ path }) => path)).toEqual(['/content', '/content/?signature=1']);
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

	it.each([
		[200, 'application/json'],
		[404, 'application/octet-stream'],
	])('reads a response with the status %d and the type %s as text', async (status, type) => {
		const server = await startServer(answer(status, text, { 'content-type': type }));
		expect((await send(get(server.url), { mayLeadToFile: true })).text).toBe(text);
	});
});

describe('Stop', () => {
	it.each<[string, Reply]>([
		['before the headers', silence],
		['in the middle of the body', stall('{"id":')],
	])('ends the exchange at once at Stop: %s', async (_, reply) => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const exchanged = send(get(server.url), { signal: stop.signal });
		await server.received(1);
		// The headers need a moment to arrive.
		setTimeout(() => stop.abort(), 20);
		await expect(exchanged).rejects.toThrow(/abort/i);
		await server.idle();
	});

	it('rejects when Stop was pressed before the request', async () => {
		const server = await startServer(json({}));
		await expect(send(get(server.url), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
	});
});
