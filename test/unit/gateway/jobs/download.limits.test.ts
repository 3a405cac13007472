import { box } from '../../../support/files/boxes';
import { failureOf } from '../../../support/workflows/gatewayWorld';
import { answer, startServer, type Reply } from '../../../support/http/scriptedServer';
import { storage } from '../../../support/http/scriptedStorage';
import { download, file, whole } from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

/** Downloads a file that arrives in pieces of 10 kB, with a pause after each. @param seconds of one pause */
async function downloadSlowly(seconds: number, timeout: number, head = {}) {
	let sendNext = () => {};
	const server = await startServer((response) => {
		response.writeHead(200, { 'content-type': 'video/mp4', ...head });
		let offset = 0;
		sendNext = () => {
			response.write(file.subarray(offset, (offset += 10_000)));
			if (offset >= file.length) response.end();
		};
		sendNext();
	});
	const onBytes = () => {
		runtime.clock.move(seconds * 1000);
		sendNext();
	};
	const { runtime, done } = download(server, { timeout, onBytes });
	return { done, server };
}

describe('the time of a download', () => {
	it('is limited by the timeout of the wait, and by a minute if that is less', async () => {
		for (const [timeout, seconds] of [
			[30_000, 60],
			[600_000, 600],
		]) {
			const { done, server } = await downloadSlowly(seconds / 10, timeout);
			const { record } = await failureOf(done);
			expect(record.message).toMatch(
				new RegExp(`the file took longer than ${seconds} seconds \\(\\d+ bytes arrived\\)$`),
			);
			expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
			expect(record.advice).toMatch(/collect|download|fetch/i);
			expect(server.requests).toHaveLength(1);
		}
	});

	it('is longer by what the announced length takes at 64 kB/s', async () => {
		const head = { 'content-length': file.length };
		const allowed = 60 + file.length / 64_000;
		const pieces = file.length / 10_000;
		const { done } = await downloadSlowly((0.98 * allowed) / pieces, 1000, head);
		await expect(done).resolves.toBe(sha256(file));

		const late = await downloadSlowly((1.1 * allowed) / pieces, 1000, head);
		const { record } = await failureOf(late.done);
		expect(record.message).toContain('the file took longer than 63 seconds');
	});
});

describe('the size of a download', () => {
	it('is limited to what a Content-Range announces', async () => {
		const range = { 'content-range': `bytes 0-99999/100000` };
		const server = await startServer(answer(206, file, range));
		const { record } = await failureOf(download(server).done);
		expect(record.message).toBe(
			'Could not download it: the file has more than the 100000 bytes that were announced',
		);
		expect(server.requests).toHaveLength(1);
	});
});

describe('an mp4 without its index', () => {
	const start = box('ftyp', Buffer.from('isom\0\0\0\0mp42isom'));
	const unfinished = Buffer.concat([start, box('mdat', Buffer.alloc(50_000, 7))]);
	const unannounced =
		(bytes: Uint8Array): Reply =>
		(response) => {
			response.writeHead(200, { 'content-type': 'video/mp4' });
			response.write(bytes, () => response.end());
		};

	it.each([['that ends at a box boundary', unfinished]])(
		'is fetched again when its length was not announced, and then fails: a file %s',
		async (_, bytes) => {
			const broken = unannounced(bytes);
			const server = await startServer(broken, broken, whole);
			await expect(download(server).done).resolves.toBe(sha256(file));
			expect(server.requests).toHaveLength(3);

			const { record } = await failureOf(download(await startServer(broken)).done);
			expect(record.message).toContain('the file ends before its index');
			expect(record).toMatchObject({ billed: 'yes', retry_can_help: true });
		},
	);

	it('is delivered when all bytes that were announced have arrived', async () => {
		const server = await startServer(storage(unfinished));
		const { downloading } = download(server);
		await expect(downloading).resolves.toMatchObject({
			...{ stored: sha256(unfinished), lacksIndex: true },
		});
		expect(server.requests).toHaveLength(1);
	});

	it('is delivered when the storage host then says that the file ends there', async () => {
		const server = await startServer(unannounced(unfinished), storage(unfinished));
		const { downloading } = download(server);
		await expect(downloading).resolves.toMatchObject({ lacksIndex: true });
		expect(server.requests).toHaveLength(2);
	});
});
