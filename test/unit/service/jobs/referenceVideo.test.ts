import { referenceVideoCreate } from '../../../../nodes/ModelGateway/resources/referenceVideo/create';
import {
	checkReferenceVideo,
	warnOfReferenceVideo,
	type Media,
	type ReferenceVideoParameters,
	type ReferenceVideoRequest,
} from '../../../../nodes/shared/service/jobs/referenceVideo';
import { mediaTypes } from '../../../../nodes/shared/service/protocol/models';
import { labelOf } from '../../../../nodes/shared/n8n/parameters/field';

const alpha = 'alpha-1.1-r2v';
const beta = 'beta-2.7-r2v';
const unknown = 'gamma-3.0-r2v';

const url = 'https://firm.example/file';
const image = { type: 'reference_image', url };
const video = { type: 'reference_video', url };
const firstFrame = { type: 'first_frame', url };
const many = (count: number, media: Media) => Array<Media>(count).fill(media);
const voiced = (reference_voice: string, medium = image) => ({ ...medium, reference_voice });
const voice = 'https://firm.example/voice.mp3';

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
function problemsOf(order: Order): string[] {
	const problems: string[] = [];
	checkReferenceVideo(requestOf(order), {
		...wording,
		gatewayUrl: 'https://gateway.example',
		report: (path, problem) => void problems.push(`${fieldOf(path)} ${problem}`),
	});
	return problems;
}

function warningsOf(order: Order): string[] {
	const warnings: string[] = [];
	warnOfReferenceVideo(
		requestOf(order),
		(path, problem) => void warnings.push(`${fieldOf(path)} ${problem}`),
	);
	return warnings;
}

describe('a reference video for alpha-1.1-r2v', () => {
	const parameters = (given: ReferenceVideoParameters): Order => ({ parameters: given });

	it.each<Order>([
		...[1, 9].map((count) => ({ media: many(count, image) })),
		...[2, 15].map((duration) => parameters({ duration })),
		...[0, 2_147_483_647].map((seed) => parameters({ seed })),
		...['720P', '1080P'].map((resolution) => parameters({ resolution })),
		parameters({ prompt_extend: false, watermark: true }),
		{ prompt: 'a'.repeat(20_000) },
	])('may be as its rules say: %#', (order) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([]);
	});

	const entries = 'Media must have 1 to 9 Reference Image entries for alpha-1.1-r2v';
	const seconds = 'Duration (Seconds) must be a whole number from 2 to 15';
	const seed = 'Seed must be a whole number from 0 to 2147483647';
	const onlyImages = 'Media 2: Type must be Reference Image for alpha-1.1-r2v';

	it.each<[Order, string]>([
		[{ media: [] }, `${entries} (it has 0)`],
		[{ media: many(10, image) }, `${entries} (it has 10)`],
		[{ media: [image, video] }, `${onlyImages} (it is "Reference Video")`],
		[{ media: [voiced(voice)] }, 'Media 1: Voice URL cannot be used with alpha-1.1-r2v'],
		[parameters({ resolution: '720p' }), 'Resolution must be one of 720P, 1080P (it is "720p")'],
		[parameters({ duration: 1 }), `${seconds} (it is 1)`],
		[parameters({ duration: 16 }), `${seconds} (it is 16)`],
		[parameters({ duration: 4.5 }), `${seconds} (it is 4.5)`],
		[parameters({ seed: -1 }), `${seed} (it is -1)`],
		[parameters({ seed: 2_147_483_648 }), `${seed} (it is 2147483648)`],
	])('may not be: %j', (order, problem) => {
		expect(problemsOf({ model: alpha, ...order })).toEqual([problem]);
	});
});

