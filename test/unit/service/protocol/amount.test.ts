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
	const expected = { kind: 'video', model, ...amount };
	expect(referenceVideoAmount({ model, parameters })).toEqual(expected);
});

it.each<[object, number | undefined]>([
	[{ seconds: 4 }, 4],
	[{ duration: 4 }, 4],
	[{ seconds: 4, duration: 9 }, 4],
	[{ seconds: '4' }, 4],
	...[{}, { seconds: 0 }, { seconds: -1 }, { seconds: '' }, { seconds: 'ten' }].map(
		(fields): [object, undefined] => [fields, undefined],
	),
])('reads the seconds of a video from %j', (fields, seconds) => {
	const expected = { kind: 'video', model: 'v-1', seconds };
	expect(videoAmount({ model: 'v-1', ...fields })).toEqual(expected);
});

it.each([
	[{}, 1],
	[{ n: 3 }, 3],
	[{ n: '3' }, 3],
])('reads the number of images from %j', (fields, count) => {
	const expected = { kind: 'image', model: 'i-1', count };
	expect(imageAmount({ model: 'i-1', ...fields })).toEqual(expected);
});

it('reads the model of a text, which may be missing', () => {
	expect(textAmount({ model: 'c-1' })).toEqual({ kind: 'text', model: 'c-1' });
	expect(textAmount({})).toEqual({ kind: 'text', model: '' });
});
