import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway } from '../gateway';
import { clientOf, download } from '../gateway/client';
import { pixelsOf, samplePng, twoFrameGif, type Pixels } from '../gateway/samples';

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway();
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const size = { width: 60, height: 40 };
/** Stripes, so that a shifted pixel shows. */
const image = samplePng('white', size, (context) => {
	for (let x = 0; x < size.width; x += 3) {
		context.fillStyle = `hsl(${x * 6} 80% 50%)`;
		context.fillRect(x, 0, 2, size.height);
	}
});
/** White from 10, 10 to 30, 20. */
const mask = samplePng('black', size, (context) => {
	context.fillStyle = 'white';
	context.fillRect(10, 10, 20, 10);
});

type Fields = Record<string, string | Buffer | undefined>;

const edit = async (change: Fields = {}): Promise<AxiosResponse> => {
	const form = new FormData();
	const fields: Fields = { model: 'image-edit-1', image, prompt: 'a red hat', ...change };
	for (const [name, value] of Object.entries(fields)) {
		if (typeof value === 'string') form.set(name, value);
		else if (value) form.set(name, new Blob([new Uint8Array(value)]), `${name}.png`);
	}
	return await client.post('/v1/images/edits', form);
};

const resultOf = async ({ data }: AxiosResponse, index = 0): Promise<Pixels> =>
	await pixelsOf((await download(data.data[index].url)).data);

/** The pixels that differ, and the smallest box around them: left, top, right, bottom. */
async function changes(
	result: Pixels,
	original = image,
): Promise<{ count: number; box: number[] }> {
	const before = await pixelsOf(original);
	const places: Array<[x: number, y: number]> = [];
	for (let pixel = 0; pixel < before.width * before.height; pixel++) {
		const at = ({ data }: Pixels) => data.slice(4 * pixel, 4 * pixel + 4).join();
		if (at(before) !== at(result)) {
			places.push([pixel % before.width, Math.floor(pixel / before.width)]);
		}
	}
	const [columns, rows] = [places.map(([x]) => x), places.map(([, y]) => y)];
	const box = [Math.min(...columns), Math.min(...rows), Math.max(...columns), Math.max(...rows)];
	return { count: places.length, box };
}

it('paints the white area of the mask and no other pixel, billed by its tokens', async () => {
	const answer = await edit({ mask });
	expect(answer.status).toBe(200);
	expect(answer.data).toEqual({
		created: expect.any(Number),
		data: [{ url: expect.any(String) }],
		usage: { input_tokens: 515, output_tokens: 256, total_tokens: 771 },
	});
	const result = await resultOf(answer);
	expect(result).toMatchObject(size);
	const { count, box } = await changes(result);
	expect(box).toEqual([10, 10, 29, 19]);
	expect(count).toBe(200);
	expect(gateway.ledger.at(-1)).toMatchObject({
		kind: 'image',
		model: 'image-edit-1',
		quantity: 3 + 3 * 256,
		unit: 'token',
	});
});

it('keeps what is transparent', async () => {
	const glass = samplePng('rgb(200 100 50 / 0.5)', size);
	const { count } = await changes(await resultOf(await edit({ image: glass, mask })), glass);
	expect(count).toBe(200);
});

it('stretches a mask of another size', async () => {
	const half = samplePng('black', { width: 30, height: 20 }, (context) => {
		context.fillStyle = 'white';
		context.fillRect(5, 5, 10, 5);
	});
	expect((await changes(await resultOf(await edit({ mask: half })))).box).toEqual([10, 10, 29, 19]);
});

it('changes the whole picture without a mask', async () => {
	expect((await changes(await resultOf(await edit()))).box).toEqual([0, 0, 59, 39]);
});

it('paints by the prompt, and each of several pictures otherwise', async () => {
	const { data } = await resultOf(await edit({ mask }));
	expect((await resultOf(await edit({ mask }))).data).toEqual(data);
	expect((await resultOf(await edit({ mask, prompt: 'a dog' }))).data).not.toEqual(data);

	const two = await edit({ mask, n: '2' });
	expect((await resultOf(two)).data).toEqual(data);
	expect((await resultOf(two, 1)).data).not.toEqual(data);
});

it('gives the size that is asked for', async () => {
	expect(await resultOf(await edit({ mask, size: '120x100' }))).toMatchObject({
		width: 120,
		height: 100,
	});
});

it('records the form with its files', async () => {
	await edit({ mask });
	const request = gateway.requests.findLast(({ route }) => route === 'imageEdit');
	expect(request?.body).toMatchObject({
		model: 'image-edit-1',
		prompt: 'a red hat',
		image: { name: 'image.png', contentType: 'application/octet-stream', bytes: image },
		mask: { name: 'mask.png', bytes: mask },
	});
});

describe('the model that takes links', () => {
	const model = 'image-edit-1-url';

	it('takes them, and files, billed by the picture', async () => {
		const links = {
			image: gateway.addMedia('image.png', image, 'image/png'),
			mask: gateway.addMedia('mask.png', mask, 'image/png'),
		};
		const byLink = await resultOf(await edit({ model, ...links, n: '2' }));
		expect((await changes(byLink)).box).toEqual([10, 10, 29, 19]);
		expect(gateway.ledger.at(-1)).toMatchObject({ model, quantity: 2, unit: 'image' });
		expect((await resultOf(await edit({ model, mask }))).data).toEqual(byLink.data);
	});

	it('takes a shape', async () => {
		const result = await resultOf(await edit({ model, mask, aspect_ratio: '16:9' }));
		expect(result).toMatchObject({ width: 72, height: 40 });
	});

	it('refuses a dead link, and one that is none', async () => {
		for (const link of [`${gateway.storageUrl}/media/gone.png`, 'image.png']) {
			const { status, data } = await edit({ model, image: link });
			expect([status, data.error.code]).toEqual([400, 'invalid_parameter']);
			expect(data.error.param).toBe('image');
		}
	});
});

it.each<[number, string, string, Fields]>([
	[400, 'invalid_parameter', 'model', { model: undefined }],
	[404, 'model_not_found', 'model', { model: 'image-1' }],
	[400, 'invalid_prompt', 'prompt', { prompt: undefined }],
	[400, 'invalid_prompt', 'prompt', { prompt: 'a [blocked] word' }],
	[400, 'invalid_parameter', 'image', { image: undefined }],
	[400, 'invalid_parameter', 'image', { image: 'https://example.com/image.png' }],
	[400, 'invalid_image_file', 'image', { image: twoFrameGif }],
	[400, 'invalid_image_file', 'image', { image: image.subarray(0, 60) }],
	[400, 'invalid_image_file', 'mask', { mask: Buffer.from('text') }],
	[400, 'invalid_parameter', 'n', { n: 'two' }],
	[400, 'invalid_parameter', 'size', { size: 'large' }],
])('refuses with %i %s of %s', async (status, code, param, change) => {
	const charges = gateway.ledger.length;
	const answer = await edit(change);
	expect([answer.status, answer.data.error.code, answer.data.error.param]).toEqual([
		status,
		code,
		param,
	]);
	expect(gateway.ledger).toHaveLength(charges);
});

it('takes nothing but a form', async () => {
	const { status, data } = await client.post('/v1/images/edits', { model: 'image-edit-1' });
	expect([status, data.error.code]).toEqual([415, 'invalid_request']);
	const form = new FormData();
	form.set('model', 'chat-1');
	expect((await client.post('/v1/chat/completions', form)).status).toBe(415);
});
