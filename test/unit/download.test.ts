import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { FileSource } from '../../nodes/shared/gateway/client/fileRequest';
import { downloadVideo, type DownloadRequest } from '../../nodes/shared/gateway/jobs/download';
import { mp4Of, sha256 } from '../support/boxes';
import { otherVideos } from '../support/otherVideos';
import { failureOf, gatewayTo, key, type WorldOptions } from '../support/gatewayWorld';
import {
	answer,
	breakOff,
	json,
	page,
	redirect,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../support/scriptedServer';
import { storage, type StorageOptions } from '../support/scriptedStorage';

const file = mp4Of(200_000);
const other = mp4Of(150_000);
/** Another file of the same length. */
const twin = mp4Of(200_000);
const longer = Buffer.concat([twin, Buffer.alloc(16)]);
const tenths = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => Math.floor((file.length * tenth) / 10));
const whole = storage(file);
const half = (options: StorageOptions = {}) => storage(file, { until: 100_000, ...options });

/** Where no storage is. */
const elsewhere = 'https://gateway.example';

interface Downloading extends WorldOptions {
	path?: string;
	/** Of the gateway. */
	baseUrl?: string;
	authenticated?: boolean;
	refresh?: DownloadRequest['refresh'];
}

/** Downloads into memory; tells, besides, what was stored at each try, and as what. */
const download = (
	{ url }: Pick<ScriptedServer, 'url'>,
	{
		path = '/v.mp4?sig=1',
		authenticated = false,
		refresh,
		baseUrl = elsewhere,
		...options
	}: Downloading = {},
) => {
	const gateway = gatewayTo(baseUrl, options);
	const { runtime } = gateway;
	const stored: Buffer[] = [];
	const types: string[] = [];
	const start = runtime.clock.now();
	const source: FileSource = { url: url + path, authenticated };
	const request = { source, refresh: refresh ?? (async () => source), purpose: 'download it' };
	const done = downloadVideo(gateway, request, async (bytes, { mimeType }) => {
		types.push(mimeType);
		const pieces: Uint8Array[] = [];
		try {
			for await (const piece of bytes) pieces.push(piece);
		} finally {
			stored.push(Buffer.concat(pieces));
		}
		return sha256(Buffer.concat(pieces));
	});
	return { done, stored, types, runtime, passed: () => runtime.clock.now() - start };
};

const rangesOf = ({ requests }: ScriptedServer) => requests.map(({ headers }) => headers.range);

describe('a file', () => {
	it('arrives as it is', async () => {
		const server = await startServer(whole);
		await expect(download(server).done).resolves.toBe(sha256(file));
		await server.idle();
	});

	it('is asked for by its link byte for byte, unpacked and without the key', async () => {
		const path = '/a%20b/v.mp4?X-Sig=a%2Fb%2B&x=~+|';
		const server = await startServer(whole);
		await download(server, { path }).done;
		const [{ method, headers, ...request }] = server.requests;
		expect([method, request.path]).toEqual(['GET', path]);
		expect(headers).toMatchObject({ accept: '*/*', 'accept-encoding': 'identity' });
		expect(headers).not.toHaveProperty('authorization');
		expect(headers).not.toHaveProperty('range');
	});

	it('may come in single bytes', async () => {
		const small = mp4Of(20);
		const server = await startServer((response) => {
			for (const byte of small) response.write(Buffer.of(byte));
			response.end();
		});
		await expect(download(server).done).resolves.toBe(sha256(small));
	});

	it('may be packed although it should not be', async () => {
		const packed = { 'content-encoding': 'gzip', 'content-type': 'video/mp4' };
		const server = await startServer(answer(200, gzipSync(file), packed));
		await expect(download(server).done).resolves.toBe(sha256(file));
	});

	it('that was packed and cut is continued by its own bytes', async () => {
		const packed = gzipSync(file);
		const cutWhilePacked: Reply = (response) => {
			response.writeHead(200, { 'content-encoding': 'gzip' });
			response.write(packed.subarray(0, 90_000), () => breakOff(response));
		};
		const server = await startServer(cutWhilePacked, whole);
		await expect(download(server).done).resolves.toBe(sha256(file));
	});
});

