import type { AxiosResponse } from 'axios';
import { download } from '../../../../gateway/client';
import { served } from '../served';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const clock = new SimulatedClock();
const at = served({
	now: () => clock.now(),
	draw: async (spec) => Buffer.from(JSON.stringify(spec)),
});

const generate = async (change: object = {}): Promise<AxiosResponse> =>
	await at.client.post('/v1/images/generations', { model: 'image-1', prompt: 'a cat', ...change });
const linkOf = ({ data }: AxiosResponse, index = 0): string => data.data[index].url;

describe('POST /v1/images/generations', () => {
	it('returns a signed link to a PNG, and charges the image', async () => {
		const response = await generate();
		expect(response.data).toEqual({
			created: expect.any(Number),
			data: [{ url: expect.stringContaining(`${at.gateway.storageUrl}/images/`) }],
			usage: { input_tokens: 2, output_tokens: 256, total_tokens: 258 },
		});
		const file = await download(linkOf(response));
		expect([file.status, file.headers['content-type']]).toEqual([200, 'image/png']);
		expect(at.gateway.ledger).toMatchObject([
			{ kind: 'image', model: 'image-1', quantity: 1, unit: 'image' },
		]);
	});

	it.each([
		[1024, 1792, { size: '1024x1792' }],
		[1792, 1024, { size: '1792x1024' }],
		[1792, 768, { model: 'image-1-kontext', aspect_ratio: '21:9' }],
	])('returns an image of %i x %i pixels for %j', async (width, height, change) => {
		const { data } = await download(linkOf(await generate(change)));
		expect(JSON.parse(data.toString())).toMatchObject({ width, height, caption: 'a cat' });
	});

	it('returns n different images, and the same ones again for the same request', async () => {
		const order = { n: 2, response_format: 'b64_json' };
		const [{ data }, again] = [(await generate(order)).data, (await generate(order)).data];
		expect(data[0].b64_json).not.toBe(data[1].b64_json);
		expect(again.data).toEqual(data);
		expect(at.gateway.ledger.at(-1)).toMatchObject({ quantity: 2, unit: 'image' });
	});

	it.each([
		['24 hours', 24 * 60, {}],
		['10 minutes for a model with short-lived links', 10, { model: 'image-1-kontext' }],
	])('returns an image link that expires after %s', async (_, minutes, change) => {
		const url = linkOf(await generate(change));
		clock.move(minutes * 60_000 - 1);
		expect((await download(url)).status).toBe(200);
		clock.move(1);
		expect((await download(url)).status).toBe(403);
	});
});
