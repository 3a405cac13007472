import { StreamedCompletion } from '../../../../nodes/shared/gateway/chat/streamedCompletion';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/answers';
import { fc } from '../../../support/fuzz';
import { anyBody, unusable } from './bodies';

const done = 'data: [DONE]\n\n';
const eventOf = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
const chunkOf = (delta: object, parts: object = {}) => ({
	id: 'chat_1',
	object: 'chat.completion.chunk',
	choices: [{ index: 0, delta, finish_reason: null, ...parts }],
});
const content = (text: string, index = 0) => chunkOf({ content: text }, { index });
const stop = (index = 0) => chunkOf({}, { index, finish_reason: 'stop' });

/** @param pieces objects are sent as events, texts as they are */
function streamed(pieces: unknown[], parts = {}) {
	const stream = new StreamedCompletion();
	const live = pieces.map((piece) =>
		stream.push(typeof piece === 'string' ? piece : eventOf(piece)),
	);
	return { live, stream, finish: () => stream.finish(answerOf('', parts)) };
}

describe('streamed completions', () => {
	it('joins the chunks into the same completion as without streaming', () => {
		const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
		const { live, finish } = streamed(
			[
				{ ...chunkOf({ role: 'assistant', content: '' }), model: 'm', usage: null },
				content('Hel'),
				content('lo'),
				stop(),
				{ id: 'chat_1', choices: [], usage },
				done,
			],
			{ requestId: 'r1' },
		);
		expect(live).toEqual(['', 'Hel', 'lo', '', '', '']);
		expect(finish()).toEqual({
			id: 'chat_1',
			object: 'chat.completion',
			model: 'm',
			usage,
			choices: [
				{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
			],
			request_id: 'r1',
		});
	});

	it('returns the same completion however choices are interleaved and texts are cut', () => {
		const texts = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }), {
			minLength: 1,
			maxLength: 3,
		});
		const cases = texts.chain((choices) => {
			const turns = choices.flatMap((pieces, index) => [...pieces, ''].map(() => index));
			return fc.record({
				choices: fc.constant(choices),
				turns: fc.shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length }),
				size: fc.integer({ min: 1, max: 400 }),
			});
		});
		fc.assert(
			fc.property(cases, ({ choices, turns, size }) => {
				const left = choices.map((pieces) => [...pieces]);
				const events = turns.map((index) => {
					const piece = left[index].shift();
					return eventOf(piece === undefined ? stop(index) : content(piece, index));
				});
				const text = [...events, done].join('');
				const cuts = Array.from({ length: Math.ceil(text.length / size) }, (_, place) =>
					text.slice(place * size, (place + 1) * size),
				);
				const { live, stream, finish } = streamed(cuts);
				const wholes = choices.map((pieces) => pieces.join(''));
				expect(finish().choices).toEqual(
					wholes.map((whole, index) => ({
						index,
						message: { role: 'assistant', content: whole },
						finish_reason: 'stop',
					})),
				);
				expect(live.join('')).toBe(wholes[turns[0]]);
				const inTurn = [...new Set(turns)].map((index) => wholes[index]);
				expect(stream.text).toBe(inTurn.filter((whole) => whole !== '').join('\n\n'));
			}),
		);
	});

	it('accepts a stream without [DONE] once each choice has a finish_reason', () => {
		const { finish } = streamed([content('a', 0), content('b', 1), stop(1), stop(0)]);
		expect(finish().choices.map(({ message }) => message.content)).toEqual(['a', 'b']);
	});

	it('accepts a stream whose connection breaks after its end', () => {
		const { finish } = streamed([content('a'), stop()], { broken: 'aborted' });
		expect(finish().choices).toHaveLength(1);
	});

	it('accepts a stream without an empty line after its last event', () => {
		const { finish } = streamed([content('a'), `data: ${JSON.stringify(stop())}`]);
		expect(finish().choices[0]).toMatchObject({ finish_reason: 'stop' });
	});

	it.each<[string, unknown[], object, string]>([
		['before its end', [content('Hel')], {}, 'broke off: the stream ended too early'],
		[
			'although each chunk has an empty finish_reason',
			[chunkOf({ content: 'Hel' }, { index: 0, finish_reason: '' })],
			{},
			'broke off: the stream ended too early',
		],
		['with a known cause', [content('Hel')], { broken: 'aborted' }, 'broke off: aborted'],
		[
			'after one of two choices has ended',
			[content('Hel'), chunkOf({}, { index: 1 }), stop(1)],
			{},
			'broke off: the stream ended too early',
		],
		[
			'with an error event',
			[content('Hel'), 'event: error\ndata: {"code":"busy","message":"Overloaded"}\n\n', done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error event that is a text',
			[content('Hel'), 'event: error\ndata: Overloaded\n\n', stop(), done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error named by its type',
			[content('Hel'), { type: 'error', message: 'Overloaded' }, done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error that is no event',
			[content('Hel'), '{"error":{"message":"Overloaded"}}\n\n', done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'in an event and continues',
			[content('Hel'), 'data: {"choices":[{"del\n\n', stop(), done],
			{},
			'is missing a part; this came instead: {"choices":[{"del',
		],
		[
			'with a web page and continues',
			[content('Hel'), '<html>\n<p>Bad gateway</p>\n\n', stop(), done],
			{},
			'is missing a part; this came instead: <html> <p>Bad gateway</p>',
		],
		[
			'with an error',
			[content('Hel'), { error: { message: 'Overloaded', code: 'busy' } }, done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error that is a text',
			[content('Hel'), stop(), { error: 'Overloaded' }],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error of unknown form',
			[content('Hel'), { error: { a: 1 } }],
			{},
			'broke off with an error: {"a":1}',
		],
	])('keeps the text of a stream that breaks off %s', (_, pieces, parts, message) => {
		expect(unusable(streamed(pieces, parts).finish)).toMatchObject({ message, partialText: 'Hel' });
	});

	it('keeps the text of every choice when the stream breaks off', () => {
		const { finish } = streamed([content('Hel'), content('Hi', 1), stop(1)]);
		expect(unusable(finish).partialText).toBe('Hel\n\nHi');
	});

	it('refuses a stream without [DONE] while choices are missing', () => {
		const stream = new StreamedCompletion(2);
		stream.push([content('Hel'), stop()].map(eventOf).join(''));
		expect(unusable(() => stream.finish(answerOf(''))).partialText).toBe('Hel');
	});

	it('accepts the index of a choice as a text of digits', () => {
		const { finish } = streamed([
			...[chunkOf({ content: 'a' }, { index: '0' }), chunkOf({ content: 'b' }, { index: '1' })],
			...[chunkOf({ content: 'c' }, { index: '0' }), done],
		]);
		expect(finish().choices.map(({ message }) => message.content)).toEqual(['ac', 'b']);
	});

	it('ignores events that only keep the connection alive', () => {
		const pings = ['event: ping\ndata: 2026-01-01\n\n', 'data: ping\n\n', 'data: keep-alive\n\n'];
		const { finish } = streamed([content('a'), ...pings, stop(), done]);
		expect(finish().choices[0].message.content).toBe('a');
	});

	it('ignores everything after [DONE]', () => {
		const { stream, finish, live } = streamed([content('a'), done, content('b'), { error: 'x' }]);
		expect(stream.hasEndMark).toBe(true);
		expect(live.join('')).toBe('a');
		expect(finish().choices[0].message.content).toBe('a');
	});

	it('describes the response when it is no stream', () => {
		const page = answerOf('<html>Login</html>');
		expect(unusable(() => new StreamedCompletion().finish(page)).message).toBe(
			'is a web page instead of JSON',
		);
	});

	it.each<[string, unknown[]]>([
		['nothing', []],
		['[DONE] alone', [done]],
		['chunks without choices', [{ choices: [], usage: {} }, done]],
		['events that are not JSON', ['data: {"choices":[{\n\n', 'data: null\n\n', done]],
	])('refuses a stream of %s', (_, pieces) => {
		expect(unusable(streamed(pieces).finish).partialText).toBe('');
	});

	it('joins content that arrives in parts', () => {
		const { live, finish } = streamed([
			chunkOf({ content: [{ type: 'text', text: 'a' }] }),
			content('b'),
			stop(),
		]);
		expect(live.join('')).toBe('ab');
		expect(finish().choices[0].message.content).toBe('ab');
	});

	it.each(['reasoning_content', 'reasoning', 'refusal'])('joins %s from its chunks', (name) => {
		const { live, finish } = streamed([
			chunkOf({ role: 'assistant', content: null, [name]: 'Let me ' }),
			chunkOf({ role: 'assistant', [name]: 'think' }),
			chunkOf({ [name]: null, content: 'Hi' }),
			stop(),
		]);
		expect(finish().choices[0].message).toEqual({
			role: 'assistant',
			content: 'Hi',
			[name]: 'Let me think',
		});
		expect(live.join('')).toBe('Hi');
	});

	it('returns a completion or throws UnusableResponse for any chunks', () => {
		const cases = fc.array(fc.oneof(anyBody, fc.constantFrom(stop(), content('a'), done)), {
			maxLength: 5,
		});
		fc.assert(
			fc.property(cases, (chunks) => {
				const { live, finish, stream } = streamed(chunks);
				for (const text of [...live, stream.text]) expect(typeof text).toBe('string');
				try {
					expect(finish().choices.length).toBeGreaterThan(0);
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
					expect(typeof (error as UnusableResponse).partialText).toBe('string');
				}
				expect(Object.keys(Object.prototype)).toEqual([]);
			}),
			{ numRuns: 1000 },
		);
	});
});

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

	it('takes each tool call without an index as complete', () => {
		expect(callsOf([[callOf('a', '{}')], [callOf('b', '{}')]])).toEqual([
			callOf('a', '{}'),
			callOf('b', '{}'),
		]);
	});

	it('reads the one function_call of older models', () => {
		const { finish } = streamed([
			chunkOf({ function_call: { name: 'f', arguments: '{' } }),
			chunkOf({ function_call: { arguments: '}' } }),
			stop(),
		]);
		expect(finish().choices[0].message.function_call).toEqual({ name: 'f', arguments: '{}' });
	});
});
