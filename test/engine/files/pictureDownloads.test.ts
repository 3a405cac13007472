import { createCanvas } from '@napi-rs/canvas';
import { gzipSync } from 'node:zlib';
import { startGateway, type Gateway } from '../../../gateway';
import { retryExecution, runWorkflow, SimulatedTime, storedFiles } from '../../harness';
import { answer, breakOff, cut, startServer, type Reply } from '../../support/http/scriptedServer';
import { storage, type StorageOptions } from '../../support/http/scriptedStorage';
import { picture } from '../../support/data/samples';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

const png = picture('teal');
const canvas = createCanvas(320, 240);
const formats = {
	png,
	jpg: canvas.toBuffer('image/jpeg'),
	webp: canvas.toBuffer('image/webp'),
};
const heic = Buffer.from('\0\0\0\x18ftypmif1\0\0\0\0mif1heic');
const strange = Buffer.from('\xff\x0a\x00\x10\x05', 'latin1');
const at = (tenth: number, file: Uint8Array = png) => Math.floor((file.length * tenth) / 10);
const lastByte = 9.999999;
const modes = ['filesystem', 'default'] as const;
type Mode = (typeof modes)[number];

let time: SimulatedTime;
let gateway: Gateway;
const start = async (patience: number) => {
	time = new SimulatedTime(patience);
	gateway = await startGateway();
};
afterEach(async () => {
	await gateway.close();
	await time.end();
});

const run = async (binaryDataMode: Mode = 'filesystem') => {
	const request = { model: byId('image-1-kontext'), prompt: 'A lighthouse' };
	const node = modelGateway({ resource: 'image', operation: 'generate', ...request });
	const credentials = credentialFor(gateway);
	return await runWorkflow(chain(node), { credentials, binaryDataMode });
};
/** Starts the server that the image link leads to. */
const serve = async (...replies: Reply[]) => {
	const server = await startServer(...replies);
	const body = JSON.stringify({ data: [{ url: `${server.url}/p?sig=a%2Fb` }] });
	gateway.fault({ route: 'imageGenerate', action: 'answer', body });
	return server;
};
const whole = (options?: StorageOptions) => storage(png, options);
const announcing = (length: number, file: Uint8Array): Reply => {
	return (response) => {
		response.writeHead(200, { 'content-length': length });
		response.write(file, () => breakOff(response));
	};
};

const orders = () => gateway.requests.filter(({ route }) => route === 'imageGenerate').length;

