import { referenceVideoCreate } from '../../../../nodes/ModelGateway/resources/referenceVideo/create';
import type { Media } from '../../../../nodes/shared/gateway/jobs/referenceMedia';
import {
	referenceVideoWarnings,
	referenceVideoProblems,
	type ReferenceVideoParameters,
	type ReferenceVideoRequest,
} from '../../../../nodes/shared/gateway/jobs/referenceVideo';
import { labelOf } from '../../../../nodes/shared/n8n/parameters/field';

const alpha = 'alpha-1.1-r2v';
const beta = 'beta-2.7-r2v';
const gateway = 'https://gateway.example';

const url = 'https://firm.example/file';
const image = { type: 'reference_image', url };
const video = { type: 'reference_video', url };
const firstFrame = { type: 'first_frame', url };
const many = (count: number, media: Media) => Array<Media>(count).fill(media);

interface Order {
	model?: string;
	prompt?: string;
	media?: unknown[];
	parameters?: ReferenceVideoParameters;
}

const requestOf = ({ model = beta, prompt = 'a cat', media = [image], parameters }: Order) =>
	({ model, input: { prompt, media }, ...(parameters && { parameters }) }) as ReferenceVideoRequest;

/** The label of a request's field in the panel. */
const fieldOf = (path: string) =>
	labelOf(path, [...referenceVideoCreate.fields, ...(referenceVideoCreate.options ?? [])]);

const typeNames: Record<string, string> = {
	reference_image: 'Reference Image',
	reference_video: 'Reference Video',
	first_frame: 'First Frame',
};
const wording = {
	typeName: (type: string) => typeNames[type] ?? type,
	multipleLinksHint: 'add another',
};

/** The problems as the user reads them. */
const problemsOf = (order: Order, gatewayUrl = gateway) =>
	referenceVideoProblems(requestOf(order), gatewayUrl, wording).map(
		({ path, problem }) => `${fieldOf(path)} ${problem}`,
	);

const warningsOf = (order: Order) =>
	referenceVideoWarnings(requestOf(order)).map(
		({ path, problem }) => `${fieldOf(path)} ${problem}`,
	);

describe('alpha-1.1-r2v', () => {
	const all = { resolution: '1080P', duration: 15, prompt_extend: false, watermark: true, seed: 0 };

	it.each<[string, Order]>([
		['one image', { media: many(1, image) }],
		['nine images', { media: many(9, image) }],
		['every parameter', { parameters: all }],
		[
			'the shortest duration and the largest seed',
			{ parameters: { duration: 2, seed: 2_147_483_647 } },
		],
		['720P', { parameters: { resolution: '720P' } }],
		['a prompt of any length', { prompt: 'a'.repeat(20_000) }],
	])('accepts a request for alpha-1.1-r2v with %s', (_, order) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([]);
	});

	it.each<[Order, string]>([
		[{ media: [] }, 'Media must have 1 to 9 Reference Image entries for alpha-1.1-r2v (it has 0)'],
		[
			{ media: many(10, image) },
			'Media must have 1 to 9 Reference Image entries for alpha-1.1-r2v (it has 10)',
		],
		[
			{ media: [image, video] },
			'Media 2: Type must be Reference Image for alpha-1.1-r2v (it is "Reference Video")',
		],
		[
			{ media: [image, firstFrame] },
			'Media 2: Type must be Reference Image for alpha-1.1-r2v (it is "First Frame")',
		],
		[
			{ media: [{ ...image, reference_voice: 'https://firm.example/a.mp3' }] },
			'Media 1: Voice URL cannot be used with alpha-1.1-r2v',
		],
		[
			{ parameters: { resolution: '720p' } },
			'Resolution must be one of 720P, 1080P (it is "720p")',
		],
		[
			{ parameters: { duration: 1 } },
			'Duration (Seconds) must be a whole number from 2 to 15 (it is 1)',
		],
		[
			{ parameters: { duration: 16 } },
			'Duration (Seconds) must be a whole number from 2 to 15 (it is 16)',
		],
		[
			{ parameters: { duration: 4.5 } },
			'Duration (Seconds) must be a whole number from 2 to 15 (it is 4.5)',
		],
		[{ parameters: { seed: -1 } }, 'Seed must be a whole number from 0 to 2147483647 (it is -1)'],
		[
			{ parameters: { seed: 2_147_483_648 } },
			'Seed must be a whole number from 0 to 2147483647 (it is 2147483648)',
		],
	])('refuses the request for alpha-1.1-r2v: %j', (order, problem) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([problem]);
	});
});

