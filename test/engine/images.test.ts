import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { retryExecution, runWorkflow, type RunOptions } from '../harness';
import { picture } from './support/samples';
import { byId, chain, credentialFor, modelGateway } from './support/workflows';

const binaryOf = (bytes: Uint8Array, fileName: string, mimeType = 'image/png') => ({
	...{ fileName, mimeType },
	data: Buffer.from(bytes).toString('base64'),
});

describe('images', () => {
	let gateway: Gateway;
	beforeEach(async () => void (gateway = await startGateway()));
	afterEach(async () => await gateway.close());

	const image = (operation: string, parameters: IDataObject) =>
		modelGateway(
			{ resource: 'image', operation, prompt: 'A lighthouse', ...parameters },
			{ name: 'Image' },
		);
	const run = async (node: ReturnType<typeof modelGateway>, options: RunOptions = {}) =>
		await runWorkflow(chain(node), { credentials: credentialFor(gateway), ...options });
	const downloads = () => gateway.requests.filter(({ host }) => host === 'storage');

	it('are generated and downloaded at once, each as an item', async () => {
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

	it('that come as base64 or as a data URL become files too', async () => {
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

	it('whose download fails are not paid again', async () => {
		gateway.fault({ route: 'download', action: 'error', status: 404, code: 'gone' });
		const failed = await run(image('generate', { model: byId('image-1') }));
		expect(failed.errorOf('Image')?.message).toContain('Could not download the picture');
		const retried = await retryExecution(failed);
		expect(retried.items('Image')[0].binary?.data.mimeType).toBe('image/png');
		expect(gateway.ledger).toHaveLength(1);
	});

	it('are edited where the mask is white', async () => {
		const mask = createCanvas(640, 480);
		const context = mask.getContext('2d');
		context.fillStyle = 'black';
		context.fillRect(0, 0, 640, 480);
		context.fillStyle = 'white';
		context.fillRect(320, 0, 320, 480);
		const binary = {
			photo: binaryOf(picture('red'), 'photo.jpg'),
			area: binaryOf(mask.toBuffer('image/png'), 'area.png'),
		};
		const parameters = { imageBinaryField: 'photo', maskSource: 'binary', maskBinaryField: 'area' };
		const result = await run(image('edit', { model: byId('image-edit-1'), ...parameters }), {
			input: [{ json: {}, binary }],
		});

		const edited = await loadImage(await result.binary(result.items('Image')[0]));
		const canvas = createCanvas(edited.width, edited.height);
		canvas.getContext('2d').drawImage(edited, 0, 0);
		const colourAt = (x: number) => [
			...canvas.getContext('2d').getImageData(x, 240, 1, 1).data.slice(0, 3),
		];
		expect(colourAt(100)).toEqual([255, 0, 0]);
		expect(colourAt(500)).not.toEqual([255, 0, 0]);
	});

	it('with several frames behind a .jpg name are caught before anything is sent', async () => {
		const frame = Buffer.from('21f90400000000002c00000000010001000002024401003b', 'hex');
		const gif = Buffer.concat([
			Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00', 'latin1'),
			frame.subarray(0, -1),
			frame,
		]);
		const binary = { data: binaryOf(gif, 'animated.jpg', 'image/jpeg') };
		const result = await run(image('edit', { model: byId('image-edit-1') }), {
			input: [{ json: {}, binary }],
		});
		expect(result.errorOf('Image')?.message).toContain(
			'several frames behind the name animated.jpg',
		);
		expect(gateway.requests).toHaveLength(0);
	});

	it('are made by chat, with the marker at the very end of the prompt', async () => {
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

	it('inside the text of a chat answer become files, and leave the text', async () => {
		const data = Buffer.from(picture('red')).toString('base64');
		const content = `Here it is: ![red](data:image/png;base64,${data}) Enjoy!`;
		const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });
		gateway.fault({ route: 'chat', action: 'answer', body });
		const result = await run(image('chat', { model: byId('image-chat-1') }));
		const [item] = result.items('Image');
		expect(item.json.text).toBe('Here it is: ![red](data:image) Enjoy!');
		expect((await result.binary(item)).equals(picture('red'))).toBe(true);
	});

	it('that a chat answer lacks are an error that shows the text', async () => {
		const node = image('chat', { model: byId('image-chat-1'), prompt: 'A lighthouse [no image]' });
		const result = await run(node);
		expect(result.errorOf('Image')?.message).toMatch(/has no picture, only this text: .+/);
	});
});
