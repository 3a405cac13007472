import { GifEncoder } from '@napi-rs/canvas';
import { UploadedFile } from '../../../gateway/files';
import { deleteFiles, retryExecution, type RunOptions, withoutStore } from '../../harness';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { answer, startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import {
	fileOf,
	itemsOf,
	nodeFor,
	png,
	run as runNode,
	type Fields,
	type Operation,
} from '../../support/nodes';

describe('images', () => {
	const { gateway } = withGateway({});

	const run = async (name: Operation, more: Fields = {}, options: RunOptions = {}) =>
		await runNode(gateway, nodeFor(name, more), options);
	const answers = (said: unknown, status = 200) =>
		gateway.fault({
			route: 'imageGenerate',
			action: 'answer',
			status,
			body: JSON.stringify(said),
		});
	const red = png.toString('base64');

	describe('the other fields of an image response', () => {
		const answer = {
			created: 7,
			background: 'auto',
			usage: { total_tokens: 9 },
			model: 'image-1-x',
			data: [
				{ b64_json: red, revised_prompt: 'One' },
				{ b64_json: red, revised_prompt: 'Two' },
			],
		};

		it.each(['image.generate', 'image.edit'] as const)(
			'returns all fields without Simplify, but only the own entry of each image: %s',
			async (name) => {
				const route = name === 'image.edit' ? 'imageEdit' : 'imageGenerate';
				gateway.fault({ route, action: 'answer', body: JSON.stringify(answer) });
				const items = (await run(name, { simplify: false })).items('Node');
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
			answers({ ...answer, data: [{ b64_json: 'aaaa' }, ...answer.data] });
			const node = nodeFor('image.generate', {}, { onError: 'continueRegularOutput' });
			const items = (await runNode(gateway, node)).items('Node');
			expect(items.map(({ json }) => json.usage)).toEqual([undefined, answer.usage, undefined]);
		});
	});

	it.each(['link', 'base64'])(
		'does not order an image again in a Retry after n8n could not store it (%s)',
		async (form) => {
			if (form === 'base64') answers({ data: [{ b64_json: red }] });
			const failed = await withoutStore(async () => await run('image.generate'));
			const error = failed.errorOf('Node');
			expect(error?.message).toMatch(/n8n could not store it: E|could not be stored: E/);
			expect(error?.description).toContain('The image is made and charged');
			const retried = await retryExecution(failed);
			expect(retried.errorOf('Node') === undefined).toBe(form === 'link');
			expect(gateway.requests.filter(({ route }) => route === 'imageGenerate')).toHaveLength(1);
		},
	);

	it.each(['link', 'base64'])(
		'fetches an image again in a Retry when n8n has deleted its file, or says that it is charged (%s)',
		async (form) => {
			const { url } = await startServer(answer(200, png));
			answers({ data: [form === 'link' ? { url: `${url}/a.png` } : { b64_json: red }] });
			answers({ error: { message: 'No blue' } }, 400);
			const input = itemsOf({ text: 'Red' }, { text: 'Blue' });
			const failed = await run('image.generate', { options: { parallelRequests: 1 } }, { input });
			await deleteFiles(failed);
			const retried = await retryExecution(failed);
			const { message = '', description } = retried.errorOf('Node') ?? {};
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
		const result = await run('image.chat', { download: false, options: { n: 3 } });
		expect(result.items('Node').map(({ json }) => json)).toEqual([
			{ url, text, finish_reason: 'length', request_id: expect.any(String) },
		]);
		expect(result.hintsOf('Node')).toEqual([
			'The answer is not complete: max_tokens reached (finish_reason length).',
			'The answer is not complete: withheld by the content filter (finish_reason content_filter).',
			'2 of the 3 answers came.',
		]);
	});

	it('sends earlier messages with their images before the prompt, and refuses an empty one', async () => {
		const first = { role: 'user', content: 'A lighthouse' };
		const file = { source: 'binary', binaryField: 'data' };
		const answer = { role: 'assistant', content: 'Here', images: { values: [file] } };
		const turn = async (...values: object[]) =>
			await run('image.chat', { prompt: 'A lighthouse', earlierMessages: { values } } as Fields);
		expect((await turn(first, answer)).status).toBe('success');
		const url = `data:image/png;base64,${red}`;
		const content = [
			{ type: 'text', text: 'Here' },
			{ type: 'image_url', image_url: { url } },
		];
		expect(gateway.requests[0].body).toMatchObject({
			messages: [first, { role: 'assistant', content }, { role: 'user', content: 'A lighthouse' }],
		});
		const { message } = (await turn({ ...first, content: ' ' })).errorOf('Node') ?? {};
		expect(message).toBe('Earlier Message 1: Content is empty');
	});

	// Files that are sent as images.

	const images = { values: [{ source: 'binary', binaryField: 'data' }] };
	const takers: Array<[Operation, Fields]> = [
		['image.edit', {}],
		['image.chat', { images }],
		['chat.complete', { messages: { values: [{ role: 'user', content: 'What is it?', images }] } }],
	];
	const send = async (taker: (typeof takers)[number], bytes: Uint8Array, options: Fields = {}) => {
		const [name, more] = taker;
		const input = [{ json: {}, binary: { data: fileOf(bytes, 'photo.jpg', 'image/jpeg') } }];
		return await run(name, { ...more, options }, { input });
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

	it.each(takers)('refuses an animation with the name of a JPEG: %s', async (...taker) => {
		const result = await send(taker, animation());
		expect(result.errorOf('Node')?.message).toContain('several frames behind the name photo.jpg');
		expect(gateway.requests).toEqual([]);
	});

	it.each(takers)(
		'sends only the first image of a JPEG with several, and says so, unless checks are skipped: %s',
		async (...taker) => {
			const plain = jpegOf('teal');
			const file = withPictures(plain, jpegOf('orange'));
			const sendPhoto = async (options: Fields) => {
				const result = await send(taker, file, options);
				const posts = gateway.requests.filter(({ method }) => method === 'POST');
				return { sent: sentFile(posts.at(-1)?.body), hints: result.hintsOf('Node') };
			};
			const hint = 'photo.jpg holds more than one image, or a clip; only its first image was sent.';
			expect(await sendPhoto({})).toEqual({ sent: plain, hints: [hint] });
			expect(await sendPhoto({ skipChecks: true })).toEqual({ sent: file, hints: [] });
		},
	);
});