describe('beta-2.7-r2v', () => {
	const voice = { reference_voice: 'https://firm.example/voice.mp3' };
	const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4'];

	it.each<[string, Order]>([
		['five images', { media: many(5, image) }],
		['five videos', { media: many(5, video) }],
		[
			'five of both and a first frame',
			{ media: [...many(2, image), firstFrame, ...many(3, video)] },
		],
		// The specification does not show its minimum number of references.
		['a first frame alone', { media: [firstFrame] }],
		['a voice for an image', { media: [{ ...image, ...voice }] }],
		['a voice for a video', { media: [{ ...video, ...voice }] }],
		['10 s with a video', { media: [video], parameters: { duration: 10 } }],
		['15 s without a video', { media: [image, firstFrame], parameters: { duration: 15 } }],
		// The specification does not show whether it takes a seed.
		['any seed', { parameters: { seed: -1.5 } }],
		['another field of a medium', { media: [{ ...image, weight: 0.5 }] }],
		['a prompt of 5000 characters', { prompt: 'a'.repeat(5000) }],
		['a prompt of 5000 characters of two UTF-16 units', { prompt: '🎬'.repeat(5000) }],
		['false for both switches', { parameters: { prompt_extend: false, watermark: false } }],
		...ratios.map((ratio): [string, Order] => [`the ratio ${ratio}`, { parameters: { ratio } }]),
	])('accepts a request for beta-2.7-r2v with %s', (_, order) => {
		expect(problemsOf(order)).toEqual([]);
	});

	it.each<[string, Order, string]>([
		[
			'six references',
			{ media: [...many(3, image), ...many(3, video), firstFrame] },
			'Media must have at most 5 Reference Image and Reference Video entries for beta-2.7-r2v (it has 6)',
		],
		[
			'two first frames',
			{ media: [firstFrame, image, firstFrame] },
			'Media must have at most 1 First Frame (it has 2)',
		],
		['no media', { media: [] }, 'Media must have at least one entry'],
		[
			'an unknown media type',
			{ media: [image, { type: 'last_frame', url }] },
			'Media 2: Type must be Reference Image or Reference Video or First Frame for beta-2.7-r2v (it is "last_frame")',
		],
		[
			'a voice for a first frame',
			{ media: [image, { ...firstFrame, ...voice }] },
			'Media 2: Voice URL belongs to Reference Image or Reference Video only',
		],
		[
			'a voice in another format',
			{ media: [{ ...image, reference_voice: 'https://firm.example/a.OGG?x=.mp3' }] },
			'Media 1: Voice URL must lead to a wav or mp3 file',
		],
		[
			'11 s with a video',
			{ media: [image, video], parameters: { duration: 11 } },
			'Duration (Seconds) must be a whole number from 2 to 10 (it is 11), because a reference video is given',
		],
		[
			'16 s without a video',
			{ parameters: { duration: 16 } },
			'Duration (Seconds) must be a whole number from 2 to 15 (it is 16)',
		],
		[
			'an unknown ratio',
			{ parameters: { ratio: '21:9' } },
			'Aspect Ratio must be one of 16:9, 9:16, 1:1, 4:3, 3:4 (it is "21:9")',
		],
		[
			'two links in one field',
			{ media: [image, { ...image, url: `${url} ${url}` }] },
			'Media 2: URL must be one link (it holds 2): add another',
		],
		[
			'two voices',
			{ media: [{ ...image, reference_voice: `${url} ${url}` }] },
			'Media 1: Voice URL must be one link (it holds 2)',
		],
		['a medium without a link', { media: [{ type: 'reference_image' }] }, 'Media 1: URL is empty'],
		[
			'a link that is no text',
			{ media: [{ ...image, url: [url] }] },
			'Media 1: URL must be a link that starts with https:// (it is a list)',
		],
		[
			'a medium without a type',
			{ media: [{ url }] },
			'Media 1: Type must be Reference Image or Reference Video or First Frame for beta-2.7-r2v (it is empty)',
		],
		[
			'a prompt of 5001 characters',
			{ prompt: '🎬'.repeat(5001) },
			'Prompt must be at most 5000 characters (it has 5001)',
		],
	])('refuses a request for beta-2.7-r2v with %s', (_, order, problem) => {
		expect(problemsOf(order)).toEqual([problem]);
	});

	it.each([
		'https://firm.example/voice.WAV?sig=1',
		'https://firm.example/voice',
		'https://firm.example/a.b/c',
	])('accepts a voice link that may lead to a wav or mp3 file: %s', (reference_voice) => {
		expect(problemsOf({ media: [{ ...image, reference_voice }] })).toEqual([]);
	});
});

