import {
	imageAmount,
	referenceVideoAmount,
	videoAmount,
} from '../../../../nodes/shared/gateway/protocol/amount';

// The expected defaults come from the service's specification.

describe('the amount of a reference video', () => {
	const model = 'alpha-1.1-r2v';

	it('reads the seconds and the resolution from a reference video request', () => {
		const parameters = { duration: 8, resolution: '1080P' };
		expect(referenceVideoAmount({ model, parameters })).toEqual({
			...{ kind: 'video', model, seconds: 8, resolution: '1080P' },
		});
	});

	it.each([{ model }, { model, parameters: {} }])(
		"uses the model's defaults where a reference video request has no value: %j",
		(body) => {
			expect(referenceVideoAmount(body)).toEqual({
				...{ kind: 'video', model, seconds: 5, resolution: '720P' },
			});
		},
	);
});

describe('the amount of a video', () => {
	it.each([
		[{ seconds: 4 }, 4],
		[{ duration: 4 }, 4],
		[{ seconds: 4, duration: 9 }, 4],
		[{ seconds: '4' }, 4],
	])('reads the seconds of a video request from %j', (fields, seconds) => {
		expect(videoAmount({ model: 'v-1', ...fields })).toEqual({
			kind: 'video',
			model: 'v-1',
			seconds,
		});
	});

	it.each([{}, { seconds: 0 }, { seconds: -1 }, { seconds: '' }, { seconds: 'ten' }])(
		'gives no seconds for a video request with %j',
		(fields) => {
			expect(videoAmount({ model: 'v-1', ...fields })).toEqual({ kind: 'video', model: 'v-1' });
		},
	);
});

describe('the amount of an image request', () => {
	it.each([
		[{}, 1],
		[{ n: 3 }, 3],
		[{ n: '3' }, 3],
	])('reads the number of images from %j', (fields, count) => {
		expect(imageAmount({ model: 'i-1', ...fields })).toEqual({
			kind: 'image',
			model: 'i-1',
			count,
		});
	});
});
