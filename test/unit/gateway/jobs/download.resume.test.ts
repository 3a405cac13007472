import { failureOf } from '../../../support/workflows/gatewayWorld';
import { answer, breakOff, startServer, type Reply } from '../../../support/http/scriptedServer';
import { storage, type StorageOptions } from '../../../support/http/scriptedStorage';
import {
	download,
	file,
	half,
	rangesOf,
	twin,
	whole,
} from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

const tenths = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => Math.floor((file.length * tenth) / 10));

describe('downloads that break off', () => {
	it('resumes an interrupted download at the last byte received, however often it breaks off', async () => {
		const cuts = tenths.map((until) => storage(file, { until }));
		const server = await startServer(...cuts, whole);
		const { done, stored } = download(server);
		await expect(done).resolves.toBe(sha256(file));
		expect(stored).toHaveLength(1);
		expect(rangesOf(server)).toEqual([undefined, ...tenths.map((first) => `bytes=${first}-`)]);
		expect(server.requests[1].headers['if-range']).toBe('"v1"');
		await server.idle();
	});

	it.each(tenths)(
		'starts a download again that breaks off at byte %d when the storage host cannot resume',
		async (until) => {
			const server = await startServer(
				storage(file, { until, ranges: false }),
				storage(file, { ranges: false }),
			);
			const { done, stored } = download(server);
			await expect(done).resolves.toBe(sha256(file));
			expect(stored.map(({ length }) => length)).toEqual([until, file.length]);
		},
	);

	const dated = (day: number) => ({
		...{ etag: null, headers: { 'last-modified': `Mon, 0${day} Jan 2026 08:00:00 GMT` } },
	});

	it.each<[string, StorageOptions]>([
		['a weak ETag', { etag: 'W/"v1"' }],
		['only a date', dated(5)],
	])('resumes a download without If-Range when the storage host gives %s', async (_, options) => {
		const server = await startServer(half(options), storage(file, options));
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=100000-']);
		expect(server.requests[1].headers).not.toHaveProperty('if-range');
	});

	it.each<[string, Buffer, StorageOptions, StorageOptions]>([
		['another weak ETag', twin, { etag: 'W/"1"' }, { etag: 'W/"2"' }],
		['another date', twin, dated(5), dated(6)],
		['another length', Buffer.concat([twin, Buffer.alloc(16)]), { etag: null }, { etag: null }],
	])('starts a download again when the file has %s', async (_, changed, before, after) => {
		const server = await startServer(half(before), storage(changed, after));
		await expect(download(server).done).resolves.toBe(sha256(changed));
	});

	it('compares a part with the metadata of all earlier parts', async () => {
		const withoutMetadata: Reply = (response) =>
			void response.write(file.subarray(0, 50_000), () => breakOff(response));
		const server = await startServer(withoutMetadata, half({ etag: 'W/"1"' }), storage(twin));
		await expect(download(server).done).resolves.toBe(sha256(twin));
	});

	it.each<[string, Reply]>([
		[
			'has another ETag',
			answer(206, file.subarray(100_000), {
				etag: '"v2"',
				'content-range': `bytes 100000-${file.length - 1}/${file.length}`,
			}),
		],
		[
			'starts at another byte',
			answer(206, file.subarray(5), { 'content-range': 'bytes 5-99/100' }),
		],
		['gives another length', answer(416, '', { 'content-range': 'bytes */7' })],
	])('starts a download again when the response with the rest %s', async (_, reply) => {
		const server = await startServer(half(), reply, whole);
		await expect(download(server).done).resolves.toBe(sha256(file));
		expect(rangesOf(server)).toEqual([undefined, 'bytes=100000-', undefined]);
	});

	it('gives up on a download after four attempts in a row without new bytes', async () => {
		const server = await startServer(half(), storage(file, { until: 100_000 }));
		const { record, reach } = await failureOf(download(server).done);
		expect(server.requests).toHaveLength(5);
		expect(record.message).toMatch(/^Could not download it: (aborted|.*hang up|.*ECONNRESET)/);
		expect(reach).toBe('lost');
	});

	it('gives up when a storage host that cannot resume breaks off six times', async () => {
		const { done, stored } = download(await startServer(half({ ranges: false })));
		const { record } = await failureOf(done);
		expect(record.message).toBe(
			'Could not download it: aborted, and the storage cannot resume a transfer',
		);
		expect(stored).toHaveLength(6);
	});

	it('gives up after 100 interruptions although each attempt brings new bytes', async () => {
		const server = await startServer((response, request) => {
			const first = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
			storage(file, { until: first + 100 })(response, request);
		});
		await failureOf(download(server).done);
		expect(server.requests).toHaveLength(101);
	});
});

describe('wrong Content-Length headers', () => {
	const surplus = (ranges: boolean): Reply => {
		const headers = { 'content-length': file.length + 100 };
		return (response, request) => {
			const { range } = request.headers;
			if (ranges && range) return whole(response, request);
			response.writeHead(200, { etag: '"v1"', ...headers });
			response.write(file, () => breakOff(response));
		};
	};

	it.each([true, false])(
		'delivers a complete file although its Content-Length is too large (with ranges: %s)',
		async (ranges) => {
			await expect(download(await startServer(surplus(ranges))).done).resolves.toBe(sha256(file));
		},
	);
});