describe('the problems of an order', () => {
	it('reports all problems of an order at once, each with the number of its entry', () => {
		const order: Order = {
			prompt: 'a'.repeat(5001),
			media: [
				image,
				{ type: 'reference_image', url: 'http://firm.example/cat.png' },
				{ ...firstFrame, reference_voice: 'voice.mp3' },
				{ type: 'picture', url: 'data:image/png;base64,AA' },
				...many(5, video),
			],
			parameters: { duration: 12, ratio: '2:1', resolution: '4K', seed: 7, watermark: true },
		};
		const problems = referenceVideoProblems(requestOf(order), gateway, wording);
		const fields = problems.map(({ path }) => fieldOf(path));
		expect(fields.sort()).toEqual(
			[
				'Media 2: URL',
				'Media 3: Voice URL',
				'Media 3: Voice URL',
				'Media 4: URL',
				'Media 4: Type',
				'Prompt',
				'Media',
				'Duration (Seconds)',
				'Aspect Ratio',
				'Resolution',
			].sort(),
		);
	});

	it('does not change the request that it checks', () => {
		const media = [firstFrame, video, image, { ...image, reference_voice: url }];
		const request = requestOf({ media, parameters: { ratio: '2:1' } });
		const before = structuredClone(request);
		referenceVideoProblems(request, gateway, wording);
		expect(request).toEqual(before);
	});

	it('reports no problem with a file that has no link yet', () => {
		expect(problemsOf({ media: [{ type: 'reference_image', url: undefined }] })).toEqual([]);
	});
});