describe('a transfer that breaks', () => {
	it('at every tenth is continued each time', async () => {
		const cuts = tenths.map((until) => storage(file, { until }));
		const server = await startServer(...cuts, whole);
		const { done, stored } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect(stored).toHaveLength(1);
		expect(rangesOf(server)).toEqual([undefined, ...tenths.map((first) => `bytes=${first}-`)]);
		expect(server.requests[1].headers['if-range']).toBe('"v1"');
		await server.idle();
	});

	it.each(tenths)('at byte %d is begun again where it cannot be continued', async (until) => {
		const server = await startServer(
			storage(file, { until, ranges: false }),
			storage(file, { ranges: false }),
		);
		const { done, stored } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect(stored.map(({ length }) => length)).toEqual([until, file.length]);
	});

	const dated = (day: number) => ({
		...{ etag: null, headers: { 'last-modified': `Mon, 0${day} Jan 2026 08:00:00 GMT` } },
	});

	it.each<[string, StorageOptions]>([
		['a weak tag', { etag: 'W/"v1"' }],
		['no tag', { etag: null }],
		['the same date', dated(5)],
	])('is continued with %s, which vouches for nothing', async (_, options) => {
		const server = await startServer(half(options), storage(file, options));
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=100000-']);
		expect(server.requests[1].headers).not.toHaveProperty('if-range');
	});

	it('is begun again when the file has changed', async () => {
		const server = await startServer(half(), storage(other, { etag: '"v2"' }));
		await expect(download(server).done).resolves.toBe(sha256(other));
	});

	it.each<[string, Buffer, StorageOptions, StorageOptions]>([
		['another weak tag', twin, { etag: 'W/"1"' }, { etag: 'W/"2"' }],
		['another date', twin, dated(5), dated(6)],
		['another length', longer, { etag: null }, { etag: null }],
	])('is begun again when the file has %s', async (_, changed, before, after) => {
		const server = await startServer(half(before), storage(changed, after));
		await expect(download(server).done).resolves.toBe(sha256(changed));
	});

	it('compares with what any of the parts has told', async () => {
		const untold: Reply = (response) =>
			void response.write(file.subarray(0, 50_000), () => breakOff(response));
		const server = await startServer(untold, half({ etag: 'W/"1"' }), storage(twin));
		await expect(download(server).done).resolves.toBe(sha256(twin));
	});

	it.each<[string, Reply]>([
		[
			'is of a file with another tag',
			answer(206, file.subarray(100_000), {
				etag: '"v2"',
				'content-range': `bytes 100000-${file.length - 1}/${file.length}`,
			}),
		],
		['starts elsewhere', answer(206, file.subarray(5), { 'content-range': 'bytes 5-99/100' })],
		['does not say where it starts', answer(206, file.subarray(5))],
		['names another length', answer(416, '', { 'content-range': 'bytes */7' })],
	])('is begun again when the rest %s', async (_, reply) => {
		const server = await startServer(half(), reply, whole);
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=100000-', undefined]);
	});

	it('before it is known what it brings is just made again', async () => {
		const server = await startServer(storage(file, { until: 5 }), whole);
		const { done, stored } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect([stored.length, rangesOf(server)]).toEqual([1, [undefined, undefined]]);
	});

	it('is waited with, the longer the less it brings', async () => {
		const { done, passed } = download(await startServer(half(), reset, reset, whole));
		await done;
		expect(passed()).toBe(1000 + 1000 + 2000);
	});

	it('is given up when five tries have brought nothing more', async () => {
		const server = await startServer(half(), storage(file, { until: 100_000 }));
		const { record, reach } = await failureOf(download(server).done);
		expect(server.requests).toHaveLength(5);
		expect(record.message).toMatch(/^Could not download it: (aborted|.*hang up|.*ECONNRESET)/);
		expect(reach).toBe('lost');
	});

	it('is given up when a storage that cannot continue breaks each time', async () => {
		const { done, stored } = download(await startServer(half({ ranges: false })));
		const { record } = await failureOf(done);
		expect(record.message).toBe('Could not download it: the storage does not continue a transfer');
		expect(stored).toHaveLength(6);
	});

	it('again and again has an end, though each try brings something', async () => {
		const server = await startServer((response, request) => {
			const first = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
			storage(file, { until: first + 100 })(response, request);
		});
		await failureOf(download(server).done);
		expect(server.requests).toHaveLength(101);
	});
});

