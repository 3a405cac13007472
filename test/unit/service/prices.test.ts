import { PriceList, type Estimate } from '../../../nodes/shared/service/prices';
import type { Amount } from '../../../nodes/shared/service/protocol/amount';

const prices = {
	plain: { per_second: 0.1 },
	sharp: { per_second: { '720P': 0.1, '1080P': 0.15 }, per_video: 0.05 },
	flat: { per_video: ' 0.4 ' },
	free: { per_video: 0 },
	paint: { per_image: 0.04 },
	chat: { per_million_input_tokens: 2, per_million_output_tokens: 8 },
	vectors: { per_million_input_tokens: 0.5 },
};

const listOf = (written: unknown) => PriceList.of(written) as PriceList;

const costOf = (estimate: Estimate) => ('cost' in estimate ? estimate.cost : estimate.problem);

const orderCost = (amount: Amount, written: unknown = prices) =>
	costOf(listOf(written).estimateOrder(amount));

const tokenCost = (model: string, usage: unknown, written: unknown = prices) =>
	costOf(listOf(written).estimateTokens(model, usage));

const video = (model: string, more: Partial<Amount> = {}): Amount => ({
	kind: 'video',
	model,
	count: 1,
	...more,
});

describe('the price list', () => {
	it.each([undefined, null, '', '  ', {}, '{}'])('gives no price list for %j', (written) =>
		expect(PriceList.of(written)).toBeUndefined(),
	);

	it('reads prices from JSON text as well as from an object', () =>
		expect(orderCost(video('plain', { seconds: 5 }), JSON.stringify(prices))).toBe(0.5));

	it.each<[Amount, number]>([
		[video('plain', { seconds: 3 }), 0.3],
		[video('sharp', { seconds: 10, resolution: '1080P' }), 1.55],
		[video('sharp', { seconds: 10, resolution: '720p' }), 1.05],
		[video('flat'), 0.4],
		[video('free'), 0],
		[video('flat', { count: 4 }), 1.6],
		[video('sharp', { count: 2, seconds: 10, resolution: '1080P' }), 3.1],
		[{ kind: 'image', model: 'paint', count: 3 }, 0.12],
	])('estimates the cost of the order %j as %d', (amount, cost) =>
		expect(orderCost(amount)).toBe(cost),
	);

	it.each<[Amount, RegExp]>([
		[video('unknown', { seconds: 5 }), /^“unknown” has no price$/],
		[video('paint', { seconds: 5 }), /^“paint” has no per_second or per_video$/],
		[{ kind: 'image', model: 'plain', count: 1 }, /^“plain” has no per_image$/],
		[{ kind: 'image', model: 'paint' }, /number of images is no number/],
		[video('flat', { count: undefined }), /number of videos is no number/],
		[video('plain'), /does not say how many seconds.*use per_video/],
		[video('sharp', { seconds: 5, resolution: '4K' }), /^“sharp” has no per_second of 4K$/],
		[video('sharp', { seconds: 5 }), /per_second of a video without a resolution$/],
	])('says why it cannot estimate the order %j', (amount, problem) =>
		expect(orderCost(amount)).toMatch(problem),
	);

	it.each([
		['chat', { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }, 0.006],
		['chat', { input_tokens: 1000, output_tokens: 500 }, 0.006],
		['chat', { prompt_tokens: '1000', completion_tokens: 0 }, 0.002],
		['vectors', { prompt_tokens: 10, total_tokens: 10 }, 0.000005],
		['vectors', { total_tokens: 10 }, 0.000005],
	])('estimates the cost of tokens for %s from the usage %j', (model, usage, cost) =>
		expect(tokenCost(model, usage)).toBe(cost),
	);

	it.each([
		['unknown', { prompt_tokens: 1 }, /^“unknown” has no price$/],
		['paint', { prompt_tokens: 1 }, /has no per_million_input_tokens$/],
		['vectors', { prompt_tokens: 1, completion_tokens: 1 }, /has no per_million_output_tokens$/],
		['chat', undefined, /does not say how many tokens/],
		['chat', 'many', /does not say how many tokens/],
	])(
		'says why it cannot estimate the cost of tokens for %s from the usage %j',
		(model, usage, problem) => expect(tokenCost(model, usage)).toMatch(problem),
	);

	it.each([
		['cheap', /must be a JSON object that has the prices of each model/],
		[{ plain: 0.1 }, /“plain” must have prices such as/],
		[{ plain: { per_second: -0.1 } }, /no number from 0: per_second is -0.1/],
		[
			{ plain: { per_second: '0,1' } },
			/no number from 0: per_second is "0,1". Write decimals with a point/,
		],
		[{ plain: { per_second: null } }, /no number from 0: per_second is empty/],
		[{ plain: { per_second: true } }, /no number from 0: per_second is true/],
		[{ plain: { per_second: ' ' } }, /no number from 0: per_second is/],
		[{ plain: { per_second: [1] } }, /no number from 0: per_second is/],
		[{ plain: { per_second: '1e999' } }, /no number from 0: per_second is/],
		[{ plain: { per_second: { '720P': 'x' } } }, /no number from 0: per_second of “720P” is "x"/],
		[{ plain: { per_image: { '720P': 1 } } }, /no number from 0: per_image is an object/],
		[{ plain: { per_secnd: 1 } }, /unknown price “per_secnd”\. Use per_second, per_video/],
	])('reports the problem with the prices %j', (written, problem) => {
		expect(listOf(written).problems).toEqual([expect.stringMatching(problem)]);
		expect(orderCost(video('plain', { seconds: 1 }), written)).toMatch(problem);
		expect(tokenCost('plain', { total_tokens: 1 }, written)).toMatch(problem);
	});

	it('uses the valid prices of a list that also has invalid ones', () => {
		const written = { plain: { per_second: -1 }, flat: { per_video: 2 } };
		expect(orderCost(video('flat'), written)).toBe(2);
		expect(listOf(written).problems).toHaveLength(1);
	});
});
