import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { downloadVideo } from '../../nodes/shared/gateway/jobs/download';
import { mp4Of, sha256 } from '../support/boxes';
import { failureOf, gatewayTo } from '../support/gatewayWorld';
import {
	answer,
	breakOff,
	page,
	redirect,
	reset,
	silence,
	stall,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../support/scriptedServer';
import { storage } from '../support/scriptedStorage';
import { download, elsewhere, file, half, rangesOf, whole } from '../support/videoDownload';

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
