import { AnswerStream, unstreamed } from '../../../../nodes/shared/service/chat/answerStream';
import { completionIn, type Completion } from '../../../../nodes/shared/service/chat/completion';
import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { answerOf } from '../../../support/data/answers';
import { unlessEndless } from '../../../support/data/endless';
import { expectPlain } from '../../../support/data/plain';

const newStream = (count?: number) => new AnswerStream(new Redaction(''), count);
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
	const stream = newStream();
	const live = pieces.map((piece) =>
		stream.push(typeof piece === 'string' ? piece : eventOf(piece)),
	);
	return { live, stream, finish: () => stream.finish(answerOf('', parts)).json as Completion };
}

describe('streamed completions', () => {
	it('refuses a stream without [DONE] while choices are missing', () => {
		const stream = newStream(2);
		stream.push([content('Hel'), stop()].map(eventOf).join(''));
		expect(() => stream.finish(answerOf(''))).toThrow(
			expect.objectContaining({ more: expect.objectContaining({ partialText: 'Hel' }) }),
		);
	});

	/** 210,000 of something in 210 chunks. */
	const chunksOfMany = (chunk: (indexes: number[]) => object) =>
		[...Array(210).keys()].map((batch) =>
			chunk(Array.from({ length: 1_000 }, (_, index) => 1_000 * batch + index)),
		);
	const fieldsOf = (indexes: number[]) =>
		Object.fromEntries(indexes.map((index) => [`field${index}`, 1]));
	it.each<[string, (indexes: number[]) => object]>([
		['choices', (indexes) => ({ choices: indexes.map((index) => ({ index, delta: {} })) })],
		['fields', fieldsOf],
	])('ends with an error at more %s than any answer needs, and keeps the text', (_, chunk) => {
		const chunks = [content('Yes'), ...chunksOfMany(chunk), content(', no'), done];
		const { stream, finish } = streamed(chunks);
		expect(stream.isOver).toBe(true);
		expect(finish).toThrow('has more parts in it than any answer of a chat needs');
		expect(stream.text).toBe('Yes');
	});

	it('reads the JSON of a whole completion with the end mark behind it', async () => {
		const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' } }];
		const body = { id: 'c', choices, usage: { total_tokens: 3 } };
		for (const json of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
			const reader = { redaction: new Redaction(''), runtime: { clock } };
			const response = answerOf(`${json}\ndata: [DONE]\n\n`);
			const { json: read } = await unstreamed(response, reader);
			expect(read).toMatchObject({ id: 'c', choices: [{ message: { content: 'Hello' } }] });
		}
	});

	it('keeps a field that is called __proto__, and lets it change nothing else', () => {
		const { finish } = streamed([
			'data: {"__proto__":{"polluted":true},"choices":[{"delta":{"__proto__":{"content":"x"}}}]}\n\n',
			done,
		]);
		const whole = finish();
		expectPlain(whole);
		expect(JSON.stringify(whole)).toContain('"__proto__":{"polluted":true}');
		expect(whole.choices[0].message.content).toBe('');
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
			role: 'assistant',
			images: [image, image],
			content: [text('One image: '), image, text('Wow')],
		});
	});

	it('keeps the tokens that the first and the last event of a message name', () => {
		const { finish } = streamed([
			{ type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 3 } } },
			{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
			{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
			{ type: 'message_stop' },
		]);
		expect(finish()).toMatchObject({ id: 'm', usage: { input_tokens: 3, output_tokens: 9 } });
	});

	it('keeps the logarithms of a choice, and the tokens that only its last chunk names', () => {
		const logprobs = (token: string) => ({ content: [{ token, logprob: -1 }] });
		const usage = { prompt_tokens: 3, completion_tokens: 4 };
		const { finish } = streamed([
			chunkOf({ content: 'Hel' }, { logprobs: logprobs('Hel') }),
			chunkOf({ content: 'lo' }, { logprobs: logprobs('lo') }),
			chunkOf({}, { finish_reason: 'stop', logprobs: null, usage }),
			done,
		]);
		const { content } = logprobs('Hel');
		const whole = completionIn(finish());
		expect(whole?.choices[0].logprobs).toEqual({
			content: [...content, ...logprobs('lo').content],
		});
		expect(whole?.usage).toEqual(usage);
	});

	it.each<[string, object]>([
		[
			'parts',
			chunkOf({ content: [{ type: 'text', text: 'a' }, { type: 'image' }], images: ['a'] }),
		],
		['calls', chunkOf({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '}' } }] })],
	])('assembles 50,000 chunks in linear time: %s', (_, chunk) => {
		const stream = newStream();
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
			return JSON.stringify(stream.finish(answerOf('')).json);
		});
		expect(length).toBeGreaterThan(50_000);
	});
});