describe('a length that is wrong', () => {
	const surplus = (ranges: boolean): Reply => {
		const headers = { 'content-length': file.length + 100 };
		return (response, request) => {
			const { range } = request.headers;
			if (ranges && range) return whole(response, request);
			response.writeHead(200, { etag: '"v1"', ...headers });
			response.write(file, () => breakOff(response));
		};
	};

	it.each([true, false])('and too long is seen through (with ranges: %s)', async (ranges) => {
		await expect(download(await startServer(surplus(ranges))).done).resolves.toBe(sha256(file));
	});

	const shortened: Reply = (response) => {
		response.writeHead(200, { etag: '"v1"', 'content-length': 150_000 });
		response.end(file.subarray(0, 150_000));
	};

	it('and too short is seen through where the rest can be had', async () => {
		await expect(download(await startServer(shortened, whole)).done).resolves.toBe(sha256(file));
	});

	it('and too short is reported where it cannot', async () => {
		const { record } = await failureOf(download(await startServer(shortened)).done);
		expect(record.message).toBe('Could not download it: the storage does not continue a transfer');
	});

	it('is no trouble for a file with something unknown at its end', async () => {
		const padded = Buffer.concat([file, Buffer.alloc(16)]);
		await expect(download(await startServer(storage(padded))).done).resolves.toBe(sha256(padded));
	});
});

describe('a link that has expired', () => {
	const fresh = '/fresh.mp4?sig=2';
	const expired: Reply = answer(403, '<Error><Code>AccessDenied</Code></Error>');
	/** The old link works for so many requests. */
	const serve =
		(count: number, before: Reply): Reply =>
		(response, request) => {
			const isOld = request.path !== fresh;
			const reply = isOld ? (count-- > 0 ? before : expired) : whole;
			reply(response, request);
		};
	const refreshed = async (reply: Reply) => {
		const server = await startServer(reply);
		const refresh = async () => ({ url: server.url + fresh, authenticated: false });
		return { server, ...download(server, { refresh }) };
	};

	it.each([400, 401, 403, 404, 410])('before the transfer is replaced: %d', async (status) => {
		const { done, server, passed } = await refreshed((response, request) => {
			(request.path === fresh ? whole : answer(status, ''))(response, request);
		});
		await expect(done).resolves.toBe(sha256(file));
		expect([server.requests.length, passed()]).toEqual([2, 0]);
	});

	it('during the transfer is replaced, and the transfer continued', async () => {
		const { done, server, stored } = await refreshed(serve(1, half()));
		await expect(done).resolves.toBe(sha256(file));
		expect(server.requests.map(({ path, headers }) => [path, headers.range])).toEqual([
			['/v.mp4?sig=1', undefined],
			['/v.mp4?sig=1', 'bytes=100000-'],
			[fresh, 'bytes=100000-'],
		]);
		expect(stored).toHaveLength(1);
	});

	it('during the transfer is replaced, and begun again where nothing tells whether it is the same file', async () => {
		const untold: Reply = (response) =>
			void response.write(file.subarray(0, 100_000), () => breakOff(response));
		const part = { 'content-range': `bytes 100000-${twin.length - 1}/*` };
		const rest = answer(206, twin.subarray(100_000), part);
		const server = await startServer(untold, expired, rest, answer(200, twin));
		const refresh = async () => ({ url: server.url + fresh, authenticated: false });
		await expect(download(server, { refresh }).done).resolves.toBe(sha256(twin));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=100000-', 'bytes=100000-', undefined]);
	});

	it.each<[string, Reply]>([
		['a page', page(200)],
		['JSON', json({ error: { message: 'expired' } })],
		['a few letters', answer(200, 'gone')],
	])('may bring %s with a 2xx status', async (_, reply) => {
		const { done, stored } = await refreshed(serve(1, reply));
		await expect(done).resolves.toBe(sha256(file));
		expect(stored).toHaveLength(1);
	});

	it('is not replaced for ever', async () => {
		const server = await startServer(expired);
		const { record } = await failureOf(download(server).done);
		expect(server.requests).toHaveLength(4);
		expect(record).toMatchObject({
			status: 403,
			raw_body: expect.stringContaining('AccessDenied'),
		});
	});

	it('is reported when the service gives no other', async () => {
		const server = await startServer(expired);
		const refresh = async () => {
			throw new Error('no link');
		};
		await expect(download(server, { refresh }).done).rejects.toThrow('no link');
	});
});