describe('a reference video for beta-2.7-r2v', () => {
	it.each<[string, Order]>([
		[
			'five references and a first frame',
			{ media: [...many(2, image), firstFrame, ...many(3, video)] },
		],
		['a medium of each type', { media: mediaTypes.map((type) => ({ type, url })) }],
		// The specification does not show its minimum number of references.
		['a first frame alone', { media: [firstFrame] }],
		['voices', { media: [voiced(voice), voiced(voice, video)] }],
		...['voice.WAV?sig=1', 'a.b/c', 'a.ogg/c', 'a.xogg', 'a.aacx', 'a?b=c.ogg', 'a#b.ogg'].map(
			(name): [string, Order] => [
				`the voice ${name}`,
				{ media: [voiced(`https://firm.example/${name}`)] },
			],
		),
		['10 s with a video', { media: [video], parameters: { duration: 10 } }],
		['15 s without a video', { media: [image, firstFrame], parameters: { duration: 15 } }],
		// The specification does not show whether it takes a seed.
		['any seed', { parameters: { seed: -1.5 } }],
		['another field of a medium', { media: [{ ...image, weight: 0.5 }] }],
		['a prompt of 5000 characters of two UTF-16 units', { prompt: '🎬'.repeat(5000) }],
		['false for both switches', { parameters: { prompt_extend: false, watermark: false } }],
		['a file that has no link yet', { media: [{ ...image, url: undefined }] }],
		...['16:9', '9:16', '1:1', '4:3', '3:4'].map((ratio): [string, Order] => {
			return [`the ratio ${ratio}`, { parameters: { ratio } }];
		}),
	])('may have %s', (_, order) => expect(problemsOf(order)).toEqual([]));

	const types = 'Type must be Reference Image or Reference Video or First Frame for beta-2.7-r2v';
	const five = 'at most 5 Reference Image and Reference Video entries for beta-2.7-r2v (it has 6)';
	const ofUrl = (link: unknown): Order => ({ media: [{ ...image, url: link }] });

	it.each<[string, Order, string]>([
		[
			'six references',
			{ media: [...many(3, image), ...many(3, video)] },
			`Media must have ${five}`,
		],
		[
			'two first frames',
			{ media: [firstFrame, image, firstFrame] },
			'Media must have at most 1 First Frame (it has 2)',
		],
		['no media', { media: [] }, 'Media must have at least one entry'],
		['an unknown type', { media: [{ ...image, type: 'a' }] }, `Media 1: ${types} (it is "a")`],
		['no type', { media: [{ url }] }, `Media 1: ${types} (it is empty)`],
		[
			'a voice for a first frame',
			{ media: [image, voiced(voice, firstFrame)] },
			'Media 2: Voice URL belongs to Reference Image or Reference Video only',
		],
		[
			'a voice in another format',
			{ media: [voiced('https://firm.example/a.OGG?x=.mp3')] },
			'Media 1: Voice URL must lead to a wav or mp3 file',
		],
		[
			'11 s with a video',
			{ media: [image, video], parameters: { duration: 11 } },
			'Duration (Seconds) must be a whole number from 2 to 10 (it is 11), because a reference video is given',
		],
		[
			'an unknown ratio',
			{ parameters: { ratio: '21:9' } },
			'Aspect Ratio must be one of 16:9, 9:16, 1:1, 4:3, 3:4 (it is "21:9")',
		],
		[
			'two links',
			ofUrl(`${url} ${url}`),
			'Media 1: URL must be one link (it holds 2): add another',
		],
		[
			'two voices',
			{ media: [voiced(`${url} ${url}`)] },
			'Media 1: Voice URL must be one link (it holds 2)',
		],
		['no link', { media: [{ type: 'reference_image' }] }, 'Media 1: URL is empty'],
		[
			'a link that is no text',
			ofUrl([url]),
			'Media 1: URL must be a link that starts with https:// (it is a list)',
		],
		[
			'5001 characters',
			{ prompt: '🎬'.repeat(5001) },
			'Prompt must be at most 5000 characters (it has 5001)',
		],
	])('may not have %s', (_, order, problem) => expect(problemsOf(order)).toEqual([problem]));
});

describe('a reference video for an unknown model', () => {
	it.each([unknown, 'toString', '__proto__', ''])('has no rules: "%s"', (model) => {
		const order: Order = {
			model,
			prompt: 'a'.repeat(9999),
			media: [...many(20, image), { type: 'last_frame', url }],
			parameters: { duration: 60, ratio: '21:9', resolution: '4K', seed: -1 },
		};
		expect(problemsOf(order)).toEqual([]);
	});

	it('may have media of any form, even without a web link', () => {
		const media = [
			{ type: 'reference_audio', audio_id: 7 },
			{ type: 'reference_image', url: 'asset-1' },
			voiced('data:audio/ogg;base64,AA'),
			{ url: ['s3://bucket/cat.png'] },
			7,
		];
		// An expression may return a value that the field's type does not allow.
		const parameters = { duration: '8 s' as unknown as number };
		expect(problemsOf({ model: unknown, media, parameters })).toEqual([]);
	});
});

describe('a warning', () => {
	const ratio = { parameters: { ratio: '16:9' } };
	const seed = { parameters: { seed: 7 } };
	const isSent = 'it is sent, and the service may ignore or refuse it';
	const isOrdered = 'it is ordered all the same';

	it.each<[Order, string]>([
		[{ model: alpha, ...ratio }, `Aspect Ratio is not listed for alpha-1.1-r2v: ${isSent}`],
		[{ model: beta, ...seed }, `Seed is not listed for beta-2.7-r2v: ${isSent}`],
		[{ media: [image, firstFrame], ...ratio }, 'Aspect Ratio has no effect with a first frame'],
		[
			{ prompt: 'Image 2 walks' },
			`Prompt names image 2, but there is 1 reference image; ${isOrdered}`,
		],
		[
			{ prompt: 'the cat of image 1', media: [video] },
			`Prompt names image 1, but there are no reference images; ${isOrdered}`,
		],
		[
			{ prompt: 'image 1, image3 and Image #5', media: [image, firstFrame, image] },
			`Prompt names image 5, but there are 2 reference images; ${isOrdered}`,
		],
		[
			{ prompt: 'like video 2', media: [image, video, image] },
			`Prompt names video 2, but there is 1 reference video; ${isOrdered}`,
		],
	])('is given, and the order is sent: %j', (order, warning) => {
		expect(warningsOf(order)).toEqual([warning]);
		expect(problemsOf(order)).toEqual([]);
	});

	const media = [image, video, image];

	it.each<Order>([
		{ media: [image, video], ...ratio },
		{ model: alpha, ...seed },
		{ model: unknown, media: [firstFrame], ...ratio, prompt: 'image 3' },
		{ prompt: 'image 1 beside image 2, as in video 1', media },
		{ prompt: 'an image 16:9 large, a video 10 seconds long, video 5s, image 4k, image 1080' },
		{ prompt: 'the reference image, images 1 and 2', media },
	])('is not given: %j', (order) => expect(warningsOf(order)).toEqual([]));
});
