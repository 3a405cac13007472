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

const url = 'https://example.com/file';
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
		['nine images', { media: many(9, image) }],
		['every parameter', { parameters: all }],
		['shortest duration, largest seed', { parameters: { duration: 2, seed: 2_147_483_647 } }],
		['a prompt of any length', { prompt: 'a'.repeat(20_000) }],
	])('accepts a request for alpha-1.1-r2v with %s', (_, order) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([]);
	});

	it.each<[Order, string]>([
		[
			{ media: many(10, image) },
			'Media must have 1 to 9 Reference Image entries for alpha-1.1-r2v (it has 10)',
		],
		[
			{ media: [image, video] },
			'Media 2: Type must be Reference Image for alpha-1.1-r2v (it is "Reference Video")',
		],
		[
			{ media: [{ ...image, reference_voice: 'https://example.com/a.mp3' }] },
			'Media 1: Voice URL cannot be used with alpha-1.1-r2v',
		],
		[
			{ parameters: { duration: 16 } },
			'Duration (Seconds) must be a whole number from 2 to 15 (it is 16)',
		],
	])('refuses the request for alpha-1.1-r2v: %j', (order, problem) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([problem]);
	});
});

describe('beta-2.7-r2v', () => {
	const voice = { reference_voice: 'https://example.com/voice.mp3' };

	it.each<[string, Order]>([
		['five and a first frame', { media: [...many(2, image), firstFrame, ...many(3, video)] }],
		// The specification does not show its minimum number of references.
		['a first frame alone', { media: [firstFrame] }],
		['a voice for a video', { media: [{ ...video, ...voice }] }],
		['another field of a medium', { media: [{ ...image, weight: 0.5 }] }],
		['a prompt of 5000 characters of two UTF-16 units', { prompt: '🎬'.repeat(5000) }],
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
			{ media: [{ ...image, reference_voice: 'https://example.com/a.OGG?x=.mp3' }] },
			'Media 1: Voice URL must lead to a wav or mp3 file',
		],
		[
			'11 s with a video',
			{ media: [image, video], parameters: { duration: 11 } },
			'Duration (Seconds) must be a whole number from 2 to 10 (it is 11), because a reference video is given',
		],
		[
			'two links in one field',
			{ media: [image, { ...image, url: `${url} ${url}` }] },
			'Media 2: URL must be one link (it holds 2): add another',
		],
		['a medium without a link', { media: [{ type: 'reference_image' }] }, 'Media 1: URL is empty'],
		[
			'a prompt of 5001 characters',
			{ prompt: '🎬'.repeat(5001) },
			'Prompt must be at most 5000 characters (it has 5001)',
		],
	])('refuses a request for beta-2.7-r2v with %s', (_, order, problem) => {
		expect(problemsOf(order)).toEqual([problem]);
	});

	it.each([
		'https://example.com/voice.WAV?sig=1',
		'https://example.com/voice',
		'https://example.com/a.b/c',
	])('accepts a voice link that may lead to a wav or mp3 file: %s', (reference_voice) => {
		expect(problemsOf({ media: [{ ...image, reference_voice }] })).toEqual([]);
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
			`${said}: it was sent, and the service may ignore or refuse it`,
		]);
	});
});

describe('prompts', () => {
	it.each<[string, unknown[], string]>([
		['Image 2 walks', [image], 'names image 2, but there is 1 reference image'],
		[
			'image 1, image3 and Image #5',
			[image, firstFrame, image],
			'names image 5, but there are 2 reference images',
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
});
