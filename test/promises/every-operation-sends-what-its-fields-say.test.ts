import { withGateway } from '../support/http/withGateway';
import { byId } from '../support/workflows/workflows';
import { fileOf, nodeFor, png, run, type Fields, type Operation } from '../support/nodes';

const { gateway } = withGateway({ jobSeconds: Infinity });

const link = 'https://firm.example/a.png';
const sent = async (name: Operation, parameters: Fields): Promise<unknown> => {
	// Only the request matters here, and the service fetches no link for one that it refuses.
	const routes = ['chat', 'message', 'imageGenerate', 'referenceVideoCreate'] as const;
	const refusal = { action: 'error', status: 403, code: 'permission_denied' } as const;
	for (const route of routes) gateway.fault({ route, ...refusal });
	await run(gateway, nodeFor(name, parameters));
	return gateway.requests[0].body;
};

const image = { type: 'image_url', image_url: { url: link, detail: 'high' } };
const images = { values: [{ source: 'url', url: link, detail: 'high' }] };
const cases: Array<[Operation, Fields, Fields]> = [
	[
		'chat.complete',
		{
			messages: {
				values: [
					{ role: 'system', content: 'Be brief' },
					{ content: 'Hi', images },
				],
			},
			options: {
				temperature: 0.5,
				maxTokens: 9,
				topP: 0.9,
				frequencyPenalty: 1,
				presencePenalty: -1,
				stop: ['END', 'STOP'],
				stream: true,
				n: 2,
				user: 'u1',
			},
		},
		{
			model: 'chat-1',
			messages: [
				{ role: 'system', content: 'Be brief' },
				{ role: 'user', content: [{ type: 'text', text: 'Hi' }, image] },
			],
			temperature: 0.5,
			max_tokens: 9,
			top_p: 0.9,
			frequency_penalty: 1,
			presence_penalty: -1,
			stop: ['END', 'STOP'],
			stream: true,
			n: 2,
			user: 'u1',
		},
	],
	[
		'message.create',
		{ maxTokens: 50 },
		{ model: 'chat-1', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
	],
	[
		'embedding.create',
		{ options: { encodingFormat: 'base64', dimensions: 64 } },
		{ model: 'embed-1', input: ['A boat'], encoding_format: 'base64', dimensions: 64 },
	],
	[
		'image.generate',
		{
			options: {
				n: 2,
				size: '1024x1024',
				quality: 'hd',
				style: 'vivid',
				aspectRatio: '16:9',
				seed: 7,
				promptUpsampling: true,
				safetyTolerance: 2,
			},
		},
		{
			model: 'image-1',
			prompt: 'A boat',
			n: 2,
			size: '1024x1024',
			quality: 'hd',
			style: 'vivid',
			aspect_ratio: '16:9',
			seed: 7,
			prompt_upsampling: true,
			safety_tolerance: 2,
		},
	],
	[
		'image.edit',
		{
			prompt: '=A boat\non {{ "Mars\\r\\n" }}',
			imageSource: 'url',
			imageUrl: link,
			maskSource: 'url',
			maskUrl: link,
			options: { n: 2 },
		},
		{ model: 'image-edit-1', prompt: 'A boat\non Mars\r\n', image: link, mask: link, n: '2' },
	],
	[
		'image.chat',
		{ aspectMarker: '3:2', images, options: { n: 2, maxTokens: 9, detail: 'high' } },
		{
			model: 'image-chat-1',
			messages: [{ role: 'user', content: [{ type: 'text', text: 'A boat【3:2】' }, image] }],
			n: 2,
			max_tokens: 9,
		},
	],
	[
		'referenceVideo.create',
		{
			model: byId('beta-2.7-r2v'),
			media: {
				values: [
					{ type: 'reference_image', url: link, voiceUrl: 'https://firm.example/a.mp3' },
					{ type: 'first_frame', url: link },
				],
			},
			options: { resolution: '720P', ratio: '1:1', duration: 3, promptExtend: true, seed: 5 },
		},
		{
			model: 'beta-2.7-r2v',
			input: {
				prompt: 'A boat',
				media: [
					{ type: 'reference_image', url: link, reference_voice: 'https://firm.example/a.mp3' },
					{ type: 'first_frame', url: link },
				],
			},
			parameters: { resolution: '720P', ratio: '1:1', duration: 3, prompt_extend: true, seed: 5 },
		},
	],
	['video.create', {}, { model: 'vid-3.1', prompt: 'A boat' }],
];

it.each(cases)(
	'sends each field under the name that the service has for it: %s',
	async (...row) => {
		const [name, parameters, body] = row;
		expect(await sent(name, parameters)).toEqual(body);
	},
);

it('sends false and 0 that are set, and neither an option that is not added nor an empty one', async () => {
	const options = { temperature: 0, n: 1, stream: false, user: '', stop: [] };
	expect(await sent('chat.complete', { options })).toEqual({
		model: 'chat-1',
		messages: [{ role: 'user', content: 'Hello' }],
		temperature: 0,
		n: 1,
		stream: false,
	});
});

it('sends no empty text beside the images of a message', async () => {
	const messages = { values: [{ role: 'user', content: '', images }] };
	expect(await sent('chat.complete', { messages })).toMatchObject({
		messages: [{ role: 'user', content: [image] }],
	});
});

it('merges Extra Body into the request, also nested objects, and lets it win', async () => {
	const extraBody = '{ "parameters": { "negative_prompt": "rain", "duration": 4 }, "tags": ["a"] }';
	const options = { duration: 3, watermark: false, extraBody };
	expect(await sent('referenceVideo.create', { options })).toMatchObject({
		parameters: { negative_prompt: 'rain', duration: 4, watermark: false },
		tags: ['a'],
		input: { prompt: 'A boat' },
	});
});

it('starts a reference video as a task, and names the version of native messages, by their headers', async () => {
	const media = { values: [{ url: link }] };
	await sent('referenceVideo.create', { media });
	expect(gateway.requests[0].headers).toMatchObject({ 'x-gateway-async': 'enable' });
	await run(gateway, nodeFor('message.create'));
	const options = { versionHeaderName: 'vendor-version', versionHeaderValue: '2024-10-01' };
	await run(gateway, nodeFor('message.create', { options }));
	expect(gateway.requests.slice(1).map(({ headers }) => headers)).toMatchObject([
		{ 'x-gateway-version': '2023-06-01' },
		{ 'vendor-version': '2024-10-01' },
	]);
});

it('sends a file of an earlier node as a part of a form to be edited, and to a chat as a data URL', async () => {
	const binary = { photo: fileOf(png, 'a.png', 'application/octet-stream') };
	const input = [{ json: {}, binary }];
	await run(gateway, nodeFor('image.edit', { imageBinaryField: 'photo' }), { input });
	const own = { images: { values: [{ source: 'binary', binaryField: 'photo' }] } };
	await run(gateway, nodeFor('image.chat', own), { input });
	const [edit, chat] = gateway.requests.filter(({ method }) => method === 'POST');
	expect(edit.headers['content-type']).toMatch(/^multipart\/form-data/);
	expect(Buffer.from((edit.body as { image: { bytes: Uint8Array } }).image.bytes)).toEqual(png);
	expect(JSON.stringify(chat.body)).toContain(`data:image/png;base64,${png.toString('base64')}`);
});
