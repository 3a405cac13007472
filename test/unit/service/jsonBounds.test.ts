import { JsonBounds } from '../../../nodes/shared/service/jsonBounds';

/** Whether all these chunks are within the bounds. */
const accepts = (chunks: Iterable<string>): boolean => {
	const bounds = new JsonBounds();
	for (const chunk of chunks) if (!bounds.accepts(chunk)) return false;
	return true;
};

/** A text that is too long to be made at once. */
function* repeated(before: string, count: number, chunk: string, after: string) {
	yield before;
	for (let index = 0; index < count; index++) yield chunk;
	yield after;
}

const token = (alternatives: string) =>
	`{"token":"a","logprob":-0.1,"bytes":[97],"top_logprobs":[${alternatives}]}`;
const alternative = '{"token":"a","logprob":-0.1,"bytes":[97]}';
const alternatives = Array<string>(20).fill(alternative).join(',');
const vector = `{"embedding":[${Array<string>(3072).fill('-0.012345678901234567').join(',')}]},`;
const [before, after] = ['{"data":[', '{}]}'];

describe('the bounds of JSON', () => {
	it.each<[string, Iterable<string>]>([
		['2,048 vectors of 3,072 numbers', repeated(before, 2048, vector, after)],
		[
			'16,000 tokens with 20 alternatives each',
			repeated(
				'{"choices":[{"logprobs":{"content":[',
				16_000,
				`${token(alternatives)},`,
				'{}]}}]}',
			),
		],
		['20,000 models', repeated(before, 20_000, '{"id":"a","object":"model"},', after)],
		['brackets in a text', repeated('{"a":"', 10, '[{'.repeat(1_000_000), '"}')],
		['100 levels', ['['.repeat(100) + ']'.repeat(100)]],
		['10,000 names', [`{${'"a":0,'.repeat(9_999)}"a":0}`]],
	])('accept %s', (_, chunks) => expect(accepts(chunks)).toBe(true));

	it.each<[string, Iterable<string>]>([
		['200,000 lists in 600,000 characters', ['[],'.repeat(200_000)]],
		['small objects without end', repeated('[', Infinity, '{"ab":1},'.repeat(1_000), '')],
		['texts without end', repeated('[', Infinity, '"abcdefghij",'.repeat(1_000), '')],
		['numbers without end', repeated('[', Infinity, '0,'.repeat(1_000), '')],
		['names without end', repeated('{', Infinity, '"a":0,'.repeat(1_000), '')],
		['101 levels', ['['.repeat(101)]],
	])('refuse %s', (_, chunks) => expect(accepts(chunks)).toBe(false));

	it('weigh lists, objects, texts and names 8, and commas 1, wherever the chunks are cut', () => {
		const text = '{"a\\"[":[1,{},"x\\\\"],"b":[]}';
		for (const chunks of [[text], [...text]]) {
			const bounds = new JsonBounds();
			for (const chunk of chunks) expect(bounds.accepts(chunk)).toBe(true);
			expect(bounds.weight).toBe(7 * 8 + 3);
		}
	});
});
