import {
	imageAmount,
	referenceVideoAmount,
	textAmount,
	videoAmount,
} from '../../../../nodes/shared/gateway/protocol/amount';

// The defaults are those of the service's specification.

describe('the amount that a reference video orders', () => {
	const model = 'alpha-1.1-r2v';

	it('has the seconds and the resolution of the request', () => {
		const parameters = { duration: 8, resolution: '1080P' };
		expect(referenceVideoAmount({ model, parameters })).toEqual({
			...{ kind: 'video', model, seconds: 8, resolution: '1080P' },
		});
	});

	it.each([{ model }, { model, parameters: {} }])(
		"has the model's defaults where the request has none: %j",
		(body) => {
			expect(referenceVideoAmount(body)).toEqual({
				...{ kind: 'video', model, seconds: 5, resolution: '720P' },
			});
		},
	);

	it.each(['new-model', 'constructor'])(
		'leaves out what an unknown model defaults to: %s',
		(name) => {
			expect(referenceVideoAmount({ model: name })).toEqual({ kind: 'video', model: name });
		},
	);

	it('has an empty model where the request has none', () => {
		expect(referenceVideoAmount({})).toEqual({ kind: 'video', model: '' });
	});
});

describe('the amount that a video orders', () => {
	it.each([
		[{ seconds: 4 }, 4],
		[{ duration: 4 }, 4],
		[{ seconds: 4, duration: 9 }, 4],
		[{ seconds: '4' }, 4],
		[{ seconds: ' 4.5 ' }, 4.5],
	])('has the seconds of %j', (fields, seconds) => {
		expect(videoAmount({ model: 'v-1', ...fields })).toEqual({
			kind: 'video',
			model: 'v-1',
			seconds,
		});
	});

	it.each([
		{},
		{ seconds: 0 },
		{ seconds: -1 },
		{ seconds: '' },
		{ seconds: '  ' },
		{ seconds: 'ten' },
	])('has no seconds for %j', (fields) => {
		expect(videoAmount({ model: 'v-1', ...fields })).toEqual({ kind: 'video', model: 'v-1' });
	});

	it.each([[NaN], [Infinity], [true], [[4]], [null]])(
		'has no seconds for the value %p',
		(seconds) => {
			expect(videoAmount({ seconds })).toEqual({ kind: 'video', model: '' });
		},
	);
});

describe('the amount that an image request orders', () => {
	it.each([
		[{}, 1],
		[{ n: 3 }, 3],
		[{ n: '3' }, 3],
	])('has the count of %j', (fields, count) => {
		expect(imageAmount({ model: 'i-1', ...fields })).toEqual({
			kind: 'image',
			model: 'i-1',
			count,
		});
	});

	it('has no count where the request has one that is no number, and an empty model where it has none', () => {
		expect(imageAmount({ n: 'many' })).toEqual({ kind: 'image', model: '' });
	});
});

describe('the amount that a text request orders', () => {
	it.each([
		[{ model: 't-1' }, 't-1'],
		[{}, ''],
	])('names the model of %j', (body, model) => {
		expect(textAmount(body)).toEqual({ kind: 'text', model });
	});
});
