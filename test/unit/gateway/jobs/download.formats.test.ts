import { failureOf } from '../../../support/workflows/gatewayWorld';
import { otherVideos } from '../../../support/data/otherVideos';
import { answer, startServer, type Reply } from '../../../support/http/scriptedServer';
import { publicUrl } from '../../../support/http/publicNames';
import { storage } from '../../../support/http/scriptedStorage';
import { download, file, rangesOf, whole } from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

describe('videos in other formats than mp4', () => {
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

	it.each([
		['video/x-new; charset=binary', 'video/x-new'],
		['video/mp4', 'application/octet-stream'],
		['text/html', 'application/octet-stream'],
	])('delivers unknown bytes that are called %s as %s', async (declared, type) => {
		const bytes = Buffer.alloc(100_000, 3);
		const headers = { 'content-type': declared };
		const { done, types } = download(await startServer(storage(bytes, { headers })));
		await expect(done).resolves.toBe(sha256(bytes));
		expect(types).toEqual([type]);
	});

	const error = '<?xml version="1.0"?><Error><Code>Internal</Code></Error>';

	it.each<[string, Reply, string]>([
		[
			'a page',
			answer(200, `<html>${'x'.repeat(1000)}</html>`, { 'content-type': 'video/mp4' }),
			'<html>x',
		],
		['XML', answer(200, error, { 'content-type': 'video/webm' }), '<?xml'],
	])(
		'requests a fresh link when the storage host sends %s instead of a video',
		async (_, reply, said) => {
			const server = await startServer(reply, reply, whole);
			let links = 0;
			const source = { url: `${publicUrl(server.url)}/fresh.mp4`, authenticated: false };
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
});
