import { StreamedCompletion } from '../../../../nodes/shared/gateway/chat/streamedCompletion';
import { answerOf } from '../../../support/data/answers';
import { fc } from '../../../support/data/fuzz';

const chunkOf = (delta: object, parts: object = {}) => ({
	choices: [{ index: 0, delta, finish_reason: null, ...parts }],
});
const stop = (index = 0) => chunkOf({}, { index, finish_reason: 'stop' });

function streamed(chunks: object[]) {
	const stream = new StreamedCompletion();
	for (const chunk of chunks) stream.push(`data: ${JSON.stringify(chunk)}\n\n`);
	return { finish: () => stream.finish(answerOf('')) };
}

describe('tool calls in chunks', () => {
	const callOf = (id: string, text: string) => ({
		id,
		type: 'function',
		function: { name: `tool_${id}`, arguments: text },
	});
	const more = (index: number, text: string) => ({ index, function: { arguments: text } });
	const callsOf = (pieces: object[][]) =>
		streamed([...pieces.map((calls) => chunkOf({ tool_calls: calls })), stop()]).finish().choices[0]
			.message.tool_calls;

	it('joins each tool call however the chunks of several calls are interleaved', () => {
		const cases = fc
			.array(fc.array(fc.string(), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
			.chain((calls) => {
				const turns = calls.flatMap((pieces, index) => pieces.map(() => index));
				return fc.record({
					calls: fc.constant(calls),
					turns: fc.shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length }),
				});
			});
		fc.assert(
			fc.property(cases, ({ calls, turns }) => {
				const left = calls.map((pieces) => [...pieces]);
				const pieces = [
					...calls.map((_, index) => [{ index, ...callOf(`${index}`, '') }]),
					...turns.map((index) => [more(index, left[index].shift() as string)]),
				];
				expect(callsOf(pieces)).toEqual(
					calls.map((texts, index) => callOf(`${index}`, texts.join(''))),
				);
			}),
		);
	});

	it('reads several tool calls in one chunk', () => {
		const pieces = [
			[
				{ index: 0, ...callOf('a', '{') },
				{ index: 1, ...callOf('b', '[') },
			],
			[more(1, ']'), more(0, '}')],
		];
		expect(callsOf(pieces)).toEqual([callOf('a', '{}'), callOf('b', '[]')]);
	});

	it.each<[string, number[]]>([
		['begins with 1', [1, 2]],
		['skips numbers', [0, 2]],
		['begins with the last', [1, 0]],
	])('joins the chunks of a tool call by their index, which %s', (_, indexes) => {
		const pieces = [
			...indexes.map((index) => [{ index, ...callOf(`${index}`, '{') }]),
			...indexes.map((index) => [more(index, '}')]),
		];
		const sorted = [...indexes].sort((a, b) => a - b);
		expect(callsOf(pieces)).toEqual(sorted.map((index) => callOf(`${index}`, '{}')));
	});

	type Expected = Array<[id: string | undefined, name: string, input: unknown]>;
	const read = (...pieces: object[][]): Expected =>
		(callsOf(pieces) as ReturnType<typeof callOf>[]).map((made) => [
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
			'in one fragment each',
			[
				[{ index: 0, id: 'a', ...fn('weather', a[2]) }],
				[{ index: 0, id: 'b', ...fn('time', b[2]) }],
			],
		],
		[
			'in one chunk',
			[
				[
					{ index: 0, id: 'a', ...fn('weather', a[2]) },
					{ index: 0, id: 'b', ...fn('time', b[2]) },
				],
			],
		],
		[
			'in fragments',
			[
				[{ index: 0, id: 'a', ...fn('weather', '') }],
				[{ index: 0, ...fn(undefined, a[2]) }],
				[{ index: 0, id: 'b', ...fn('time', '') }],
				[{ index: 0, ...fn(undefined, b[2]) }],
			],
		],
		[
			'in interleaved fragments',
			[
				[{ index: 0, id: 'a', ...fn('weather', '{"city"') }],
				[{ index: 0, id: 'b', ...fn('time', '{"tz"') }],
				[{ index: 0, id: 'a', ...fn(undefined, ':"A"}') }],
				[{ index: 0, id: 'b', ...fn(undefined, ':"B"}') }],
			],
		],
	])('keeps two tool calls apart that share index 0 %s', (_, pieces) => {
		expect(read(...pieces)).toEqual([a, b]);
	});

	it('keeps two calls of the same tool apart that share index 0', () => {
		const pieces = twice.map(([id, name, input]) => [{ index: 0, id, ...fn(name, input) }]);
		expect(read(...pieces)).toEqual(twice);
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

	it('joins interleaved fragments without an index by their ID', () => {
		const pieces = [
			...[a, b].map(([id, name]) => [{ id, ...fn(name, '') }]),
			...[0, 6].flatMap((start) =>
				[a, b].map(([id, , input]) => [{ id, ...fn(undefined, input.slice(start, start + 6)) }]),
			),
			...[[{ id: 'a', ...fn(undefined, '') }]],
		];
		expect(read(...pieces)).toEqual([a, b].map(([id, name, input]) => [id, name, input]));
	});

	it('joins a fragment with an index to the call that began without one', () => {
		expect(
			read([{ id: 'a', ...fn('weather', '') }], [{ index: 0, ...fn(undefined, a[2]) }]),
		).toEqual([a]);
	});

	it('takes the ID of a call from its last fragment', () => {
		const pieces = [
			...[a, b].map(([, name], index) => [{ index, ...fn(name, '') }]),
			...[b, a].map(([id, , input]) => [
				{ index: id === 'a' ? 0 : 1, id, ...fn(undefined, input) },
			]),
		];
		expect(read(...pieces)).toEqual([a, b]);
		expect(read([fn('weather', '{"city"')], [{ id: 'a', ...fn(undefined, ':"A"}') }])).toEqual([a]);
	});

	it('keeps the ID and the name of a call when later fragments have empty ones', () => {
		const later = ['{"city":', '"A"}'].map((part) => [
			{ index: 0, id: '', ...fn('', part), type: '' },
		]);
		expect(read([{ index: 0, id: 'a', ...fn('weather', '') }], ...later)).toEqual([a]);
		expect(read([{ index: 0, id: 'a', ...fn('weather', null) }], ...later)).toEqual([a]);
	});

	it('takes the name of a call from a later fragment when the first one is empty', () => {
		const pieces = [
			[{ index: 0, id: 'a', ...fn('', '') }],
			[{ index: 0, id: 'a', ...fn('weather', a[2]) }],
		];
		expect(read(...pieces)).toEqual([a]);
	});

	it('joins the fragments of a call that have a new ID each', () => {
		const parts = ['{"ci', 'ty":', '"A"}'];
		const pieces = parts.map((part, position) => [
			{ index: 0, id: `x${position}`, ...fn('weather', part) },
		]);
		expect(read(...pieces)).toEqual([['x2', 'weather', a[2]]]);
	});

	it.each([0, '0', ' 0'])('reads the index %j', (index) => {
		const [first, second] = [
			[{ index, id: 'a', ...fn('weather', '{"city"') }],
			[{ index: '1', id: 'b', ...fn('time', b[2]) }],
		];
		expect(read(first, second, [{ index, ...fn(undefined, ':"A"}') }])).toEqual([a, b]);
	});

	it.each([
		['whole', [{ city: 'A' }]],
		['after an empty text', ['', { city: 'A' }]],
		['before an empty text', [{ city: 'A' }, '']],
		['before an empty object', [{ city: 'A' }, {}]],
		['in parts', [{}, { city: 'A' }]],
	])('reads arguments that are an object: %s', (_, inputs) => {
		const pieces = inputs.map((input, position) => [
			{
				index: 0,
				...(position === 0 && { id: 'a' }),
				...fn(position === 0 ? 'weather' : undefined, input),
			},
		]);
		expect(read(...pieces)).toEqual([['a', 'weather', { city: 'A' }]]);
	});

	it('reads the text of arguments that began with an empty object', () => {
		expect(
			read([{ index: 0, id: 'a', ...fn('weather', {}) }], [{ index: 0, ...fn(undefined, a[2]) }]),
		).toEqual([a]);
	});

	it('does not double arguments that a later chunk repeats', () => {
		const complete = { id: 'a', ...fn('weather', a[2]) };
		expect(read([{ index: 0, ...complete }], [{ index: 0, ...complete }])).toEqual([a]);
		const { finish } = streamed([
			chunkOf({ tool_calls: [{ index: 0, ...complete }] }),
			chunkOf({ tool_calls: [{ index: 1, id: 'b', ...fn('time', b[2]) }] }),
			{
				choices: [
					{
						message: { tool_calls: [complete, { id: 'b', ...fn('time', b[2]) }] },
						finish_reason: 'stop',
					},
				],
			},
		]);
		expect(finish().choices[0].message.tool_calls).toEqual([
			complete,
			{ id: 'b', ...fn('time', b[2]) },
		]);
	});

	it('keeps the tool calls of several choices apart', () => {
		const calls = (index: number, fragment: object) =>
			chunkOf({ tool_calls: [fragment] }, { index });
		const { finish } = streamed([
			calls(0, { index: 0, id: 'a', ...fn('weather', '') }),
			calls(1, { index: 0, id: 'b', ...fn('time', '') }),
			calls(0, { index: 0, ...fn(undefined, a[2]) }),
			calls(1, { index: 0, ...fn(undefined, b[2]) }),
			...[stop(0), stop(1)],
		]);
		expect(finish().choices.map(({ message }) => message.tool_calls)).toEqual([
			[{ id: 'a', ...fn('weather', a[2]) }],
			[{ id: 'b', ...fn('time', b[2]) }],
		]);
	});

	it.each<[string, object[]]>([
		[
			'in fragments',
			[
				{ name: 'f', arguments: '{"a":' },
				{ name: '', arguments: '1}' },
			],
		],
		[
			'with its name last',
			[
				{ name: '', arguments: '{"a":' },
				{ name: 'f', arguments: '1}' },
			],
		],
		[
			'twice',
			[
				{ name: 'f', arguments: '{"a":1}' },
				{ name: 'f', arguments: '{"a":1}' },
			],
		],
		['with null', [{ name: 'f', arguments: null }, { arguments: '{"a":1}' }]],
	])('reads a function_call %s', (_, fragments) => {
		const chunks = fragments.map((function_call) => chunkOf({ function_call }));
		const { message } = streamed([...chunks, stop()]).finish().choices[0];
		expect(message.function_call).toEqual({ name: 'f', arguments: '{"a":1}' });
	});

	it('reads a function_call whose arguments are an object', () => {
		const chunks = [{ name: 'f', arguments: { a: 1 } }, { arguments: '' }];
		const { finish } = streamed([
			...chunks.map((function_call) => chunkOf({ function_call })),
			stop(),
		]);
		expect(finish().choices[0].message.function_call).toEqual({ name: 'f', arguments: { a: 1 } });
	});
});
