import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import {
	embeddingList,
	fromBase64,
	sumOfUsages,
} from '../../../../nodes/shared/gateway/embeddings/responses';
import { answerOf } from '../../../support/data/answers';
import { fc } from '../../../support/data/fuzz';

const base64Of = (vector: number[]) =>
	Buffer.from(new Uint8Array(Float32Array.from(vector).buffer)).toString('base64');
const floats = fc.float({ noNaN: true, noDefaultInfinity: true });
const list = (embeddings: unknown[]) => ({
	data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
});

describe('base64 vectors', () => {
	it('reads a base64 vector as the numbers that it was made from', () => {
		fc.assert(
			fc.property(fc.array(floats, { minLength: 1 }), (vector) => {
				expect(fromBase64(base64Of(vector))).toEqual(vector);
			}),
		);
	});

	it('reads the bytes of a base64 vector as little-endian', () => {
		expect(fromBase64('AACAPwAAAMA=')).toEqual([1, -2]);
	});

	it.each(['', 'AA==', 'AACAPwA='])(
		'refuses base64 that does not hold whole numbers: %j',
		(text) => {
			expect(fromBase64(text)).toBeUndefined();
		},
	);

	it.each(['No embedding', 'Rate limit reached, wait', '[0.1, 0.25, 0.5]'])(
		'refuses a text that is no base64: %s',
		(text) => {
			expect(fromBase64(text)).toBeUndefined();
		},
	);
});

describe('lists of vectors', () => {
	const vectors = fc.integer({ min: 1, max: 4 }).chain((length) =>
		fc.array(fc.array(floats, { minLength: length, maxLength: length }), {
			minLength: 1,
			maxLength: 6,
		}),
	);
	const shuffledOf = (made: number[][]) =>
		fc.shuffledSubarray(list(made).data, { minLength: made.length, maxLength: made.length });

	it('returns the vectors in the order of the texts, whatever the order and form of the response', () => {
		const lists = vectors.chain((made) =>
			fc.tuple(fc.constant(made), shuffledOf(made), fc.array(fc.boolean())),
		);
		fc.assert(
			fc.property(lists, ([made, shuffled, packed]) => {
				const data = shuffled.map((entry, place) =>
					packed[place] ? { ...entry, embedding: base64Of(entry.embedding as number[]) } : entry,
				);
				const response = answerOf('', { json: { data } });
				expect(embeddingList(response, made.length).vectors).toEqual(made);
			}),
		);
	});

	it('keeps the model, the usage and the request ID of a list of vectors', () => {
		const usage = { prompt_tokens: 2, total_tokens: 2 };
		const response = answerOf({ ...list([[1, 2]]), model: 'embed-1', usage }, { requestId: 'r1' });
		expect(embeddingList(response, 1)).toMatchObject({
			vectors: [[1, 2]],
			fields: { model: 'embed-1', usage, request_id: 'r1' },
		});
	});

	it('keeps all other fields of the response and of each vector', () => {
		const data = [1, 0].map((index) => ({ index, embedding: [index], object: 'embedding' }));
		expect(embeddingList(answerOf({ object: 'list', data, region: 'eu' }), 2)).toEqual({
			vectors: [[0], [1]],
			entries: [0, 1].map((index) => ({ index, object: 'embedding' })),
			fields: { object: 'list', region: 'eu' },
		});
	});

	it.each([[[2, 3, 1]], [[20, 30, 10]], [['11', 12, '9']], [[1, 5, 0]]])(
		'returns the vectors in the order of their indexes, whatever these begin with: %j',
		(indexes) => {
			const data = indexes.map((index, at) => ({ index, embedding: [at] }));
			expect(embeddingList(answerOf({ data }), 3).vectors).toEqual([[2], [0], [1]]);
		},
	);

	it.each<[unknown[]]>([
		[[0, 0, 0]],
		[[2, 1, 2]],
		[[2, undefined, 0]],
		[[2, null, 0]],
		[[2, 0.5, 0]],
		[[2, '1.5', 0]],
		[[2, 'x', 0]],
		[[1, 0, -1]],
		[[2, 1e300, 0]],
		[[true, false, 0]],
	])('keeps the order in which vectors arrived when their indexes give none: %j', (indexes) => {
		const data = indexes.map((index, at) => ({ index, embedding: [at] }));
		expect(embeddingList(answerOf({ data }), 3).vectors).toEqual([[0], [1], [2]]);
	});

	it('keeps the order in which vectors arrived when only some have an index', () => {
		const data = [{ index: 1, embedding: [0] }, [1]];
		expect(embeddingList(answerOf({ data }), 2).vectors).toEqual([[0], [1]]);
	});

	it.each<[string, unknown]>([
		['too many vectors', list([[1], [2], [3]])],
		['lengths that differ between numbers and base64', list([[1], base64Of([2, 3])])],
		['two empty vectors', list([[], []])],
		['an empty text', list([[1], ''])],
		['a NaN', list([[1], base64Of([NaN])])],
		['an infinite number', list([[1], base64Of([Infinity])])],
		['texts instead of numbers', list([[1], ['2']])],
		['null instead of a number', list([[1], [null]])],
		['null instead of an entry', { data: [{ embedding: [1] }, null] }],
		['an object instead of a list', { data: {} }],
	])('refuses a list of vectors with %s', (_, body) => {
		expect(() => embeddingList(answerOf(body), 2)).toThrow(UnusableResponse);
	});

	it('returns all vectors or throws UnusableResponse for any response', () => {
		const entry = fc.record(
			{
				index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()),
				embedding: fc.oneof(fc.array(fc.integer(), { maxLength: 2 }), fc.jsonValue()),
			},
			{ requiredKeys: [] },
		);
		const bodies = fc.oneof(
			fc.jsonValue(),
			fc.record({ data: fc.array(fc.oneof(entry, fc.jsonValue()), { maxLength: 3 }) }),
		);
		fc.assert(
			fc.property(bodies, fc.nat(3), (body, count) => {
				try {
					const made = embeddingList(answerOf(body), count).vectors;
					expect(made).toHaveLength(count);
					expect(new Set(made.map(({ length }) => length)).size).toBe(Math.min(count, 1));
					expect(made.flat().every(Number.isFinite)).toBe(true);
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
				}
			}),
			{ numRuns: 500 },
		);
	});
});

describe('the usage of several responses', () => {
	it.each([
		['no response', [], undefined],
		['one response, as it is', [{ cost: 'free' }], { cost: 'free' }],
		[
			'two responses by their numbers',
			[{ prompt_tokens: 1, at: 'x' }, { prompt_tokens: 2 }],
			{ prompt_tokens: 3 },
		],
		['two responses, one of which has none', [{ prompt_tokens: 1 }, undefined], undefined],
		[
			'two responses by the fields that both have',
			[
				{ a: 1, b: 1 },
				{ a: 1, c: 1 },
			],
			{ a: 2 },
		],
	])('adds up the usage of %s', (_, usages, sum) => {
		expect(sumOfUsages(usages)).toEqual(sum);
	});
});
