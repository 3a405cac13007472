import type { AxiosResponse } from 'axios';
import { picture, twoFrameGif } from '../../../support/data/samples';
import { refusalOf, served } from '../served';

const at = served();
const image = picture('red');

type Fields = Record<string, string | Uint8Array | undefined>;

const edit = async (change: Fields = {}): Promise<AxiosResponse> => {
	const form = new FormData();
	const fields: Fields = { model: 'image-edit-1', image, prompt: 'a red hat', ...change };
	for (const [name, value] of Object.entries(fields)) {
		if (typeof value === 'string') form.set(name, value);
		else if (value) form.set(name, new Blob([new Uint8Array(value)]), `${name}.png`);
	}
	return await at.client.post('/v1/images/edits', form);
};

describe('POST /v1/images/edits', () => {
	it('returns a link to the image, and charges its tokens', async () => {
		const response = await edit({ mask: picture('white') });
		expect(response.data).toEqual({
			created: expect.any(Number),
			data: [{ url: expect.any(String) }],
			usage: { input_tokens: 515, output_tokens: 256, total_tokens: 771 },
		});
		expect(at.gateway.ledger).toMatchObject([
			{ kind: 'image', model: 'image-edit-1', quantity: 771, unit: 'token' },
		]);
	});

	it('accepts links for a model that allows them, and charges images', async () => {
		const model = 'image-edit-1-url';
		const link = at.gateway.addMedia('image.png', image, 'image/png');
		expect((await edit({ model, image: link, mask: link, n: '2' })).status).toBe(200);
		expect(at.gateway.ledger.at(-1)).toMatchObject({ model, quantity: 2, unit: 'image' });
	});

	it.each<[number, string, string, Fields]>([
		[404, 'model_not_found', 'model', { model: 'image-1' }],
		[400, 'invalid_prompt', 'prompt', { prompt: undefined }],
		[400, 'invalid_parameter', 'image', { image: undefined }],
		[400, 'invalid_parameter', 'image', { image: 'https://example.com/image.png' }],
		[400, 'invalid_parameter', 'image', { model: 'image-edit-1-url', image: 'image.png' }],
		[400, 'invalid_image_file', 'image', { image: twoFrameGif }],
		[400, 'invalid_image_file', 'image', { image: image.subarray(0, 60) }],
		[400, 'invalid_image_file', 'mask', { mask: Buffer.from('text') }],
		[400, 'invalid_parameter', 'n', { n: 'two' }],
		[400, 'invalid_parameter', 'size', { size: 'large' }],
	])(
		'refuses an edit with %i %s for %s and charges nothing',
		async (status, code, param, change) => {
			const charges = at.gateway.ledger.length;
			expect(refusalOf(await edit(change))).toEqual([status, code, param]);
			expect(at.gateway.ledger).toHaveLength(charges);
		},
	);

	it('refuses a body that is not a form with 415', async () => {
		const response = await at.client.post('/v1/images/edits', { model: 'image-edit-1' });
		expect(refusalOf(response).slice(0, 2)).toEqual([415, 'invalid_request']);
	});
});
