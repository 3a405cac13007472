import {
	StreamedCompletion,
	unstreamed,
} from '../../../../nodes/shared/gateway/chat/streamedCompletion';
import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/data/answers';
import { unlessEndless } from '../../../support/data/endless';
import { fc } from '../../../support/data/fuzz';
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

	/** 210,000 of something in 21 chunks. */
	const chunksOfMany = (chunk: (indexes: number[]) => object) =>
		[...Array(21).keys()].map((batch) =>
			chunk(Array.from({ length: 10_000 }, (_, index) => 10_000 * batch + index)),
		);
	const fieldsOf = (indexes: number[]) =>
		Object.fromEntries(indexes.map((index) => [`field${index}`, 1]));
	it.each<[string, (indexes: number[]) => object]>([
		['choices', (indexes) => ({ choices: indexes.map((index) => ({ index, delta: {} })) })],
		['fields', fieldsOf],
		['fields of a message', (indexes) => chunkOf(fieldsOf(indexes))],
		['tool calls', (indexes) => chunkOf({ tool_calls: indexes.map((id) => ({ id: `${id}` })) })],
		['parts', (indexes) => chunkOf({ content: indexes.map(() => ({ type: 'image' })) })],
		['images', (indexes) => chunkOf({ images: indexes.map(() => ({ type: 'image' })) })],
	])('ends with an error at more %s than any answer needs, and keeps the text', (_, chunk) => {
		const chunks = [content('Yes'), ...chunksOfMany(chunk), content(', no'), done];
		const { stream, finish } = streamed(chunks);
		expect(stream.isExcessive).toBe(true);
		expect(finish).toThrow('has more parts in it than any answer of a chat needs');
		expect(stream.text).toBe('Yes');
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

	const whole = (message: object, parts: object = {}) => ({
		choices: [{ index: 0, message: { role: 'assistant', ...message }, ...parts }],
	});
	const piece = (text: string, parts: object = {}) => whole({ content: text }, parts);
	const legacy = (text: string, parts: object = {}) => ({ choices: [{ text, ...parts }] });
	const ended = { finish_reason: 'stop' };

	it.each<[string, unknown[]]>([
		['in one message', [piece('Hello', ended), done]],
		['in one message without its end', [piece('Hello')]],
		['in one message with delta null', [piece('Hello', { delta: null, ...ended })]],
		['in messages that are parts', [piece('Hel'), piece('lo'), whole({}, ended)]],
		['in messages with the answer so far', ['H', 'Hel', 'Hel', 'Hello'].map((text) => piece(text))],
		['in texts', [legacy('Hel'), legacy('lo', ended)]],
		['in texts with the answer so far', [legacy('Hel'), legacy('Hello'), legacy('Hello', ended)]],
		['in one text', [legacy('Hello', ended)]],
		['and repeats it in its last chunk', [content('Hel'), content('lo'), piece('Hello', ended)]],
		[
			'and repeats it beside the last delta',
			[content('Hel'), chunkOf({ content: 'lo' }, { message: { content: 'Hello' }, ...ended })],
		],
		[
			'and repeats it beside an empty delta',
			[content('Hello'), chunkOf({ content: '' }, { message: { content: 'Hello' }, ...ended })],
		],
		[
			'and repeats it without the spaces around it',
			[content(' Hel'), content('lo\n'), piece('Hello', ended)],
		],
		[
			'and repeats each delta as a text',
			[
				chunkOf({ content: 'Hel' }, { text: 'Hel' }),
				chunkOf({ content: 'lo' }, { text: 'lo', ...ended }),
			],
		],
		[
			'and repeats it as a list of parts',
			[content('Hello'), whole({ content: [{ type: 'text', text: 'Hello' }] }, ended)],
		],
	])('reads the text of a stream that has it %s', (_, chunks) => {
		const { live, finish } = streamed([...chunks, done]);
		expect(live.join('').trim()).toBe('Hello');
		const [{ message }] = finish().choices;
		expect(String(message.content).trim()).toBe('Hello');
	});

	it.each([
		['before its end', [piece('Hel'), piece('lo')]],
		['after one chunk', [{ object: 'chat.completion.chunk', ...piece('Hello') }]],
		['after one text', [legacy('Hello')]],
	])('refuses a stream of messages that breaks off %s', (_, chunks) => {
		expect(unusable(streamed(chunks).finish)).toMatchObject({ partialText: 'Hello' });
	});

	it('does not take a part of a message that is like the one before for a repetition', () => {
		const { live, finish } = streamed([piece('no '), piece('no '), piece('!', ended)]);
		expect(live).toEqual(['no ', 'no ', '!']);
		expect(finish().choices[0].message.content).toBe('no no !');
	});

	it('keeps the choices of a chunk apart that have no index', () => {
		const choices = ['a', 'b'].map((text) => ({ message: { content: text }, ...ended }));
		expect(
			streamed([{ choices }])
				.finish()
				.choices.map(({ message }) => message.content),
		).toEqual(['a', 'b']);
	});

	it.each([
		['with the end mark behind it', (json: string) => `${json}\ndata: [DONE]\n\n`],
		['with the end mark in its last line', (json: string) => `${json} data: [DONE]`],
		['with the bare end mark behind it', (json: string) => `${json}\n\n[DONE]`],
		['with data: before it', (json: string) => `data: ${json}`],
		['behind a byte order mark', (json: string) => `\ufeff${json}\n\ndata: [DONE]`],
	])('reads the JSON of a whole completion %s', (_, write) => {
		const body = { id: 'c', ...piece('Hello'), usage: { total_tokens: 3 } };
		for (const json of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
			const { json: read } = unstreamed(answerOf(write(json)), new Redaction(''));
			expect(read).toMatchObject({
				id: 'c',
				choices: [{ message: { content: 'Hello' } }],
				usage: { total_tokens: 3 },
			});
		}
	});

	it('keeps an image that is streamed in the content or beside it', () => {
		const image = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
		const text = (words: string) => ({ type: 'text', text: words });
		const { live, finish } = streamed([
			content('One '),
			chunkOf({ content: [text('image: '), image] }),
			content('Wo'),
			chunkOf({ content: 'w', images: [image] }),
			chunkOf({ images: [image] }),
			stop(),
		]);
		expect(live.join('')).toBe('One image: Wow');
		expect(finish().choices[0].message).toEqual({
			...{ role: 'assistant', images: [image, image] },
			content: [text('One image: '), image, text('Wow')],
		});
	});

	it.each<[string, object]>([
		[
			'an error in its choice',
			{ index: 0, delta: {}, error: { message: 'Overloaded', code: 502 } },
		],
		[
			'an error in its choice and a finish_reason',
			{ delta: { content: '' }, finish_reason: 'error', error: 'Overloaded' },
		],
		['an error in its delta', { delta: { error: { message: 'Overloaded' } } }],
		['an error in its message', { message: { error: { message: 'Overloaded' } } }],
	])('fails when the last chunk of a stream has %s', (_, choice) => {
		for (const end of [[], [stop(), done]]) {
			expect(
				unusable(streamed([content('Hel'), { choices: [choice] }, ...end]).finish),
			).toMatchObject({
				...{ message: 'broke off with an error: Overloaded', partialText: 'Hel' },
				error: expect.anything(),
			});
		}
	});

	it('fails when a choice of a stream ends with the finish_reason error', () => {
		const pieces = [content('Hel'), chunkOf({}, { finish_reason: 'error' }), done];
		expect(unusable(streamed(pieces).finish)).toMatchObject({
			...{ message: 'broke off with an error', partialText: 'Hel', error: undefined },
		});
	});

	it.each([null, '', {}, [], 0, false, 'no error', { message: '', code: null }, { code: 0 }])(
		'does not take %j for an error',
		(error) => {
			const chunk = { ...chunkOf({ content: 'Hi', error }, { error, ...ended }), error };
			expect(streamed([chunk]).finish().choices[0].message).toEqual({
				role: 'assistant',
				content: 'Hi',
			});
		},
	);

	it.each<[string, object]>([
		['text', { choices: [{ text: 'a' }] }],
		[
			'parts',
			chunkOf({ content: [{ type: 'text', text: 'a' }, { type: 'image' }], images: ['a'] }),
		],
		['calls', chunkOf({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '}' } }] })],
	])('assembles 50,000 chunks in linear time: %s', (_, chunk) => {
		const stream = new StreamedCompletion();
		const { length } = unlessEndless(() => {
			for (let count = 0; count < 50_000; count++) {
				// Fields that a fragment adds must not make the later ones slower.
				const json = JSON.stringify(chunk).replace(
					'"function":{',
					`"x${count}":1,$&"y${count}":1,`,
				);
				stream.push(`data: ${json}\n\n`);
			}
			stream.push(done);
			return JSON.stringify(stream.finish(answerOf('')));
		});
		expect(length).toBeGreaterThan(50_000);
	});
});
