import { loadImage } from '@napi-rs/canvas';
import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, type RunOptions, runWorkflow, withoutStore } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const binaryOf = (bytes: Uint8Array, fileName: string, mimeType = 'image/png') => ({
	...{ fileName, mimeType },
	data: Buffer.from(bytes).toString('base64'),
});

describe('images', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const image = (operation: string, parameters: IDataObject) =>
		modelGateway(
			{ resource: 'image', operation, prompt: 'A lighthouse', ...parameters },
			{ name: 'Image' },
		);
	const run = async (node: Node, options: RunOptions = {}) =>
		await runWorkflow(chain(node), { credentials: credentialFor(gateway), ...options });
	const downloads = () => gateway.requests.filter(({ host }) => host === 'storage');

	it('downloads each generated image into an item of its own', async () => {
		const options = { n: 2, size: '1024x1024', quality: 'hd', style: 'vivid' };
		const result = await run(image('generate', { model: byId('image-1'), options }));
		const items = result.items('Image');
		expect(items.map(({ json, pairedItem }) => [json.index, pairedItem])).toEqual([
			[0, { item: 0 }],
			[1, { item: 0 }],
		]);
		const shown = await loadImage(await result.binary(items[1]));
		expect([shown.width, shown.height]).toEqual([1024, 1024]);
		expect(items[0].binary?.data).toMatchObject({ mimeType: 'image/png', fileName: 'image.png' });
		expect(gateway.requests[0].body).toEqual({
			model: 'image-1',
			prompt: 'A lighthouse',
			...options,
		});
		for (const { headers } of downloads()) expect(headers.authorization).toBeUndefined();
	});

	describe('the other fields of an image response', () => {
		const data = Buffer.from(picture('red')).toString('base64');
		const answer = {
			...{ created: 7, background: 'auto', usage: { total_tokens: 9 }, model: 'image-1-x' },
			data: [
				{ b64_json: data, revised_prompt: 'One' },
				{ b64_json: data, revised_prompt: 'Two' },
			],
		};
		const binary = { data: binaryOf(picture('red'), 'photo.png') };
		const itemsOf = async (operation: string, parameters: IDataObject) => {
			const route = operation === 'edit' ? 'imageEdit' : 'imageGenerate';
			gateway.fault({ ...{ route, action: 'answer' }, body: JSON.stringify(answer) });
			const node = image(operation, { model: byId('image-1'), ...parameters });
			return (await run(node, { input: [{ json: {}, binary }] })).items('Image');
		};

		it.each(['generate', 'edit'])('returns compact items with Simplify: %s', async (operation) => {
			const items = await itemsOf(operation, {});
			expect(items.map(({ json }) => json)).toEqual(
				['One', 'Two'].map((revised_prompt, index) => ({
					...{ revised_prompt, index, created: 7, model: 'image-1-x' },
					...(index === 0 && { usage: { total_tokens: 9 } }),
					request_id: expect.any(String),
				})),
			);
		});

		it.each(['generate', 'edit'])(
			'returns all fields without Simplify, but only the own entry of each image: %s',
			async (operation) => {
				const items = await itemsOf(operation, { simplify: false });
				expect(items.map(({ json }) => json)).toEqual(
					['One', 'Two'].map((revised_prompt, index) => ({
						...{ revised_prompt, index, created: 7, model: 'image-1-x', background: 'auto' },
						...(index === 0 && { usage: { total_tokens: 9 } }),
						request_id: expect.any(String),
					})),
				);
				for (const item of items) expect(item.binary?.data.mimeType).toBe('image/png');
			},
		);

		it('reports the tokens once, on the first image that could be fetched', async () => {
			const body = JSON.stringify({ ...answer, data: [{ b64_json: 'aaaa' }, ...answer.data] });
			gateway.fault({ route: 'imageGenerate', action: 'answer', body });
			const node = image('generate', { model: byId('image-1') });
			const items = (await run({ ...node, onError: 'continueRegularOutput' })).items('Image');
			expect(items.map(({ json }) => json.usage)).toEqual([undefined, answer.usage, undefined]);
		});
	});

	it('stores images that arrive as base64 or as a data URL as files', async () => {
		const data = Buffer.from(picture('red')).toString('base64');
		gateway.fault({
			...{ route: 'imageGenerate', action: 'answer' },
			body: JSON.stringify({
				data: [{ b64_json: data }, { url: `data:image/png;base64,${data}` }],
			}),
		});
		const result = await run(image('generate', { model: byId('image-1'), binaryField: 'photo' }));
		for (const item of result.items('Image')) {
			expect((await result.binary(item, 'photo')).equals(picture('red'))).toBe(true);
			expect(JSON.stringify(item.json)).not.toContain(data.slice(0, 50));
		}
	});

	it.each(['link', 'base64'])(
		'does not order an image again in a Retry after n8n could not store it (%s)',
		async (form) => {
			const data = [{ b64_json: Buffer.from(picture('red')).toString('base64') }];
			if (form === 'base64') {
				const body = JSON.stringify({ data });
				gateway.fault({ route: 'imageGenerate', action: 'answer', body });
			}
			const node = image('generate', { model: byId('image-1') });
			const failed = await withoutStore(async () => await run(node));
			const error = failed.errorOf('Image');
			expect(error?.message).toMatch(/n8n could not store it: E|could not be stored: E/);
			expect(error?.description).toContain('The image is made and charged');
			const retried = await retryExecution(failed);
			expect(retried.errorOf('Image') === undefined).toBe(form === 'link');
			expect(gateway.requests.filter(({ route }) => route === 'imageGenerate')).toHaveLength(1);
		},
	);

	it('downloads an image in a Retry without a second charge after its download failed', async () => {
		gateway.fault({ route: 'download', action: 'error', status: 410, code: 'gone' });
		const failed = await run(image('generate', { model: byId('image-1') }));
		expect(failed.errorOf('Image')?.message).toContain('Could not download the image');
		const retried = await retryExecution(failed);
		expect(retried.items('Image')[0].binary?.data.mimeType).toBe('image/png');
		expect(gateway.ledger).toHaveLength(1);
	});

	it('puts the aspect marker at the very end of the prompt of an image by chat', async () => {
		const url = gateway.addMedia('red.png', picture('red'), 'image/png');
		const result = await run(
			image('chat', {
				model: byId('image-chat-1'),
				aspectMarker: '2:3',
				images: { values: [{ source: 'url', url }] },
			}),
		);
		const [item] = result.items('Image');
		expect(item.json.text).toContain('![');
		const shown = await loadImage(await result.binary(item));
		expect(shown.width / shown.height).toBeCloseTo(2 / 3, 1);
		expect(gateway.requests[0].body).toMatchObject({
			messages: [{ content: [{ text: 'A lighthouse【2:3】' }, { image_url: { url } }] }],
		});
	});

	describe('images by chat', () => {
		const link = 'https://pictures.example/1.png';
		const choice = (content: string | null, finish_reason: string) => ({
			message: { role: 'assistant', content },
			finish_reason,
		});
		const answers = (...choices: object[]) =>
			gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify({ choices }) });
		const ask = async (options: IDataObject = {}, parameters: IDataObject = {}) =>
			await run(
				image('chat', { model: byId('image-chat-1'), download: false, options, ...parameters }),
			);

		it('shows hints why an image response is incomplete, and how many choices are missing', async () => {
			answers(choice(`![a](${link})`, 'length'), choice('', 'content_filter'));
			const result = await ask({ n: 3 });
			expect(result.items('Image').map(({ json }) => json)).toEqual([
				{
					...{ url: link, text: `![a](${link})`, finish_reason: 'length' },
					request_id: expect.any(String),
				},
			]);
			expect(result.hintsOf('Image')).toEqual([
				'The answer is not complete: max_tokens reached (finish_reason length).',
				'The answer is not complete: withheld by the content filter (finish_reason content_filter).',
				'2 of the 3 answers came.',
			]);
		});

		it('advises another prompt when the content filter withheld the image', async () => {
			answers(choice(null, 'content_filter'));
			const error = (await ask()).errorOf('Image');
			expect(error?.message).toContain(
				'the response has no image: it was withheld by the content filter',
			);
			expect(error?.description).toContain('change the prompt or the media');
			expect(error?.description).not.toContain('web page');
			expect(gateway.requests).toHaveLength(1);
		});
	});
});