describe('the key', () => {
	it.each<[string, Reply, number]>([
		[
			'refusal',
			json({ error: { message: `Incorrect API key provided: Bearer ${key}` } }, 401),
			401,
		],
		['page', answer(200, `<p>Bearer ${key}</p>`), 200],
	])('is masked in a %s of who serves the file', async (_, reply, status) => {
		const server = await startServer(reply);
		const { record } = await failureOf(download(server, { authenticated: true }).done);
		expect(record).toMatchObject({ status, raw_body: expect.stringContaining('Bearer ***') });
		expect(JSON.stringify(record)).not.toContain(key);
	});

	it.each([301, 302, 303, 307, 308])(
		'is not sent to a storage, nor behind it (%d)',
		async (status) => {
			const second = await startServer(whole);
			const first = await startServer(redirect(status, `${second.url}/v.mp4?sig=a%2Fb`));
			await expect(download(first).done).resolves.toBe(sha256(file));
			for (const { headers } of [...first.requests, ...second.requests]) {
				expect(headers).not.toHaveProperty('authorization');
			}
			expect(second.requests[0].path).toBe('/v.mp4?sig=a%2Fb');
		},
	);

	const locked: Reply = (response, request) => {
		const isOpen = request.headers.authorization === `Bearer ${key}`;
		(isOpen ? whole : answer(401, ''))(response, request);
	};
	const keysSent = ({ requests }: ScriptedServer) =>
		requests.map(({ headers }) => headers.authorization);

	it('is sent to a link of the gateway that wants it, and stays with it', async () => {
		const gateway = await startServer(answer(401, ''), half(), locked);
		const downloading = download(gateway, { baseUrl: gateway.url });
		await expect(downloading.done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([undefined, `Bearer ${key}`, `Bearer ${key}`]);
		expect(rangesOf(gateway)).toEqual([undefined, undefined, 'bytes=100000-']);
	});

	it.each([401, 403])('is not sent to another host that refuses (%d)', async (status) => {
		const server = await startServer(answer(status, ''));
		await failureOf(download(server).done);
		expect(new Set(keysSent(server))).toEqual(new Set([undefined]));
	});

	it('is not sent to a link of the gateway that is refused otherwise', async () => {
		const gateway = await startServer(answer(403, ''));
		await failureOf(download(gateway, { baseUrl: gateway.url }).done);
		expect(new Set(keysSent(gateway))).toEqual(new Set([undefined]));
	});

	it('is sent to the gateway when that serves the file, and no further', async () => {
		const away = await startServer(whole);
		const gateway = await startServer(redirect(302, '/inside'), redirect(302, `${away.url}/v.mp4`));
		await expect(download(gateway, { authenticated: true }).done).resolves.toBe(sha256(file));
		const sent = [...gateway.requests, ...away.requests].map(
			({ headers }) => headers.authorization,
		);
		expect(sent).toEqual([`Bearer ${key}`, `Bearer ${key}`, undefined]);
	});

	it('is not sent when a redirect leads back to the gateway from elsewhere', async () => {
		const gateway = await startServer(
			(...exchange) => redirect(302, `${away.url}/v.mp4`)(...exchange),
			whole,
		);
		const away = await startServer(redirect(302, `${gateway.url}/back`));
		await expect(download(gateway, { authenticated: true }).done).resolves.toBe(sha256(file));
		const sent = gateway.requests.map(({ headers }) => headers.authorization);
		expect(sent).toEqual([`Bearer ${key}`, undefined]);
	});

	it('is not needed to continue behind a redirect', async () => {
		const second = await startServer(half(), whole);
		const first = await startServer(redirect(302, `${second.url}/v.mp4`));
		await expect(download(first).done).resolves.toBe(sha256(file));
		expect(rangesOf(second)).toEqual([undefined, 'bytes=100000-']);
	});
});

describe('a storage in trouble', () => {
	it('is asked again after its errors, as it wishes', async () => {
		const busy = answer(503, 'SlowDown', { 'retry-after': '17' });
		const { done, passed } = download(await startServer(reset, busy, answer(500, ''), whole));
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(1000 + 17_000 + 4000);
	});

	it('that does not answer is asked again', async () => {
		const server = await startServer(silence, whole);
		const { done, passed } = download(server, { patience: 100 });
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(61_000);
	});

	it('that falls silent is asked for the rest', async () => {
		const headers = { etag: '"v1"', 'content-length': `${file.length}` };
		const server = await startServer(stall(file.subarray(0, 50_000), headers), whole);
		const { done, passed } = download(server, { patience: 100 });
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(61_000);
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-']);
	});

	it('that sends nothing is asked five times', async () => {
		const server = await startServer(answer(200, ''));
		const { record } = await failureOf(download(server).done);
		expect(record.message).toBe('Could not download it: nothing came');
		expect(server.requests).toHaveLength(5);
	});

	it('that sends a page is quoted', async () => {
		const { record, reach } = await failureOf(download(await startServer(page(200))).done);
		expect(record).toMatchObject({ status: 200, raw_body: expect.stringContaining('nginx') });
		expect(record.message).toMatch(/^Could not download it: it is no video: <!DOCTYPE html>/);
		expect(reach).toBe('unreadable');
	});

	it('that redirects in a circle is given up', async () => {
		const server = await startServer(redirect(302, '/'));
		expect((await failureOf(download(server).done)).record.status).toBe(302);
		expect(server.requests).toHaveLength(11);
	});

	const refusedPort = async () => {
		const server = await startServer();
		await server.close();
		return server;
	};

	it.each<[string, () => Promise<Pick<ScriptedServer, 'url'>>]>([
		['refuses', async () => await startServer(answer(403, '<Error/>'))],
		['fails', async () => await startServer(answer(500, '<Error/>'))],
		['breaks off before the head', async () => await startServer(reset)],
		['breaks off', async () => await startServer(half({ until: 10 }))],
		['sends a page', async () => await startServer(page(200))],
		['sends nothing', async () => await startServer(answer(200, ''))],
		['cannot be reached', refusedPort],
	])('does not make the video less finished and paid for when it %s', async (_, start) => {
		const { record } = await failureOf(download(await start()).done);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
		expect(record.advice).toContain('collect it by its ID');
		expect(record.advice).not.toMatch(/[Nn]othing was (sent|billed)|Base URL|moderation/);
	});
});

describe('a store', () => {
	const diskFull = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
	/** As n8n's binary store: a stream into a file, which fails at that byte. */
	const failingAt = (most: number) => {
		let stored = 0;
		return new Writable({
			write(piece: Buffer, _, done) {
				stored += piece.length;
				setImmediate(() => done(stored > most ? diskFull : null));
			},
		});
	};
	const store = async (server: ScriptedServer, most: number) => {
		const source = { url: server.url, authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		await downloadVideo(gatewayTo(elsewhere), request, async (bytes) => {
			await pipeline(Readable.from(bytes), failingAt(most));
		});
	};

	it('that fails ends the transfer with its own error', async () => {
		const large = mp4Of(20_000_000);
		const server = await startServer(storage(large));
		await expect(store(server, 1_000_000)).rejects.toBe(diskFull);
		await server.idle();
		expect(server.requests).toHaveLength(1);
	});

	it('that fails while the storage is silent ends the transfer too', async () => {
		const server = await startServer(stall(file.subarray(0, 50_000)));
		await expect(store(server, 1000)).rejects.toBe(diskFull);
		await Promise.race([server.idle(), new Promise((resolve) => setTimeout(resolve, 1000))]);
		expect(server.openSockets).toBe(0);
	});

	it('that is slow does not make the storage seem silent', async () => {
		const server = await startServer(whole);
		const gateway = gatewayTo(elsewhere);
		const source = { url: server.url, authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		const stored = await downloadVideo(gateway, request, async (bytes) => {
			const pieces: Uint8Array[] = [];
			for await (const piece of bytes) {
				await gateway.runtime.clock.sleep(150_000);
				pieces.push(piece);
			}
			return sha256(Buffer.concat(pieces));
		});
		expect(stored).toBe(sha256(file));
		expect(server.requests).toHaveLength(1);
	});

	it('gives what the download gives', async () => {
		const source = { url: (await startServer(whole)).url, authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		const stored = downloadVideo(gatewayTo(elsewhere), request, async (bytes) => {
			for await (const piece of bytes) void piece;
			return 'a file id';
		});
		await expect(stored).resolves.toBe('a file id');
	});
});

describe('Stop', () => {
	it.each<[string, Reply]>([
		['before the head', silence],
		['in mid-body', stall(file.subarray(0, 50_000))],
		['within the first bytes', stall(file.subarray(0, 5))],
	])('ends a download at once: %s', async (_, reply) => {
		const server = await startServer(reply);
		const stop = new AbortController();
		const { done } = download(server, { signal: stop.signal });
		const failure = failureOf(done);
		await server.received(1);
		setTimeout(() => stop.abort(), 20);
		expect((await failure).record.message).toBe('The execution was canceled');
		await server.idle();
		expect(server.requests).toHaveLength(1);
	});

	it('that was pressed before asks for nothing', async () => {
		const server = await startServer(whole);
		const failure = await failureOf(download(server, { signal: AbortSignal.abort() }).done);
		expect(failure.record.message).toBe('The execution was canceled');
		expect(server.requests).toEqual([]);
	});

	it('does not make the video less finished and paid for', async () => {
		const server = await startServer(silence);
		const stop = new AbortController();
		const failure = failureOf(download(server, { signal: stop.signal }).done);
		await server.received(1);
		stop.abort();
		expect((await failure).record.billed).toBe('yes');
	});
});

describe('a video that is no mp4', () => {
	const { WebM: webm, QuickTime: quickTime } = otherVideos;
	const cases = Object.entries(otherVideos);

	it.each(cases)('arrives as what it is: %s', async (_, { bytes, mimeType }) => {
		for (const type of ['video/mp4', 'application/octet-stream', 'text/plain']) {
			const server = await startServer(storage(bytes, { headers: { 'content-type': type } }));
			const { done, types } = download(server);
			await expect(done).resolves.toBe(sha256(bytes));
			expect(types).toEqual([mimeType]);
			expect(server.requests).toHaveLength(1);
		}
	});

	it.each(cases)('is continued where it broke off: %s', async (_, { bytes }) => {
		const cuts = [100, 300, 50_000, bytes.length - 1].map((until) => storage(bytes, { until }));
		const server = await startServer(...cuts, storage(bytes));
		const { done, stored } = download(server);
		await expect(done).resolves.toBe(sha256(bytes));
		expect(stored).toHaveLength(1);
		expect(rangesOf(server).slice(-2)).toEqual(['bytes=50000-', `bytes=${bytes.length - 1}-`]);
	});

	it('may come in single bytes', async () => {
		const bytes = webm.bytes.subarray(0, 2000);
		const server = await startServer((response) => {
			for (const byte of bytes) response.write(Buffer.of(byte));
			response.end();
		});
		const { done, types } = download(server);
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual([webm.mimeType]);
	});

	it('arrives as what its storage host calls it when its bytes do not tell', async () => {
		const bytes = Buffer.alloc(100_000, 3);
		const headers = { 'content-type': 'video/x-new; charset=binary' };
		const { done, types } = download(await startServer(storage(bytes, { headers })));
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual(['video/x-new']);
	});

	it('is not passed on when it breaks off and cannot be had whole', async () => {
		const half = storage(webm.bytes, { until: 50_000, ranges: false });
		const { done } = download(await startServer(half));
		const { record } = await failureOf(done);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
	});

	it('of QuickTime has to end with its boxes, as an mp4 has', async () => {
		const cutInOrder = answer(200, quickTime.bytes.subarray(0, 50_000), { etag: '"v1"' });
		const server = await startServer(cutInOrder, storage(quickTime.bytes));
		await expect(download(server).done).resolves.toBe(sha256(quickTime.bytes));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-']);
	});

	it('is asked for the rest of which a storage host sends a part only', async () => {
		const { bytes } = webm;
		const total = bytes.length;
		const middle = answer(206, bytes.subarray(50_000, 70_000), {
			...{ etag: '"v1"', 'content-range': `bytes 50000-69999/${total}` },
		});
		const server = await startServer(storage(bytes, { until: 50_000 }), middle, storage(bytes));
		await expect(download(server).done).resolves.toBe(sha256(bytes));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-', 'bytes=70000-']);
	});

	it('is begun again as another kind when the file has changed', async () => {
		const server = await startServer(
			storage(webm.bytes, { until: 50_000 }),
			storage(file, { etag: '"v2"' }),
		);
		const { done, types } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect(types).toEqual(['video/webm', 'video/mp4']);
	});

	const error = '<?xml version="1.0"?><Error><Code>Internal</Code></Error>';

	it.each<[string, Reply, string]>([
		[
			'a page',
			answer(200, `<html>${'x'.repeat(1000)}</html>`, { 'content-type': 'video/mp4' }),
			'<html>x',
		],
		['JSON', answer(200, '{"error": "no"}', { 'content-type': 'video/mp4' }), '{"error": "no"}'],
		['XML', answer(200, error, { 'content-type': 'video/webm' }), '<?xml'],
		[
			'of other bytes, and called an mp4',
			answer(200, Buffer.alloc(100_000, 3), { 'content-type': 'video/mp4' }),
			'a file of another kind (video/mp4)',
		],
		[
			'a picture',
			answer(
				200,
				Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'), Buffer.alloc(999)]),
				{
					'content-type': 'image/png',
				},
			),
			'a file of another kind (image/png)',
		],
	])('is not what is %s: a fresh link is asked for', async (_, reply, said) => {
		const server = await startServer(reply, reply, whole);
		let links = 0;
		const source = { url: `${server.url}/fresh.mp4`, authenticated: false };
		const refresh = async () => {
			links++;
			return source;
		};
		const { done, stored } = download(server, { refresh });
		await expect(done).resolves.toBe(sha256(file));
		expect([links, stored.length]).toEqual([2, 1]);

		const { record } = await failureOf(download(await startServer(reply)).done);
		expect(record.message).toContain(`Could not download it: it is no video: ${said}`);
	});

	it('leaves nothing open when the store does not want it', async () => {
		const server = await startServer(
			storage(webm.bytes, { headers: { 'content-length': 999_999 } }),
		);
		const source = { url: server.url, authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		const refusing = downloadVideo(gatewayTo(elsewhere), request, async () => {
			throw new Error('no room');
		});
		await expect(refusing).rejects.toThrow('no room');
		await server.idle();
		expect(server.requests).toHaveLength(1);
	});
});
