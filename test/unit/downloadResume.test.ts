import { mp4Of, sha256 } from '../support/boxes';
import { failureOf } from '../support/gatewayWorld';
import { answer, breakOff, reset, startServer, type Reply } from '../support/scriptedServer';
import { storage, type StorageOptions } from '../support/scriptedStorage';
import { download, file, half, rangesOf, twin, whole } from '../support/videoDownload';

const other = mp4Of(150_000);
const longer = Buffer.concat([twin, Buffer.alloc(16)]);
const tenths = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => Math.floor((file.length * tenth) / 10));

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