describe('image downloads', () => {
	beforeEach(async () => await start(100));

	it.each([0, 5, lastByte])(
		'resumes an image that breaks off at %d tenths, and orders it once',
		async (tenth) => {
			const server = await serve(storage(png, { until: at(tenth) }), whole());
			const result = await run();
			const [item] = result.items('Model Gateway');
			expect(sha256(await result.binary(item))).toBe(sha256(png));
			const range = tenth === 0 ? undefined : `bytes=${at(tenth)}-`;
			expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, range]);
			expect(orders()).toBe(1);
			expect(await storedFiles(result)).toHaveLength(2);
		},
	);

	it.each<[string, () => Reply[], number]>([
		['changes its ETag', () => [storage(png, { until: 99 }), whole({ etag: '"v2"' })], 3],
		[
			'refuses HEAD requests',
			() => [(r, q) => (q.method === 'HEAD' ? answer(405, '') : whole())(r, q)],
			1,
		],
		[
			'gives the type application/octet-stream',
			() => [answer(200, png, { 'content-type': 'application/octet-stream' })],
			1,
		],
		['gives the type text/plain', () => [answer(200, png, { 'content-type': 'text/plain' })], 1],
		['gives no type', () => [answer(200, png)], 1],
		['announces too large a length', () => [announcing(png.length + 100, png)], 1],
		[
			'announces no length',
			() => [(r) => void (r.write(png.subarray(0, 99)), r.end(png.subarray(99)))],
			1,
		],
		['announces no length and breaks off', () => [cut(png.subarray(0, 99)), whole()], 2],
		['compresses it', () => [answer(200, gzipSync(png), { 'content-encoding': 'gzip' })], 1],
		['falls silent', () => [(r) => void r.write(png.subarray(0, 99)), whole()], 2],
	])('downloads an image from a storage host that %s', async (_, replies, requests) => {
		const server = await serve(...replies());
		const result = await run();
		const [item] = result.items('Model Gateway');
		expect(sha256(await result.binary(item))).toBe(sha256(png));
		expect(item.binary?.data).toMatchObject({ mimeType: 'image/png', fileName: 'image.png' });
		expect(server.requests.map(({ method }) => method)).toEqual(Array(requests).fill('GET'));
		for (const { headers } of server.requests) expect(headers).not.toHaveProperty('authorization');
	});

	it.each(Object.entries(formats))(
		'downloads an image again when it ends early at the announced length: %s',
		async (_, file) => {
			const part = file.subarray(0, at(lastByte, file));
			await serve(answer(200, part), storage(file));
			const result = await run();
			expect(sha256(await result.binary(result.items('Model Gateway')[0]))).toBe(sha256(file));
		},
	);

	it('delivers an image that ends early each time at the announced length, with a hint', async () => {
		const part = png.subarray(0, at(5));
		const server = await serve(storage(part));
		const result = await run();
		expect(sha256(await result.binary(result.items('Model Gateway')[0]))).toBe(sha256(part));
		expect(result.hintsOf('Model Gateway')).toEqual([
			'image.png ends in the middle: it arrived as the service made it.',
		]);
		expect(server.requests).toHaveLength(2);
	});

	it('fails when an image whose length was not announced ends early each time', async () => {
		const server = await serve((response) => {
			response.write(png.subarray(0, 99));
			response.end(png.subarray(99, at(5)));
		});
		const error = (await run()).errorOf('Model Gateway');
		expect(error?.message).toContain('the file ends too early');
		expect(error?.description).toContain('The image is made and charged.');
		// It starts again five times, each time after it could not resume.
		expect(server.requests).toHaveLength(12);
	});

	it.each<[string, Reply, string]>([
		['its bytes', answer(200, heic), 'image/heic'],
		['its Content-Type alone', answer(200, strange, { 'content-type': 'image/jxl' }), 'image/jxl'],
	])('recognises an image of another type by %s', async (_, reply, mimeType) => {
		await serve(reply);
		const [{ binary }] = (await run()).items('Model Gateway');
		const fileExtension = mimeType.slice(6);
		expect(binary?.data).toMatchObject({ mimeType, fileName: `image.${fileExtension}` });
	});

	it('refuses a web page with the type of an image', async () => {
		await serve(answer(200, '<html>Sorry</html>', { 'content-type': 'image/png' }));
		const error = (await run()).errorOf('Model Gateway');
		expect(error?.message).toContain('it is no image');
		expect(error?.description).toContain('The image is made and charged.');
	});

	it.each(modes)(
		'tries a failed download again in a Retry without a new order (%s)',
		async (mode) => {
			const server = await serve(storage(png, { until: at(5) }));
			const failed = await run(mode);
			const error = failed.errorOf('Model Gateway');
			expect(error?.message).toContain('Could not download the image');
			expect(error?.description).toContain('The image is made and charged.');
			expect(() => failed.items('Model Gateway')).toThrow();
			expect(await storedFiles(failed)).toEqual([]);
			expect(server.requests).toHaveLength(5);

			await retryExecution(failed);
			expect(server.requests).toHaveLength(10);
			expect(orders()).toBe(1);
		},
	);
});

it('does not order an image again in a Retry after its link expired', async () => {
	// Longer than the gateway takes to draw.
	await start(300);
	gateway.fault({ route: 'download', action: 'reset', times: 5 });
	const failed = await run();
	jest.setSystemTime(Date.now() + 11 * 60_000);
	const retried = await retryExecution(failed);
	expect(retried.errorOf('Model Gateway')?.description).toContain(
		'links of some models live for 10 minutes only',
	);
	const downloads = gateway.requests.filter(({ host }) => host === 'storage');
	// The link gets some seconds.
	expect(downloads.map(({ status }) => status).slice(5)).toEqual([403, 403, 403, 403]);
	for (const { headers } of downloads) expect(headers).not.toHaveProperty('authorization');
	expect(gateway.ledger).toHaveLength(1);
});
