import { completion, textOf } from '../../nodes/shared/gateway/chat/completion';
import { StreamedCompletion } from '../../nodes/shared/gateway/chat/streamedCompletion';
import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { answerOf } from '../support/answers';
import { fc } from '../support/fuzz';

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

function unusable(work: () => unknown): UnusableResponse {
	try {
		work();
	} catch (error) {
		expect(error).toBeInstanceOf(UnusableResponse);
		return error as UnusableResponse;
	}
	throw new Error('it was usable');
}

const fuzz = (() => {
	const names = fc.constantFrom(
		...['choices', 'index', 'delta', 'message', 'content', 'text', 'finish_reason', 'usage'],
		...['tool_calls', 'function_call', 'function', 'arguments', 'error', 'code', 'id', 'object'],
		...['__proto__', 'constructor', 'toString', 'a.b', 'length', 'role'],
	);
	const leaves = fc.constantFrom(null, true, false, 0, 1, -1, 0.5, 1e300, '', 'a', '{"a":', 'stop');
	const { json } = fc.letrec<{ json: unknown; object: unknown; array: unknown }>((tie) => ({
		json: fc.oneof({ maxDepth: 5 }, leaves, tie('object'), tie('array')),
		object: fc.dictionary(names, tie('json'), { maxKeys: 5 }),
		array: fc.array(tie('json'), { maxLength: 3 }),
	}));
	const delta = fc.oneof(fc.dictionary(names, json, { maxKeys: 4 }), json);
	const choice = fc.record(
		{ index: json, delta, message: delta, finish_reason: json, text: json },
		{ requiredKeys: [] },
	);
	const body = fc.record(
		{ choices: fc.oneof(fc.array(fc.oneof(choice, json), { maxLength: 3 }), json), error: json },
		{ requiredKeys: [] },
	);
	return fc.oneof(body, json);
})();

describe('a completion', () => {
	it('is handed on with the request id of the head', () => {
		const message = { role: 'assistant', content: 'Hi' };
		const body = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: {} };
		expect(completion(answerOf(body))).toEqual(body);
		expect(completion(answerOf(body, { requestId: 'r1' }))).toEqual({ ...body, request_id: 'r1' });
	});

	it('keeps the request id of its own beside that of the head', () => {
		const body = { request_id: 'own', choices: [{ index: 0, message: { content: 'Hi' } }] };
		const head = { headers: { 'x-request-id': 'head' }, requestId: 'head' };
		expect(completion(answerOf(body, head))).toEqual({ ...body, http_request_id: 'head' });
	});

	it('may be a plain text, without an index', () => {
		const { choices } = completion(answerOf({ choices: [{ text: 'Hi' }, { text: 'Ho' }] }));
		expect(choices.map(({ index, message }) => [index, textOf(message)])).toEqual([
			[0, 'Hi'],
			[1, 'Ho'],
		]);
	});

	it.each([{}, { choices: [] }, { choices: ['a'] }, { choices: {} }, [], '', '<html>'])(
		'is not %j',
		(body) => void unusable(() => completion(answerOf(body))),
	);

	it('is a completion or Unusable, whatever the answer is', () => {
		fc.assert(
			fc.property(fuzz, (body) => {
				try {
					for (const choice of completion(answerOf(body)).choices) {
						expect(typeof choice.index).toBe('number');
						expect(typeof textOf(choice.message)).toBe('string');
					}
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
				}
			}),
			{ numRuns: 500 },
		);
	});

	it.each<[unknown, string]>([
		['Hi', 'Hi'],
		[null, ''],
		[undefined, ''],
		[[{ type: 'text', text: 'a' }, { type: 'image_url' }, null, 'x', { text: 'b' }], 'ab'],
	])('has the content %j, which is the text %j', (value, text) => {
		expect(textOf({ content: value })).toBe(text);
	});
});

