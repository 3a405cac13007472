import {
	imageAmount,
	referenceVideoAmount,
	textAmount,
	videoAmount,
} from '../../../../nodes/shared/service/protocol/amount';

const model = 'alpha-1.1-r2v';

// The defaults come from the service's specification.
it.each([
	[
		{ duration: 8, resolution: '1080P' },
		{ seconds: 8, resolution: '1080P' },
	],
	[undefined, { seconds: 5, resolution: '720P' }],
	[{}, { seconds: 5, resolution: '720P' }],
])('reads the amount of a reference video from %j', (parameters, amount) => {
	const expected = { kind: 'video', model, count: 1, ...amount };
	expect(referenceVideoAmount({ model, parameters })).toEqual(expected);
});

it.each<[object, number | undefined]>([
	[{ seconds: 4 }, 4],
	[{ duration: 4 }, 4],
	[{ seconds: 4, duration: 9 }, 9],
	[{ seconds: 4, parameters: { durationSeconds: 8 } }, 8],
	[{ duration: '8s' }, 8],
	[{ seconds: null }, undefined],
	[{ seconds: '4' }, 4],
	...[{}, { seconds: 0 }, { seconds: -1 }, { seconds: '' }, { seconds: 'ten' }].map(
		(fields): [object, undefined] => [fields, undefined],
	),
])('reads the seconds of a video from %j', (fields, seconds) => {
	const expected = { kind: 'video', model: 'v-1', count: 1, seconds };
	expect(videoAmount({ model: 'v-1', ...fields })).toEqual(expected);
});

it.each<[object, number | undefined]>([
	[{}, 1],
	[{ n: 3 }, 3],
	[{ n: '3' }, 3],
	[{ n: null }, 1],
	[{ n: 'three' }, undefined],
	[{ n: 0 }, undefined],
	[{ n: 1, num_videos: 2, number_of_videos: 4 }, 4],
	[{ numberOfVideos: 4 }, 4],
	[{ num_images: 4 }, 4],
	[{ batch_size: 4 }, 4],
	[{ num_images_per_prompt: 4 }, 4],
	[{ parameters: { num_videos_per_prompt: 2 } }, 2],
	[{ parameters: { sampleCount: 4, num_inference_steps: 30 } }, 4],
	[{ sequential_image_generation_options: { max_images: 15 } }, 15],
	[{ num_frames: 81, seed: 7, noise: 3 }, 1],
])('reads the number of videos or images from %j', (fields, count) => {
	const amounts = [imageAmount, videoAmount, referenceVideoAmount].map((amountOf) =>
		amountOf({ model: 'i-1', ...fields }),
	);
	expect(amounts.map((amount) => amount.count)).toEqual([count, count, count]);
});

it('reads the model of a text, which may be missing', () => {
	expect(textAmount({ model: 'c-1' })).toEqual({ kind: 'text', model: 'c-1' });
	expect(textAmount({})).toEqual({ kind: 'text', model: '' });
});
