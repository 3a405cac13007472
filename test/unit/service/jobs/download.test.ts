import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { FileSource } from '../../../../nodes/shared/service/client/fileRequest';
import type { Store } from '../../../../nodes/shared/service/client/transfer';
import {
	downloadVideo,
	type DownloadRequest,
} from '../../../../nodes/shared/service/jobs/download';
import { box, mp4Of } from '../../../support/files/boxes';
import {
	failureOf,
	gatewayTo,
	key,
	type WorldOptions,
} from '../../../support/workflows/gatewayWorld';
import {
	answer,
	breakOff,
	page,
	redirect,
	reset,
	stall,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';
import { publicUrl } from '../../../support/http/publicNames';
import { storage, type StorageOptions } from '../../../support/http/scriptedStorage';
import { otherVideos } from '../../../support/data/otherVideos';
import { sha256 } from '../../../support/data/sha256';

const file = mp4Of(200_000);
/** Another file of the same length. */
const twin = mp4Of(200_000);
/** Storages that send the whole file, and that break off in the middle. */
const whole = storage(file);
const half = (options: StorageOptions = {}) => storage(file, { until: 100_000, ...options });

/** An address without a storage. */
const elsewhere = 'https://gateway.example';

interface Downloading extends WorldOptions {
	path?: string;
	/** The base URL of the gateway. */
	baseUrl?: string;
	authenticated?: boolean;
	/** Whether it is the content of a video job, and not the link of a task. */
	mayNeedKey?: true;
	refresh?: DownloadRequest['refresh'];
	timeout?: DownloadRequest['timeout'];
	/** Called whenever bytes have reached the store. */
	onBytes?: () => Promise<void> | void;
}

/** Downloads from a storage host with a public name, unless it is the gateway, into memory, and also returns what was stored at each try, and as which type. */
const download = (
	{ url }: Pick<ScriptedServer, 'url'>,
	{
		path = '/v.mp4?sig=1',
		authenticated = false,
		mayNeedKey,
		refresh,
		timeout,
		onBytes,
		baseUrl = elsewhere,
		...options
	}: Downloading = {},
) => {
	const gateway = gatewayTo(baseUrl, options);
	const { runtime } = gateway;
	const stored: Buffer[] = [];
	const types: string[] = [];
	const start = runtime.clock.now();
	const host = baseUrl === elsewhere ? publicUrl(url) : url;
	const source: FileSource = { url: host + path, authenticated, mayNeedKey };
	const request = {
		source,
		timeout,
		purpose: 'download it',
		refresh: refresh ?? (async () => source),
	};
	const downloading = downloadVideo(gateway, request, async (bytes, { mimeType }) => {
		types.push(mimeType);
		const pieces: Uint8Array[] = [];
		try {
			for await (const piece of bytes) {
				pieces.push(piece);
				await onBytes?.();
			}
		} finally {
			stored.push(Buffer.concat(pieces));
		}
		return sha256(Buffer.concat(pieces));
	});
	const done = downloading.then(({ stored: hash }) => hash);
	return { done, downloading, stored, types, runtime, passed: () => runtime.clock.now() - start };
};

const rangesOf = ({ requests }: ScriptedServer) => requests.map(({ headers }) => headers.range);

const resumed = 'bytes=100000-';
const unfinished = Buffer.concat([
	box('ftyp', Buffer.from('isom\0\0\0\0mp42isom')),
	box('mdat', Buffer.alloc(50_000, 7)),
]);

/** Sends bytes without their length. */
const unannounced =
	(bytes: Uint8Array, headers = {}): Reply =>
	(response) => {
		response.writeHead(200, { 'content-type': 'video/mp4', ...headers });
		response.write(bytes, () => response.end());
	};
/** Sends bytes, and then breaks the connection. */
const broken =
	(bytes: Uint8Array, headers = {}): Reply =>
	(response) => {
		response.writeHead(200, headers);
		response.write(bytes, () => breakOff(response));
	};

it('requests the link byte for byte, uncompressed', async () => {
	const path = '/a%20b/v.mp4?X-Sig=a%2Fb%2B&x=~+|';
	const server = await startServer(whole);
	await download(server, { path }).done;
	expect(server.requests).toMatchObject([
		{ method: 'GET', path, headers: { accept: '*/*', 'accept-encoding': 'identity' } },
	]);
});

describe('a download that breaks off', () => {
	const rest = (etag: string) =>
		answer(206, file.subarray(100_000), {
			etag,
			'content-range': `bytes 100000-${file.length - 1}/${file.length}`,
		});
	const tooLong = { etag: '"v1"', 'content-length': file.length + 100 };

	it.each<[string, Reply[], ranges: Array<string | undefined>]>([
		['the rest is requested', [half(), whole], [undefined, resumed]],
		[
			'no range is served',
			[half({ ranges: false }), storage(file, { ranges: false })],
			[undefined, resumed],
		],
		['the rest has another ETag', [half(), rest('"v2"'), whole], [undefined, resumed, undefined]],
		[
			'the rest starts at another byte',
			[half(), answer(206, file.subarray(5), { 'content-range': 'bytes 5-99/100' }), whole],
			[undefined, resumed, undefined],
		],
		[
			'the file has another length',
			[half(), answer(416, '', { 'content-range': 'bytes */7' }), whole],
			[undefined, resumed, undefined],
		],
		[
			'a part comes that nobody asked for',
			[answer(206, file.subarray(5), { 'content-range': 'bytes 5-99/100' }), whole],
			[undefined, undefined],
		],
		[
			'each request for the rest is refused',
			[half(), ...Array<Reply>(4).fill(answer(403, '')), whole],
			[undefined, ...Array<string>(4).fill(resumed), undefined],
		],
		[
			'more was announced than there is',
			[broken(file, tooLong), whole],
			[undefined, `bytes=${file.length}-`],
		],
	])('brings the whole file where %s', async (_, replies, ranges) => {
		const server = await startServer(...replies);
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual(ranges);
		await server.idle();
	});

	const dated = (day: number) => ({
		etag: null,
		headers: { 'last-modified': `Mon, 0${day} Jan 2026 08:00:00 GMT` },
	});

	it.each<[string, StorageOptions, ifRange: string | undefined]>([
		['an ETag', {}, '"v1"'],
		['a weak ETag', { etag: 'W/"v1"' }, undefined],
		['only a date', dated(5), undefined],
	])('resumes the same file where the storage host gives %s', async (_, options, ifRange) => {
		const server = await startServer(half(options), storage(file, options));
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual([undefined, resumed]);
		expect(server.requests[1].headers['if-range']).toBe(ifRange);
	});

	const longer = Buffer.concat([twin, Buffer.alloc(16)]);

	it.each<[string, Buffer, Reply[]]>([
		['another weak ETag', twin, [half({ etag: 'W/"1"' }), storage(twin, { etag: 'W/"2"' })]],
		['another date', twin, [half(dated(5)), storage(twin, dated(6))]],
		['another length', longer, [half({ etag: null }), storage(longer, { etag: null })]],
		[
			'another ETag than an earlier part',
			twin,
			[broken(file.subarray(0, 50_000)), half({ etag: 'W/"1"' }), storage(twin)],
		],
	])('starts again where the file now has %s', async (_, changed, replies) => {
		const server = await startServer(...replies);
		await expect(download(server).done).resolves.toBe(sha256(changed));
	});

	const packed = broken(gzipSync(file).subarray(0, 90_000), { 'content-encoding': 'gzip' });

	it.each<[string, Reply[]]>([
		['is compressed', [packed, whole]],
		['is announced too long by a host that cannot resume', [broken(file, tooLong)]],
	])('is whole although the file %s', async (_, replies) => {
		const server = await startServer(...replies);
		await expect(download(server).done).resolves.toBe(sha256(file));
	});
});

describe('a video in another format', () => {
	it.each(Object.entries(otherVideos))('arrives whole and as what it is: %s', async (_, video) => {
		const { bytes, mimeType } = video;
		for (const type of ['video/mp4', 'text/plain']) {
			const cuts = [100, 300, bytes.length - 1].map((until) => {
				return storage(bytes, { until, headers: { 'content-type': type } });
			});
			const server = await startServer(...cuts, storage(bytes));
			const { done, stored, types } = download(server);
			await expect(done).resolves.toBe(sha256(bytes));
			expect([stored.length, types]).toEqual([1, [mimeType]]);
			expect(rangesOf(server).at(-1)).toBe(`bytes=${bytes.length - 1}-`);
		}
	});

	it('arrives whole from a host that sends it in parts', async () => {
		const { bytes } = otherVideos.WebM;
		const parts: Reply = (response, request) => {
			const first = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
			const part = bytes.subarray(first, first + 40_000);
			const place = `bytes ${first}-${first + part.length - 1}/${bytes.length}`;
			answer(206, part, { 'content-range': place })(response, request);
		};
		const server = await startServer(parts);
		await expect(download(server).done).resolves.toBe(sha256(bytes));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=40000-', 'bytes=80000-']);
	});
});

describe('a storage host that fails', () => {
	it('is asked again when Retry-After says so', async () => {
		const busy = answer(503, 'SlowDown', { 'retry-after': '17' });
		const { done, passed } = download(await startServer(reset, busy, answer(500, ''), whole));
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(1000 + 17_000 + 4000);
	});

	it('is asked for the rest of a file when no more bytes arrive', async () => {
		const headers = { etag: '"v1"', 'content-length': `${file.length}` };
		const server = await startServer(stall(file.subarray(0, 50_000), headers), whole);
		const { done, passed } = download(server, { patience: 100 });
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(61_000);
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-']);
	});

	const cut = storage(file, { until: 100_000 });
	const isBroken = /^Could not download it: (aborted|.*hang up|.*ECONNRESET)/;

	it.each<[string, Reply[], said: RegExp, requests: number]>([
		['sends no byte', [answer(200, '')], /: no data arrived$/, 5],
		['refuses', [answer(403, '<Error/>')], /\(HTTP 403\)$/, 4],
		['always breaks off at the same byte', [half(), cut], isBroken, 5],
		['cannot resume', [half({ ranges: false })], /: aborted, .* cannot resume a transfer$/, 12],
		['sends a page', [page(200)], /: it is no video: <html>/, 4],
		['sends no index of an mp4', [unannounced(unfinished)], /the file ends too early/, 12],
	])('is given up when it %s, and the charged video can be collected', async (_, ...given) => {
		const [replies, said, requests] = given;
		const server = await startServer(...replies);
		const { record } = await failureOf(download(server).done);
		expect(record.message).toMatch(said);
		expect(server.requests).toHaveLength(requests);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
		expect(record.advice).toContain('Collect it by its ID');
		expect(record.advice).not.toMatch(/nothing was (sent|billed)|Base URL|moderation/i);
	});

	it.each<[string, Reply]>([
		['a page', answer(200, `<html>${'x'.repeat(1000)}</html>`, { 'content-type': 'video/mp4' })],
		['XML', answer(200, '<?xml version="1.0"?><Error/>', { 'content-type': 'video/webm' })],
	])('is asked for a fresh link when it sends %s instead of a video', async (_, reply) => {
		const server = await startServer(reply, reply, whole);
		const source = { url: `${publicUrl(server.url)}/fresh.mp4`, authenticated: false };
		const refresh = jest.fn(async () => source);
		const { done, stored } = download(server, { refresh });
		await expect(done).resolves.toBe(sha256(file));
		expect([refresh.mock.calls.length, stored.length]).toEqual([2, 1]);
	});

	it.each<[string, Reply[], requests: number]>([
		['its announced bytes are there', [storage(unfinished)], 1],
		['the host then says that it ends there', [unannounced(unfinished), storage(unfinished)], 2],
	])('has its mp4 without an index delivered once %s', async (_, replies, requests) => {
		const server = await startServer(...replies);
		await expect(download(server).downloading).resolves.toMatchObject({
			stored: sha256(unfinished),
			state: 'lacksIndex',
		});
		expect(server.requests).toHaveLength(requests);
	});
});

it.each([
	[30_000, 6, {}, '60'],
	[600_000, 60, {}, '600'],
	[1000, 4, { 'content-length': file.length }, '60'],
])(
	'takes no longer than the wait, a minute at least: %d ms',
	async (timeout, pause, head, most) => {
		let sendNext = () => {};
		const server = await startServer((response) => {
			response.writeHead(200, { 'content-type': 'video/mp4', ...head });
			let offset = 0;
			sendNext = () => {
				response.write(file.subarray(offset, (offset += offset === 0 ? 20_000 : 10_000)));
				if (offset >= file.length) response.end();
			};
			sendNext();
		});
		const onBytes = () => {
			runtime.clock.move(pause * 1000);
			sendNext();
		};
		const { runtime, done } = download(server, { timeout, onBytes });
		const { record } = await failureOf(done);
		expect(record.message).toContain(`the file took longer than ${most} seconds`);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
		expect(server.requests).toHaveLength(1);
	},
);

describe('the store of a download', () => {
	const diskFull = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
	/** Like n8n's binary store: a stream into a file. */
	const fullDisk = () =>
		new Writable({ write: (_, __, done) => void setImmediate(() => done(diskFull)) });
	const large = storage(mp4Of(20_000_000));
	// Simulated time stands still while a request is under way, so a wait for the idle timeout would never end.
	const stalled = stall(file.subarray(0, 50_000));

	it.each<[string, Store<unknown>]>([
		['a full disk', async (bytes) => await pipeline(Readable.from(bytes), fullDisk())],
		[
			'a loop',
			async (bytes) => {
				for await (const chunk of bytes) if (chunk.length > 0) throw diskFull;
			},
		],
	])('ends the download at once with its own error: %s', async (_, consume) => {
		for (const reply of [large, stalled]) {
			const server = await startServer(reply);
			const source = { url: publicUrl(server.url), authenticated: false };
			const request = { source, refresh: async () => source, purpose: 'download it' };
			const downloading = downloadVideo(gatewayTo(elsewhere), request, consume);
			await expect(downloading).rejects.toBe(diskFull);
			await server.idle();
			expect(server.requests).toHaveLength(1);
		}
	});

	it('may be slow', async () => {
		const { runtime, done } = download(await startServer(whole), {
			onBytes: async () => await runtime.clock.sleep(150_000),
		});
		await expect(done).resolves.toBe(sha256(file));
	});
});

describe('a link that has expired', () => {
	const fresh = '/fresh.mp4?sig=2';

	it.each([302, 400, 401, 402, 403, 404, 409, 410, 423])(
		'is replaced at once after HTTP %d',
		async (status) => {
			const server = await startServer((response, request) => {
				(request.path === fresh ? whole : answer(status, ''))(response, request);
			});
			const refresh = async () => ({ url: publicUrl(server.url) + fresh, authenticated: false });
			const { done, passed } = download(server, { refresh });
			await expect(done).resolves.toBe(sha256(file));
			expect([server.requests.length, passed()]).toEqual([2, 0]);
		},
	);

	it('is replaced when it redirects in a circle', async () => {
		const server = await startServer((response, request) => {
			(request.path === fresh ? whole : redirect(302, request.path))(response, request);
		});
		const refresh = async () => ({ url: publicUrl(server.url) + fresh, authenticated: false });
		await expect(download(server, { refresh }).done).resolves.toBe(sha256(file));
	});

	it('is replaced again after some seconds when a storage host does not have the file yet', async () => {
		const server = await startServer(answer(404, ''), answer(404, ''), answer(404, ''), whole);
		const { done, passed } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(2000 + 4000);
	});
});

describe('the key', () => {
	const bearer = `Bearer ${key}`;
	const keysSent = (...servers: ScriptedServer[]) =>
		servers.flatMap(({ requests }) => requests.map(({ headers }) => headers.authorization));

	it.each([301, 302, 303, 307, 308])(
		'goes neither to a storage host nor to where it redirects (%d)',
		async (status) => {
			const second = await startServer(whole);
			const first = await startServer(redirect(status, `${publicUrl(second.url)}/v.mp4?sig=a%2Fb`));
			await expect(download(first).done).resolves.toBe(sha256(file));
			expect(keysSent(first, second)).toEqual([undefined, undefined]);
			expect(second.requests[0].path).toBe('/v.mp4?sig=a%2Fb');
		},
	);

	it("goes to the gateway once it refuses to serve a video's content without it", async () => {
		const locked: Reply = (response, request) => {
			const isOpen = request.headers.authorization === bearer;
			(isOpen ? whole : answer(401, ''))(response, request);
		};
		const gateway = await startServer(answer(401, ''), half(), locked);
		const downloading = download(gateway, { baseUrl: gateway.url, mayNeedKey: true });
		await expect(downloading.done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([undefined, bearer, bearer]);
		expect(rangesOf(gateway)).toEqual([undefined, undefined, 'bytes=100000-']);
	});

	it.each<[string, status: number, isOfGateway: boolean, mayNeedKey: true | undefined]>([
		['another host that asks for it', 401, false, true],
		['another host that refuses', 403, false, undefined],
		['a link of the gateway that is refused with 403', 403, true, true],
		["a task's link, although it leads to the gateway", 401, true, undefined],
	])('does not go to %s', async (_, status, isOfGateway, mayNeedKey) => {
		const server = await startServer(answer(status, ''));
		const baseUrl = isOfGateway ? server.url : undefined;
		await failureOf(download(server, { baseUrl, mayNeedKey }).done);
		expect(new Set(keysSent(server))).toEqual(new Set([undefined]));
	});

	it('goes with a redirect only as long as it stays below the base URL', async () => {
		const away = await startServer(whole);
		const gateway = await startServer(redirect(302, '/gw/in'), redirect(302, `${away.url}/v.mp4`));
		const settings = { baseUrl: `${gateway.url}/gw`, path: '/gw/v.mp4', authenticated: true };
		await expect(download(gateway, settings).done).resolves.toBe(sha256(file));
		expect(keysSent(gateway, away)).toEqual([bearer, bearer, undefined]);

		const host = await startServer(redirect(302, '/other-team/v.mp4'), whole);
		const leaving = { ...settings, baseUrl: `${host.url}/gw` };
		await expect(download(host, leaving).done).resolves.toBe(sha256(file));
		expect(keysSent(host)).toEqual([bearer, undefined]);
	});

	it('does not go with a redirect that leads back to the gateway from another host', async () => {
		const gateway = await startServer(
			(...exchange) => redirect(302, `${publicUrl(away.url)}/v.mp4`)(...exchange),
			whole,
		);
		const away = await startServer(redirect(302, `${publicUrl(gateway.url)}/back`));
		await expect(download(gateway, { authenticated: true }).done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([bearer, undefined]);
	});
});
