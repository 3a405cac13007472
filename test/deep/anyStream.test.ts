import { textOf } from '../../nodes/shared/gateway/chat/completion';
import { StreamedCompletion } from '../../nodes/shared/gateway/chat/streamedCompletion';
import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { markdownImages } from '../../nodes/shared/gateway/images/markdown';
import { readChatImages } from '../../nodes/shared/gateway/images/responses';
import { answerOf } from '../support/answers';
import { anyJson, anyText, jsonText, nearly } from '../support/anyJson';
import { unlessEndless } from '../support/endless';
import { fc, tries } from '../support/fuzz';
import { expectPlain } from '../support/plain';

const call = (named: object, part: string) => ({
	tool_calls: [
		{ index: 0, id: 'call_1', type: 'function', function: { ...named, arguments: part } },
	],
});
const chunk = (delta: object, finish_reason: string | null = null) => ({
	...{ id: 'chat_1', object: 'chat.completion.chunk', created: 1, model: 'chat-1' },
	choices: [{ index: 0, delta, finish_reason }],
});
const trueChunks = [
	chunk({ role: 'assistant', content: 'One' }),
	chunk({ content: [{ type: 'text', text: 'Two' }], reasoning: 'because' }),
	chunk(call({ name: 'look' }, '{"at"')),
	chunk(call({}, ':1}')),
	chunk({ function_call: { name: 'look', arguments: '{}' } }),
	chunk({}, 'stop'),
	{ ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
];

/** Valid chunks, nearly valid ones, and any JSON or text, each as the data of an event. */
const events = fc.array(
	fc.oneof(
		{ weight: 4, arbitrary: fc.constantFrom(...trueChunks).map(jsonText) },
		...trueChunks.map((like) => nearly(like).map(jsonText)),
		anyJson.map(jsonText),
		anyText,
		fc.constant('[DONE]'),
	),
	{ maxLength: 12 },
);

describe('arbitrary streams of chunks', () => {
	it('assembles any stream of chunks, or refuses it as unusable', () => {
		let good = 0;
		const property = fc.property(events, (all) => {
			const stream = new StreamedCompletion();
			const streamed = all.map((event) => stream.push(`data: ${event}\n\n`)).join('');
			// The text of the first choice comes first.
			expect(stream.text.startsWith(streamed)).toBe(true);
			try {
				const whole = stream.finish(answerOf(''));
				good++;
				expectPlain(whole);
				expect(whole.choices.length).toBeGreaterThan(0);
				for (const { index, message } of whole.choices) {
					expect(Number.isFinite(index)).toBe(true);
					expect(typeof textOf(message)).toBe('string');
				}
			} catch (error) {
				if (!(error instanceof UnusableResponse)) throw error;
			}
		});
		const runs = tries(1500);
		fc.assert(property, runs);
		expect(good).toBeGreaterThan(runs.numRuns / 15);
	});

	it('keeps a streamed field that is called __proto__', () => {
		const stream = new StreamedCompletion();
		const odd =
			'{"__proto__":{"polluted":true},"choices":[{"delta":{"__proto__":{"content":"x"}}}]}';
		stream.push(`data: ${odd}\n\ndata: [DONE]\n\n`);
		const whole = stream.finish(answerOf(''));
		expectPlain(whole);
		expect(JSON.stringify(whole)).toContain('"__proto__":{"polluted":true}');
		expect(whole.choices[0].message.content).toBe('');
	});
});

describe('images in arbitrary texts', () => {
	const parts = fc.constantFrom(
		...['![', '[', ']', '](', '(', ')', '<', '>', '\\', ' ', '\n', 'a', '(data:image/png;base64,'],
		...[
			'https://a.example/p.png',
			'![it](https://a.example/p.png)',
			'![](data:image/png;base64,AA)',
		],
	);
	const texts = fc.array(parts, { maxLength: 40 }).map((all) => all.join(''));

	it('finds only addresses of images that are in the text', () => {
		const property = fc.property(texts, (text) => {
			for (const address of markdownImages(text)) expect(text).toContain(address);
		});
		fc.assert(property, tries(1000));
	});

	it.each([
		...['![', '![[', '](', '![](', '![](<', '![a](<', '![a](( ', '(', '\\', ' '],
		...['(data:image/', '![a](data:image/png;base64,', `(data:image/a,${' '.repeat(999)}`],
	])('finds images in linear time in a million characters of %j', (piece) => {
		const content = `![it](https://a.example/p.png) ${piece.repeat(1_000_000 / piece.length)}`;
		const response = answerOf({ choices: [{ message: { content } }] });
		const { images: pictures } = unlessEndless(() => readChatImages(response));
		expect(pictures.length).toBeGreaterThan(0);
	});
});
