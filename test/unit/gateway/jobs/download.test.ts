import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { Store } from '../../../../nodes/shared/gateway/client/transferRequest';
import { downloadVideo } from '../../../../nodes/shared/gateway/jobs/download';
import { mp4Of } from '../../../support/files/boxes';
import { failureOf, gatewayTo } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	breakOff,
	page,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';
import { publicUrl } from '../../../support/http/publicNames';
import { storage } from '../../../support/http/scriptedStorage';
import {
	download,
	elsewhere,
	file,
	half,
	rangesOf,
	whole,
} from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

describe('downloads', () => {
	it('requests the link byte for byte, uncompressed and without the key', async () => {
		const path = '/a%20b/v.mp4?X-Sig=a%2Fb%2B&x=~+|';
		const server = await startServer(whole);
		await download(server, { path }).done;
		const [{ method, headers, ...request }] = server.requests;
		expect([method, request.path]).toEqual(['GET', path]);
		expect(headers).toMatchObject({ accept: '*/*', 'accept-encoding': 'identity' });
		expect(headers).not.toHaveProperty('authorization');
		expect(headers).not.toHaveProperty('range');
	});

	it('resumes a compressed file at the last decompressed byte received', async () => {
		const packed = gzipSync(file);
		const cutWhilePacked: Reply = (response) => {
			response.writeHead(200, { 'content-encoding': 'gzip' });
			response.write(packed.subarray(0, 90_000), () => breakOff(response));
		};
		const server = await startServer(cutWhilePacked, whole);
		await expect(download(server).done).resolves.toBe(sha256(file));
	});
});

describe('storage hosts that fail', () => {
	it('requests a file again after an error, when Retry-After says so', async () => {
		const busy = answer(503, 'SlowDown', { 'retry-after': '17' });
		const { done, passed } = download(await startServer(reset, busy, answer(500, ''), whole));
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(1000 + 17_000 + 4000);
	});

	it('requests the rest of a file when no more bytes arrive', async () => {
		const headers = { etag: '"v1"', 'content-length': `${file.length}` };
		const server = await startServer(stall(file.subarray(0, 50_000), headers), whole);
		const { done, passed } = download(server, { patience: 100 });
		await expect(done).resolves.toBe(sha256(file));
		expect(passed()).toBe(61_000);
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-']);
	});

	it('gives up on a download after five attempts without a byte', async () => {
		const server = await startServer(answer(200, ''));
		const { record } = await failureOf(download(server).done);
		expect(record.message).toBe('Could not download it: no data arrived');
		expect(server.requests).toHaveLength(5);
	});

	it('quotes the page that came instead of the file', async () => {
		const { record, reach } = await failureOf(download(await startServer(page(200))).done);
		expect(record).toMatchObject({ status: 200, raw_body: expect.stringContaining('nginx') });
		expect(record.message).toMatch(/^Could not download it: it is no video: <html>/);
		expect(reach).toBe('unreadable');
	});

	const refusedPort = async () => {
		const server = await startServer();
		await server.close();
		return server;
	};

	it.each<[string, () => Promise<Pick<ScriptedServer, 'url'>>]>([
		['refuses', async () => await startServer(answer(403, '<Error/>'))],
		['breaks off', async () => await startServer(half({ until: 10 }))],
		['cannot be reached', refusedPort],
	])('says that the video is finished and charged when the storage host %s', async (_, start) => {
		const { record } = await failureOf(download(await start()).done);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
		expect(record.advice).toContain('Collect it by its ID');
		expect(record.advice).not.toMatch(/nothing was (sent|billed)|Base URL|moderation/i);
	});
});

