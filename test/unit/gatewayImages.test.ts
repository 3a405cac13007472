import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway } from '../gateway';
import { clientOf, download } from '../gateway/client';
import { dataUrlOf, pixelsOf, samplePng, twoFrameGif, type Pixels } from '../gateway/samples';

let gateway: Gateway;
let client: AxiosInstance;
let time = Date.now();

beforeAll(async () => {
	gateway = await startGateway({ now: () => time });
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const pictureAt = async (url: string): Promise<Pixels> =>
	await pixelsOf((await download(url)).data);

const sizeOf = ({ width, height }: Pixels): string => `${width}x${height}`;

const refusals = async (answer: AxiosResponse, charges: number): Promise<unknown[]> => {
	expect(gateway.ledger).toHaveLength(charges);
	return [answer.status, answer.data.error.code, answer.data.error.param];
};

describe('image generation', () => {
	const generate = async (change: object = {}): Promise<AxiosResponse> =>
		await client.post('/v1/images/generations', { model: 'image-1', prompt: 'a cat', ...change });

	const kontext = (change: object) => generate({ model: 'image-1-kontext', ...change });

	it('answers with a signed link to a PNG, billed by the picture', async () => {
		const { status, data } = await generate();
		expect(status).toBe(200);
		expect(data).toEqual({
			created: expect.any(Number),
			data: [{ url: expect.stringContaining(`${gateway.storageUrl}/images/`) }],
			usage: { input_tokens: 2, output_tokens: 256, total_tokens: 258 },
		});
		const file = await download(data.data[0].url);
		expect([file.status, file.headers['content-type']]).toEqual([200, 'image/png']);
		expect(sizeOf(await pixelsOf(file.data))).toBe('1024x1024');
		expect(gateway.requests.at(-1)).toMatchObject({ route: 'download', jobId: undefined });
		expect(gateway.ledger.at(-1)).toMatchObject({
			kind: 'image',
			model: 'image-1',
			quantity: 1,
			unit: 'image',
		});
	});

	it('makes as many as are asked for, each another', async () => {
		const { data } = await generate({ n: 3 });
		const urls = data.data.map(({ url }: { url: string }) => url) as string[];
		const files = await Promise.all(urls.map(async (url) => (await download(url)).data));
		expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(3);
		expect(gateway.ledger.at(-1)).toMatchObject({ quantity: 3, unit: 'image' });
	});

	it.each(['1024x1024', '1024x1792', '1792x1024'])('has the size %s', async (size) => {
		const { data } = await generate({ size });
		expect(sizeOf(await pictureAt(data.data[0].url))).toBe(size);
	});

	it.each([
		['16:9', '1366x768'],
		['21:9', '1792x768'],
		['9:21', '768x1792'],
		['1:1', '768x768'],
	])('has the shape %s', async (ratio, size) => {
		const { data } = await kontext({ aspect_ratio: ratio });
		expect(sizeOf(await pictureAt(data.data[0].url))).toBe(size);
	});

	it('is the same for the same order, and another for every word of it', async () => {
		const png = async (change: object) => {
			const { data } = await generate({ response_format: 'b64_json', ...change });
			return String(data.data[0].b64_json);
		};
		expect(await png({})).toBe(await png({ seed: 0 }));
		const orders = [{}, { prompt: 'a dog' }, { quality: 'hd' }, { style: 'vivid' }, { seed: 1 }];
		expect(new Set(await Promise.all(orders.map(png))).size).toBe(orders.length);
	});

	it('gives bytes in place of a link when they are asked for', async () => {
		const { data } = await generate({ response_format: 'b64_json' });
		const bytes = Buffer.from(data.data[0].b64_json, 'base64');
		expect(sizeOf(await pixelsOf(bytes))).toBe('1024x1024');
	});

	it('takes every field of the specification', async () => {
		const all = { prompt_upsampling: true, safety_tolerance: 2, seed: 7, style: null };
		expect((await kontext(all)).status).toBe(200);
	});

	it('has links that last 24 hours, or 10 minutes for some models', async () => {
		const statuses = async ({ data }: AxiosResponse, minutes: number) => {
			const [{ url }] = data.data;
			const early = (await download(url)).status;
			time += minutes * 60_000 - 1;
			const inTime = (await download(url)).status;
			time += 1;
			return [early, inTime, (await download(url)).status];
		};
		expect(await statuses(await generate(), 24 * 60)).toEqual([200, 200, 403]);
		expect(await statuses(await kontext({}), 10)).toEqual([200, 200, 403]);
	});

	it('has links that refuse the key and a change', async () => {
		const [{ url }] = (await generate()).data.data;
		expect((await download(url, { authorization: 'Bearer any-key' })).status).toBe(403);
		expect((await download(url.replace(/image_./, 'image_x'))).status).toBe(403);
	});

	it.each<[number, string, string, object]>([
		[400, 'invalid_parameter', 'model', { model: undefined }],
		[404, 'model_not_found', 'model', { model: 'chat-1' }],
		[400, 'invalid_prompt', 'prompt', { prompt: undefined }],
		[400, 'invalid_prompt', 'prompt', { prompt: 'a [blocked] word' }],
		[400, 'invalid_parameter', 'n', { n: 0 }],
		[400, 'invalid_parameter', 'n', { n: 11 }],
		[400, 'invalid_parameter', 'size', { size: '512x512' }],
		[400, 'invalid_parameter', 'aspect_ratio', { model: 'image-1-kontext', aspect_ratio: '3:1' }],
		[400, 'invalid_parameter', 'aspect_ratio', { model: 'image-1-kontext', aspect_ratio: 'wide' }],
		[400, 'invalid_parameter', 'seed', { seed: 'seven' }],
		[400, 'invalid_parameter', 'safety_tolerance', { safety_tolerance: 0.5 }],
		[400, 'invalid_parameter', 'prompt_upsampling', { prompt_upsampling: 'yes' }],
	])('refuses with %i %s of %s: %j', async (status, code, param, change) => {
		const charges = gateway.ledger.length;
		expect(await refusals(await generate(change), charges)).toEqual([status, code, param]);
	});
});

describe('a chat image model', () => {
	const draw = async (content: unknown, change: object = {}): Promise<AxiosResponse> =>
		await client.post('/v1/chat/completions', {
			model: 'image-chat-1',
			messages: [{ role: 'user', content }],
			...change,
		});

	const urlsIn = ({ data }: AxiosResponse): string[] =>
		data.choices.map(
			({ message }: { message: { content: string } }) =>
				/!\[.*?\]\((.+?)\)/.exec(message.content)?.[1],
		);

	const image = (colour: string) => ({
		type: 'image_url',
		image_url: { url: dataUrlOf(samplePng(colour)) },
	});

	it('answers with words around a markdown image, billed by the picture', async () => {
		const answer = await draw('a cat');
		expect(answer.data.choices[0].message.content).toMatch(
			/^Here is your picture:\n\n!\[picture\]\(http:\S+\)\n\nTell me/,
		);
		expect(sizeOf(await pictureAt(urlsIn(answer)[0]))).toBe('1024x1024');
		expect(gateway.ledger.at(-1)).toMatchObject({
			kind: 'image',
			model: 'image-chat-1',
			quantity: 1,
			unit: 'image',
		});
	});

	it.each([
		['【2:3】', '1024x1536'],
		['【3:2】 ', '1536x1024'],
		['【1:1】', '1024x1024'],
		['【2:3】 is what I said', '1024x1024'],
	])('has the shape of the marker in "a cat%s"', async (marker, size) => {
		expect(sizeOf(await pictureAt(urlsIn(await draw(`a cat${marker}`))[0]))).toBe(size);
	});

	it('fuses the pictures it is given', async () => {
		const text = { type: 'text', text: 'Put them together【3:2】' };
		const [url] = urlsIn(await draw([text, image('red'), image('blue')]));
		const { width, data } = await pictureAt(url);
		const colourAt = (x: number, y: number) => [...data.slice(4 * (y * width + x)).slice(0, 3)];
		expect(colourAt(10, 10)).toEqual([255, 0, 0]);
		expect(colourAt(width - 10, 10)).toEqual([0, 0, 255]);
	});

	it('makes a picture for each choice, and streams it as well', async () => {
		const urls = urlsIn(await draw('a cat', { n: 2 }));
		const [one, other] = await Promise.all(urls.map(async (url) => (await download(url)).data));
		expect(one.equals(other)).toBe(false);
		expect(gateway.ledger.at(-1)).toMatchObject({ quantity: 2, unit: 'image' });

		const { data } = await draw('a cat', { stream: true });
		expect(data).toContain('data: [DONE]');
	});

	it('answers without a picture, and is not billed for it', async () => {
		const charges = gateway.ledger.length;
		const { status, data } = await draw('[no image] please');
		expect(status).toBe(200);
		expect(data.choices[0].message.content).not.toContain('](');
		expect(gateway.ledger).toHaveLength(charges);
	});

	it.each<[string, string, unknown]>([
		['invalid_prompt', 'messages[0].content', 'a [blocked] word'],
		[
			'invalid_image_file',
			'messages[0].content[0].image_url.url',
			[{ type: 'image_url', image_url: { url: dataUrlOf(twoFrameGif) } }],
		],
	])('refuses with %s of %s', async (code, param, content) => {
		const charges = gateway.ledger.length;
		expect(await refusals(await draw(content), charges)).toEqual([400, code, param]);
	});
});