describe('unknown models', () => {
	it.each(['gamma-3.0-r2v', 'toString', '__proto__', ''])(
		'applies no rules to the unknown model "%s"',
		(model) => {
			const order: Order = {
				model,
				prompt: 'a'.repeat(9999),
				media: [...many(20, image), { type: 'last_frame', url }],
				parameters: { duration: 60, ratio: '21:9', resolution: '4K', seed: -1 },
			};
			expect(problemsOf(order)).toEqual([]);
		},
	);

	it('accepts media of any form for an unknown model, even without a web link', () => {
		const media = [
			{ type: 'reference_audio', audio_id: 7 },
			{ type: 'reference_image', url: 'asset-1' },
			{ ...image, reference_voice: 'data:audio/ogg;base64,AA' },
			{ url: ['s3://bucket/cat.png'] },
			7,
		];
		// An expression may return a value that the field's type does not allow.
		const parameters = { duration: '8 s' as unknown as number };
		expect(problemsOf({ model: 'gamma-3.0-r2v', media, parameters })).toEqual([]);
	});

	it('refuses links that cannot be fetched for an unknown model', () => {
		const media = [
			image,
			{ type: 'last_frame', url: 'https://localhost/cat.png' },
			{ type: 'last_frame', url: 'http://firm.example/cat.png' },
			{ ...image, url: 'https://drive.google.com/file/d/1a/view' },
			{ ...image, url: '' },
		];
		expect(problemsOf({ model: 'gamma-3.0-r2v', media })).toEqual([
			'Media 2: URL must be a link that the gateway can fetch; localhost is reachable from your own network only',
			'Media 3: URL must be a public https link, and this one starts with http://',
			'Media 4: URL leads to a page of Google Drive, not to the file: use https://drive.google.com/uc?export=download&id=1a',
			'Media 5: URL is empty',
		]);
	});

	it('accepts media on this machine when the gateway also runs on it', () => {
		const media = [{ type: 'reference_image', url: 'http://localhost/cat.png' }];
		expect(problemsOf({ media }, 'http://127.0.0.1:8080')).toEqual([]);
	});
});

describe('values outside the specification', () => {
	const ratio = { parameters: { ratio: '16:9' } };
	const seed = { parameters: { seed: 7 } };

	it.each<[string, Order, string]>([
		['a ratio', { model: alpha, ...ratio }, 'Aspect Ratio is not listed for alpha-1.1-r2v'],
		['a seed', { model: beta, ...seed }, 'Seed is not listed for beta-2.7-r2v'],
	])('warns about %s that is not listed for the model', (_, order, said) => {
		expect(problemsOf(order)).toEqual([]);
		expect(warningsOf(order)).toEqual([
			`${said}: it is sent, and the service may ignore or refuse it`,
		]);
	});

	it('warns that a ratio has no effect with a first frame', () => {
		expect(warningsOf({ media: [image, firstFrame], ...ratio })).toEqual([
			'Aspect Ratio has no effect with a first frame',
		]);
	});

	it.each<[string, Order]>([
		['a ratio without a first frame', { media: [image, video], ...ratio }],
		['a seed for the model that has one', { model: alpha, ...seed }],
		[
			'any value for an unknown model',
			{ model: 'gamma-3.0-r2v', media: [firstFrame], ...ratio, prompt: 'image 3' },
		],
	])('does not warn about %s', (_, order) => expect(warningsOf(order)).toEqual([]));
});

describe('prompts', () => {
	it.each<[string, unknown[], string]>([
		[
			'Image 2 walks',
			[image],
			'names image 2, but there is 1 reference image; it is ordered all the same',
		],
		[
			'the cat of image 1',
			[video],
			'names image 1, but there are no reference images; it is ordered all the same',
		],
		[
			'image 1, image3 and Image #5',
			[image, firstFrame, image],
			'names image 5, but there are 2 reference images; it is ordered all the same',
		],
		[
			'like video 2',
			[image, video, image],
			'names video 2, but there is 1 reference video; it is ordered all the same',
		],
	])('warns about a prompt that names more media than there are: %s', (prompt, media, said) => {
		expect(warningsOf({ prompt, media })).toEqual([`Prompt ${said}`]);
		expect(problemsOf({ prompt, media })).toEqual([]);
	});

	it.each([
		'image 1 beside image 2, as in video 1',
		'an image 16:9 large, a video 10 seconds long, video 5s, in image 4k, image 1080',
		'the reference image, images 1 and 2',
	])('does not warn about a prompt that names only media that are there: %s', (prompt) => {
		expect(warningsOf({ prompt, media: [image, video, image] })).toEqual([]);
	});

	it('checks a prompt that names an image 200,000 times', () => {
		const prompt = 'image 2 '.repeat(200_000);
		expect(warningsOf({ model: alpha, prompt })).toEqual([
			'Prompt names image 2, but there is 1 reference image; it is ordered all the same',
		]);
	});
});
