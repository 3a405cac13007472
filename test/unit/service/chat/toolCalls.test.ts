import { AnswerStream } from '../../../../nodes/shared/service/chat/answerStream';
import type { Completion } from '../../../../nodes/shared/service/chat/completion';
import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import { answerOf } from '../../../support/data/answers';

const chunkOf = (delta: object, parts: object = {}) => ({
	choices: [{ index: 0, delta, finish_reason: null, ...parts }],
});
const stop = (index = 0) => chunkOf({}, { index, finish_reason: 'stop' });

function streamed(chunks: object[]) {
	const stream = new AnswerStream(new Redaction(''));
	for (const chunk of chunks) stream.push(`data: ${JSON.stringify(chunk)}\n\n`);
	return { finish: () => stream.finish(answerOf('')).json as Completion };
}

describe('tool calls in chunks', () => {
	interface MadeCall {
		id: string;
		function: { name: string; arguments: unknown };
	}
	const callsOf = (pieces: object[][]) =>
		streamed([...pieces.map((calls) => chunkOf({ tool_calls: calls })), stop()]).finish().choices[0]
			.message.tool_calls;

	type Expected = Array<[id: string | undefined, name: string, input: unknown]>;
	const read = (...pieces: object[][]): Expected =>
		(callsOf(pieces) as MadeCall[]).map((made) => [
			made.id || undefined,
			made.function.name,
			made.function.arguments,
		]);
	const fn = (name: string | undefined, input: unknown) => ({
		type: 'function',
		function: { ...(name !== undefined && { name }), arguments: input },
	});
	const a = ['a', 'weather', '{"city":"A"}'] as const;
	const b = ['b', 'time', '{"tz":"B"}'] as const;
	const twice = [a, ['b', 'weather', '{"city":"B"}']] as const;

	it.each<[string, object[][]]>([
		[
			'in interleaved fragments',
			[
				[{ index: 0, id: 'a', ...fn('weather', '{"city"') }],
				[{ index: 0, id: 'b', ...fn('time', '{"tz"') }],
				[{ index: 0, id: 'a', ...fn(undefined, ':"A"}') }],
				[{ index: 0, id: 'b', ...fn(undefined, ':"B"}') }],
			],
		],
		[
			'with fragments without an ID',
			[
				[null, { index: 0, id: 'a', ...fn('weather', '{"city"') }] as object[],
				[{ index: 0, id: 'b', ...fn('time', '{"tz":') }],
				[{ index: 0, id: 'a', ...fn(undefined, ':"') }],
				[{ index: 0, ...fn(undefined, 'A"}') }],
				[{ index: 0, id: 'b', ...fn(undefined, '"B"}') }],
			],
		],
	])('keeps two tool calls apart that share index 0 %s', (_, pieces) => {
		expect(read(...pieces)).toEqual([a, b]);
	});

	it.each<[string, readonly (typeof a | (typeof twice)[number] | typeof b)[]]>([
		['two tools', [a, b]],
		['the same tool', twice],
	])('keeps complete calls of %s apart that have empty IDs, whatever their index', (_, calls) => {
		const expected = calls.map(([, name, input]) => [undefined, name, input]);
		for (const place of [{ index: 0 }, {}, { index: null }]) {
			const fragments = calls.map(([, name, input]) => ({ ...place, id: '', ...fn(name, input) }));
			expect(read(fragments)).toEqual(expected);
			expect(read(...fragments.map((fragment) => [fragment]))).toEqual(expected);
		}
	});

	it('keeps two calls of the same tool apart by their indexes alone', () => {
		const begun = [0, 1].map((index) => [{ index, ...fn('weather', '') }]);
		const inputs = [1, 0].map((index) => [{ index, ...fn(undefined, `{"city":${index}}`) }]);
		const expected = [0, 1].map((index) => [undefined, 'weather', `{"city":${index}}`]);
		expect(read(...begun, ...inputs)).toEqual(expected);
	});

	it.each([undefined, null, '', -1])(
		'joins the fragments of calls without an index: %s',
		(index) => {
			const pieces = [a, b].flatMap(([id, name, input]) => [
				[{ index, id, ...fn(name, '') }],
				[{ index, ...fn(undefined, input.slice(0, 5)) }],
				[{ index, id: '', ...fn('', input.slice(5)) }],
			]);
			expect(read(...pieces)).toEqual([a, b]);
		},
	);
});
