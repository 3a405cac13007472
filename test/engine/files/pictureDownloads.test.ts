import { startGateway, type Gateway } from '../../../gateway';
import { retryExecution, runWorkflow, SimulatedTime, storedFiles } from '../../harness';
import { answer, startServer, type Reply } from '../../support/http/scriptedServer';
import { storage } from '../../support/http/scriptedStorage';
import { picture } from '../../support/data/samples';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

const png = picture('teal');
const heic = Buffer.from('\0\0\0\x18ftypmif1\0\0\0\0mif1heic');
const strange = Buffer.from('\xff\x0a\x00\x10\x05', 'latin1');
const at = (tenth: number) => Math.floor((png.length * tenth) / 10);
const modes = ['filesystem', 'default'] as const;
type Mode = (typeof modes)[number];

let time: SimulatedTime;
let gateway: Gateway;
beforeEach(async () => {
	time = new SimulatedTime(100);
	gateway = await startGateway();
});
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
const orders = () => gateway.requests.filter(({ route }) => route === 'imageGenerate').length;

describe('image downloads', () => {
	it('downloads an image again when it ends early at the announced length', async () => {
		await serve(answer(200, png.subarray(0, at(9))), storage(png));
		const result = await run();
		expect(sha256(await result.binary(result.items('Model Gateway')[0]))).toBe(sha256(png));
	});

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
