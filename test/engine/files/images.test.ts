import { GifEncoder } from '@napi-rs/canvas';
import type { IDataObject } from 'n8n-workflow';
import { UploadedFile } from '../../../gateway/files';
import { deleteFiles, retryExecution, type RunOptions, withoutStore } from '../../harness';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { picture } from '../../support/data/samples';
import { answer, startServer } from '../../support/http/scriptedServer';
import { byId, chain, modelGateway, type Node } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const binaryOf = (bytes: Uint8Array, fileName: string, mimeType = 'image/png') => ({
	fileName,
	mimeType,
	data: Buffer.from(bytes).toString('base64'),
});

describe('images', () => {
	const { gateway, runWorkflow } = withGateway({});

	const image = (operation: string, parameters: IDataObject) =>
		modelGateway(
			{ resource: 'image', operation, prompt: 'A lighthouse', ...parameters },
			{ name: 'Image' },
		);
	const run = async (node: Node, options: RunOptions = {}) =>
		await runWorkflow(chain(node), { ...options });
	describe('the other fields of an image response', () => {
		const data = Buffer.from(picture('red')).toString('base64');
		const answer = {
			created: 7,
			background: 'auto',
			usage: { total_tokens: 9 },
			model: 'image-1-x',
			data: [
				{ b64_json: data, revised_prompt: 'One' },
				{ b64_json: data, revised_prompt: 'Two' },
			],
		};
		const binary = { data: binaryOf(picture('red'), 'photo.png') };
		const itemsOf = async (operation: string, parameters: IDataObject) => {
			const route = operation === 'edit' ? 'imageEdit' : 'imageGenerate';
			gateway.fault({ route, action: 'answer', body: JSON.stringify(answer) });
			const node = image(operation, { model: byId('image-1'), ...parameters });
			return (await run(node, { input: [{ json: {}, binary }] })).items('Image');
		};

		it.each(['generate', 'edit'])(
			'returns all fields without Simplify, but only the own entry of each image: %s',
			async (operation) => {
				const items = await itemsOf(operation, { simplify: false });
				expect(items.map(({ json }) => json)).toEqual(
					['One', 'Two'].map((revised_prompt, index) => ({
						revised_prompt,
						index,
						created: 7,
						model: 'image-1-x',
						background: 'auto',
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

	it.each(['link', 'base64'])(
		'fetches an image again in a Retry when n8n has deleted its file, or says that it is charged (%s)',
		async (form) => {
			const red = Buffer.from(picture('red'));
			const { url } = await startServer(answer(200, red));
			const data = [
				form === 'link' ? { url: `${url}/a.png` } : { b64_json: red.toString('base64') },
			];
			const refusal = { error: { message: 'No blue' } };
			for (const [status, said] of Object.entries({ 200: { data }, 400: refusal })) {
				const body = JSON.stringify(said);
				const fault = { route: 'imageGenerate', action: 'answer', body } as const;
				gateway.fault({ ...fault, status: Number(status) });
			}
			const node = image('generate', {
				model: byId('image-1'),
				prompt: '={{ $json.prompt }}',
				options: { parallelRequests: 1 },
			});
			const input = ['Red', 'Blue'].map((prompt) => ({ json: { prompt } }));
			const failed = await run(node, { input });
			await deleteFiles(failed);
			const retried = await retryExecution(failed);
			const { message = '', description } = retried.errorOf('Image') ?? {};
			expect(message === '').toBe(form === 'link');
			if (message === '') return;
			expect(message).toContain(
				'n8n no longer has the file of an earlier execution: File not found',
			);
			expect(description).toContain('The image is made and charged');
		},
	);

	it('shows hints why an image response is incomplete, and how many choices are missing', async () => {
		const url = 'https://pictures.example/1.png';
		const text = `![a](${url})`;
		const choices = [
			{ message: { role: 'assistant', content: text }, finish_reason: 'length' },
			{ message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' },
		];
		gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify({ choices }) });
		const parameters = { model: byId('image-chat-1'), download: false, options: { n: 3 } };
		const result = await run(image('chat', parameters));
		expect(result.items('Image').map(({ json }) => json)).toEqual([
			{ url, text, finish_reason: 'length', request_id: expect.any(String) },
		]);
		expect(result.hintsOf('Image')).toEqual([
			'The answer is not complete: max_tokens reached (finish_reason length).',
			'The answer is not complete: withheld by the content filter (finish_reason content_filter).',
			'2 of the 3 answers came.',
		]);
	});

	it('sends earlier messages with their images before the prompt, and refuses an empty one', async () => {
		const first = { role: 'user', content: 'A lighthouse' };
		const file = { source: 'binary', binaryField: 'data' };
		const answer = { role: 'assistant', content: 'Here', images: { values: [file] } };
		const data = binaryOf(picture('red'), 'photo.png');
		const turn = async (...values: object[]) => {
			const earlierMessages = { values };
			const node = image('chat', { model: byId('image-chat-1'), earlierMessages } as IDataObject);
			return await run(node, { input: [{ json: {}, binary: { data } }] });
		};
		expect((await turn(first, answer)).status).toBe('success');
		const url = `data:image/png;base64,${data.data}`;
		const content = [
			{ type: 'text', text: 'Here' },
			{ type: 'image_url', image_url: { url } },
		];
		expect(gateway.requests[0].body).toMatchObject({
			messages: [first, { role: 'assistant', content }, { role: 'user', content: 'A lighthouse' }],
		});
		const { message } = (await turn({ ...first, content: ' ' })).errorOf('Image') ?? {};
		expect(message).toBe('Earlier Message 1: Content is empty');
	});

	// Files that are sent as images.

	const images = { values: [{ source: 'binary', binaryField: 'data' }] };
	const operations: Record<string, IDataObject> = {
		'image.edit': { resource: 'image', operation: 'edit', model: byId('image-edit-1') },
		'image.chat': { resource: 'image', operation: 'chat', model: byId('image-chat-1'), images },
		'chat.complete': {
			resource: 'chat',
			operation: 'complete',
			model: byId('chat-1'),
			messages: { values: [{ role: 'user', content: 'What is this?', images }] },
		},
	};
	const names = Object.keys(operations);
	const send = async (
		operation: string,
		bytes: Uint8Array,
		fileName: string,
		mimeType: string,
		options: IDataObject = {},
	) => {
		const input = [{ json: {}, binary: { data: binaryOf(bytes, fileName, mimeType) } }];
		const node = modelGateway({ prompt: 'A lighthouse', ...operations[operation], options });
		return await runWorkflow(chain(node), { input });
	};

	/** The one file in a request: a part of a form, or a data URL. */
	function sentFile(body: unknown): Buffer {
		const { image } = body as { image?: UploadedFile };
		if (image instanceof UploadedFile) return Buffer.from(image.bytes);
		const [, base64] = /base64,([\w+/=]*)/.exec(JSON.stringify(body)) ?? [];
		return Buffer.from(base64 ?? '', 'base64');
	}

	function animation(): Uint8Array {
		const encoder = new GifEncoder(8, 8);
		for (const shade of [0, 255]) {
			encoder.addFrame(new Uint8Array(8 * 8 * 4).fill(shade), 8, 8, { delay: 100 });
		}
		return encoder.finish();
	}

	it.each(names)('refuses an animation with the name of a JPEG: %s', async (operation) => {
		const result = await send(operation, animation(), 'multi.jpg', 'image/jpeg');
		expect(result.errorOf('Model Gateway')?.message).toContain(
			'several frames behind the name multi.jpg',
		);
		expect(gateway.requests).toEqual([]);
	});

	it.each(names)(
		'sends only the first image of a JPEG with several, and says so, unless checks are skipped: %s',
		async (operation) => {
			const plain = jpegOf('teal');
			const file = withPictures(plain, jpegOf('orange'));
			const sendPhoto = async (options: IDataObject) => {
				const result = await send(operation, file, 'photo.jpg', 'image/jpeg', options);
				const posts = gateway.requests.filter(({ method }) => method === 'POST');
				return { sent: sentFile(posts.at(-1)?.body), hints: result.hintsOf('Model Gateway') };
			};
			const hint = 'photo.jpg holds more than one image, or a clip; only its first image was sent.';
			expect(await sendPhoto({})).toEqual({ sent: plain, hints: [hint] });
			expect(await sendPhoto({ skipChecks: true })).toEqual({ sent: file, hints: [] });
		},
	);
});
