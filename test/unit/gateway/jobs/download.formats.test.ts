import { downloadVideo } from '../../../../nodes/shared/gateway/jobs/download';
import { box } from '../../../support/files/boxes';
import { failureOf, gatewayTo } from '../../../support/workflows/gatewayWorld';
import { jpegOf } from '../../../support/files/jpegs';
import { otherVideos } from '../../../support/data/otherVideos';
import { answer, startServer, type Reply } from '../../../support/http/scriptedServer';
import { storage } from '../../../support/http/scriptedStorage';
import {
	download,
	elsewhere,
	file,
	rangesOf,
	whole,
} from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

describe('videos in other formats than mp4', () => {
	const { WebM: webm, QuickTime: quickTime } = otherVideos;
	const cases = Object.entries(otherVideos);

	it.each(cases)(
		'delivers a video in another format as what it is: %s',
		async (_, { bytes, mimeType }) => {
			for (const type of ['video/mp4', 'application/octet-stream', 'text/plain']) {
				const server = await startServer(storage(bytes, { headers: { 'content-type': type } }));
				const { done, types } = download(server);
				await expect(done).resolves.toBe(sha256(bytes));
				expect(types).toEqual([mimeType]);
				expect(server.requests).toHaveLength(1);
			}
		},
	);

	it.each(cases)(
		'resumes a video in another format at the last byte received: %s',
		async (_, { bytes }) => {
			const cuts = [100, 300, 50_000, bytes.length - 1].map((until) => storage(bytes, { until }));
			const server = await startServer(...cuts, storage(bytes));
			const { done, stored } = download(server);
			await expect(done).resolves.toBe(sha256(bytes));
			expect(stored).toHaveLength(1);
			expect(rangesOf(server).slice(-2)).toEqual(['bytes=50000-', `bytes=${bytes.length - 1}-`]);
		},
	);

	it('recognises a WebM file that arrives byte by byte', async () => {
		const bytes = webm.bytes.subarray(0, 2000);
		const server = await startServer((response) => {
			for (const byte of bytes) response.write(Buffer.of(byte));
			response.end();
		});
		const { done, types } = download(server);
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual([webm.mimeType]);
	});

	it.each([
		['video/x-new; charset=binary', 'video/x-new'],
		['video/mp4', 'application/octet-stream'],
		['application/octet-stream', 'application/octet-stream'],
		['text/html', 'application/octet-stream'],
	])('delivers unknown bytes that are called %s as %s', async (declared, type) => {
		const bytes = Buffer.alloc(100_000, 3);
		const headers = { 'content-type': declared };
		const { done, types } = download(await startServer(storage(bytes, { headers })));
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual([type]);
	});

	it.each<[string, Buffer, string]>([
		['a JPEG image', jpegOf('teal'), 'image/jpeg'],
		['a HEIC image', box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')), 'image/heic'],
		['an M4A sound', box('ftyp', Buffer.from('M4A \0\0\0\0')), 'audio/mp4'],
		['a PDF', Buffer.from('%PDF-1.7 not long'), 'application/pdf'],
	])('delivers %s as what it is, because it is charged', async (_, bytes, type) => {
		const { done, types } = download(await startServer(storage(bytes)));
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual([type]);
	});

	it('fails when a WebM file breaks off and the rest cannot be fetched', async () => {
		const half = storage(webm.bytes, { until: 50_000, ranges: false });
		const { done } = download(await startServer(half));
		const { record } = await failureOf(done);
		expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
	});

	it('accepts a QuickTime file only when all its boxes have arrived', async () => {
		const cutInOrder = answer(200, quickTime.bytes.subarray(0, 50_000), { etag: '"v1"' });
		const server = await startServer(cutInOrder, storage(quickTime.bytes));
		await expect(download(server).done).resolves.toBe(sha256(quickTime.bytes));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-']);
	});

	it('requests the rest of a video when the storage host sends only a part of it', async () => {
		const { bytes } = webm;
		const total = bytes.length;
		const middle = answer(206, bytes.subarray(50_000, 70_000), {
			...{ etag: '"v1"', 'content-range': `bytes 50000-69999/${total}` },
		});
		const server = await startServer(storage(bytes, { until: 50_000 }), middle, storage(bytes));
		await expect(download(server).done).resolves.toBe(sha256(bytes));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=50000-', 'bytes=70000-']);
	});

	it('starts a download again in another format when the file has changed', async () => {
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
	])(
		'requests a fresh link when the storage host sends %s instead of a video',
		async (_, reply, said) => {
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
		},
	);

	it('leaves no connection open when the store refuses a video', async () => {
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