describe('a streamed completion', () => {
	it('is put together as if it had come at once', () => {
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

	it('is the same however its choices are interleaved and its text is cut', () => {
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

	it('is whole without the closing mark once each choice has told why it ended', () => {
		const { finish } = streamed([content('a', 0), content('b', 1), stop(1), stop(0)]);
		expect(finish().choices.map(({ message }) => message.content)).toEqual(['a', 'b']);
	});

	it('is whole when the connection broke behind its end', () => {
		const { finish } = streamed([content('a'), stop()], { broken: 'aborted' });
		expect(finish().choices).toHaveLength(1);
	});

	it('is whole when its last event was left open', () => {
		const { finish } = streamed([content('a'), `data: ${JSON.stringify(stop())}`]);
		expect(finish().choices[0]).toMatchObject({ finish_reason: 'stop' });
	});

	it.each<[string, unknown[], object, string]>([
		['before its end', [content('Hel')], {}, 'broke off: the stream ended too early'],
		[
			'where each piece has an empty reason for its end',
			[chunkOf({ content: 'Hel' }, { index: 0, finish_reason: '' })],
			{},
			'broke off: the stream ended too early',
		],
		['for a reason', [content('Hel')], { broken: 'aborted' }, 'broke off: aborted'],
		[
			'when one choice of two had ended',
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
			'with an error by its type',
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
			'for an event and goes on',
			[content('Hel'), 'data: {"choices":[{"del\n\n', stop(), done],
			{},
			'lacks a part, in whose place came: {"choices":[{"del',
		],
		[
			'for a web page and goes on',
			[content('Hel'), '<html>\n<p>Bad gateway</p>\n\n', stop(), done],
			{},
			'lacks a part, in whose place came: <html> <p>Bad gateway</p>',
		],
		[
			'with an error',
			[content('Hel'), { error: { message: 'Overloaded', code: 'busy' } }, done],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with the text of an error',
			[content('Hel'), stop(), { error: 'Overloaded' }],
			{},
			'broke off with an error: Overloaded',
		],
		[
			'with an error of no known form',
			[content('Hel'), { error: { a: 1 } }],
			{},
			'broke off with an error: {"a":1}',
		],
	])('that breaks off %s keeps its text', (_, pieces, parts, message) => {
		expect(unusable(streamed(pieces, parts).finish)).toMatchObject({ message, partialText: 'Hel' });
	});

	it('that breaks off keeps the text of every choice', () => {
		const { finish } = streamed([content('Hel'), content('Hi', 1), stop(1)]);
		expect(unusable(finish).partialText).toBe('Hel\n\nHi');
	});

	it('is not whole without the closing mark while choices are missing', () => {
		const stream = new StreamedCompletion(2);
		stream.push([content('Hel'), stop()].map(eventOf).join(''));
		expect(unusable(() => stream.finish(answerOf(''))).partialText).toBe('Hel');
	});

	it('keeps its choices apart by numerals too', () => {
		const { finish } = streamed([
			...[chunkOf({ content: 'a' }, { index: '0' }), chunkOf({ content: 'b' }, { index: '1' })],
			...[chunkOf({ content: 'c' }, { index: '0' }), done],
		]);
		expect(finish().choices.map(({ message }) => message.content)).toEqual(['ac', 'b']);
	});

	it('heeds no signs of life', () => {
		const signs = ['event: ping\ndata: 2026-01-01\n\n', 'data: ping\n\n', 'data: keep-alive\n\n'];
		const { finish } = streamed([content('a'), ...signs, stop(), done]);
		expect(finish().choices[0].message.content).toBe('a');
	});

	it('ends with the closing mark', () => {
		const { stream, finish, live } = streamed([content('a'), done, content('b'), { error: 'x' }]);
		expect(stream.hasEndMark).toBe(true);
		expect(live.join('')).toBe('a');
		expect(finish().choices[0].message.content).toBe('a');
	});

	it('says what came instead', () => {
		const page = answerOf('<html>Login</html>');
		expect(unusable(() => new StreamedCompletion().finish(page)).message).toBe(
			'is a web page instead of JSON',
		);
	});

	it.each<[string, unknown[]]>([
		['of nothing', []],
		['of the closing mark', [done]],
		['without choices', [{ choices: [], usage: {} }, done]],
		['of what is not JSON', ['data: {"choices":[{\n\n', 'data: null\n\n', done]],
	])('%s is none', (_, pieces) => {
		expect(unusable(streamed(pieces).finish).partialText).toBe('');
	});

	it('has the text of parts', () => {
		const { live, finish } = streamed([
			chunkOf({ content: [{ type: 'text', text: 'a' }] }),
			content('b'),
			stop(),
		]);
		expect(live.join('')).toBe('ab');
		expect(finish().choices[0].message.content).toBe('ab');
	});

	it.each(['reasoning_content', 'reasoning', 'refusal'])('puts %s together too', (name) => {
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

	it('is a completion or Unusable, whatever its chunks are', () => {
		const cases = fc.array(fc.oneof(fuzz, fc.constantFrom(stop(), content('a'), done)), {
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

describe('tool calls in pieces', () => {
	const callOf = (id: string, text: string) => ({
		id,
		type: 'function',
		function: { name: `tool_${id}`, arguments: text },
	});
	const more = (index: number, text: string) => ({ index, function: { arguments: text } });
	const callsOf = (pieces: object[][]) =>
		streamed([...pieces.map((calls) => chunkOf({ tool_calls: calls })), stop()]).finish().choices[0]
			.message.tool_calls;

	it('are put together, whichever call each piece is for', () => {
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

	it('may come several in one chunk', () => {
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
		['leaves numbers out', [0, 2]],
		['begins with the last', [1, 0]],
	])('belong together by their index, which %s', (_, indexes) => {
		const pieces = [
			...indexes.map((index) => [{ index, ...callOf(`${index}`, '{') }]),
			...indexes.map((index) => [more(index, '}')]),
		];
		const sorted = [...indexes].sort((a, b) => a - b);
		expect(callsOf(pieces)).toEqual(sorted.map((index) => callOf(`${index}`, '{}')));
	});

	it('are each whole when they have no index', () => {
		expect(callsOf([[callOf('a', '{}')], [callOf('b', '{}')]])).toEqual([
			callOf('a', '{}'),
			callOf('b', '{}'),
		]);
	});

	it('may be the one function call of old', () => {
		const { finish } = streamed([
			chunkOf({ function_call: { name: 'f', arguments: '{' } }),
			chunkOf({ function_call: { arguments: '}' } }),
			stop(),
		]);
		expect(finish().choices[0].message.function_call).toEqual({ name: 'f', arguments: '{}' });
	});
});