describe('the store of a download', () => {
	const diskFull = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
	/** Like n8n's binary store: a stream into a file, which fails after this many bytes. */
	const failingAt = (max: number) => {
		let stored = 0;
		return new Writable({
			write(chunk: Buffer, _, done) {
				stored += chunk.length;
				setImmediate(() => done(stored > max ? diskFull : null));
			},
		});
	};
	const storeWith = async (server: ScriptedServer, consume: Store<unknown>) => {
		const source = { url: publicUrl(server.url), authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		return await downloadVideo(gatewayTo(elsewhere), request, consume);
	};

	const large = storage(mp4Of(20_000_000));
	// Simulated time stands still while a request is under way, so a wait for the idle timeout would never end.
	const stalled = stall(file.subarray(0, 50_000));
	const failing: Array<[string, Store<unknown>]> = [
		[
			'a pipeline into a full disk',
			async (bytes) => await pipeline(Readable.from(bytes), failingAt(1000)),
		],
		[
			'a pipeline into a function that throws',
			async (bytes) =>
				await pipeline(Readable.from(bytes), async (chunks) => {
					for await (const chunk of chunks) if (chunk.length > 0) throw diskFull;
				}),
		],
		[
			'a loop',
			async (bytes) => {
				for await (const chunk of bytes) if (chunk.length > 0) throw diskFull;
			},
		],
		[
			'an iterator, while it waits for a chunk',
			async (bytes) => {
				const chunks = bytes[Symbol.asyncIterator]();
				await chunks.next();
				chunks.next().catch(() => undefined);
				await chunks.throw?.(diskFull);
			},
		],
	];
	const stopping: Array<[string, Store<unknown>]> = [
		[
			'a pipeline',
			async (bytes) =>
				await pipeline(Readable.from(bytes), async (chunks) => {
					for await (const chunk of chunks) if (chunk.length > 0) break;
				}),
		],
		[
			'a loop',
			async (bytes) => {
				for await (const chunk of bytes) if (chunk.length > 0) break;
			},
		],
		[
			'an iterator, while it waits for a chunk',
			async (bytes) => {
				const chunks = bytes[Symbol.asyncIterator]();
				await chunks.next();
				chunks.next().catch(() => undefined);
				await chunks.return?.();
			},
		],
	];
	const hosts: Array<[string, Reply]> = [
		['bytes arrive', large],
		['the host stalls', stalled],
	];
	const during = (stores: Array<[string, Store<unknown>]>) =>
		hosts.flatMap(([host, reply]) =>
			stores.map(([name, consume]) => [name, host, consume, reply] as const),
		);

	it.each(during(failing))(
		'ends the download at once with the error of a store that fails: %s, while %s',
		async (_, __, consume, reply) => {
			const server = await startServer(reply);
			await expect(storeWith(server, consume)).rejects.toBe(diskFull);
			await server.idle();
			expect(server.requests).toHaveLength(1);
		},
	);

	it.each(during(stopping))(
		'ends the download at once when the store wants no more: %s, while %s',
		async (_, __, consume, reply) => {
			const server = await startServer(reply);
			await storeWith(server, consume);
			await server.idle();
			expect(server.requests).toHaveLength(1);
		},
	);

	it('does not apply the idle timeout to a slow store', async () => {
		const server = await startServer(whole);
		const gateway = gatewayTo(elsewhere);
		const source = { url: publicUrl(server.url), authenticated: false };
		const request = { source, refresh: async () => source, purpose: 'download it' };
		const downloaded = await downloadVideo(gateway, request, async (bytes) => {
			const chunks: Uint8Array[] = [];
			for await (const chunk of bytes) {
				await gateway.runtime.clock.sleep(150_000);
				chunks.push(chunk);
			}
			return sha256(Buffer.concat(chunks));
		});
		expect(downloaded.stored).toBe(sha256(file));
		expect(server.requests).toHaveLength(1);
	});
});

describe('Stop', () => {
	it.each<[string, Reply]>([
		['before the headers', silence],
		['in the middle of the body', stall(file.subarray(0, 50_000))],
		['within the first bytes', stall(file.subarray(0, 5))],
	])('ends a download at once at Stop: %s', async (_, reply) => {
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

	it('sends no request when Stop was pressed before the download', async () => {
		const server = await startServer(whole);
		const failure = await failureOf(download(server, { signal: AbortSignal.abort() }).done);
		expect(failure.record.message).toBe('The execution was canceled');
		expect(server.requests).toEqual([]);
	});
});
