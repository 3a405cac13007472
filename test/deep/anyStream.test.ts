import { AnswerStream } from '../../nodes/shared/service/chat/answerStream';
import { completion, textOf } from '../../nodes/shared/service/chat/completion';
import { Redaction } from '../../nodes/shared/service/client/redaction';
import { UnusableResponse } from '../../nodes/shared/service/client/response';
import { imagesIn } from '../../nodes/shared/service/images/textImages';
import { readChatImages } from '../../nodes/shared/service/images/responses';
import { answerOf } from '../support/data/answers';
import { anyJson, anyText, jsonText, nearly } from '../support/data/anyJson';
import { unlessEndless } from '../support/data/endless';
import { fc, tries } from '../support/data/fuzz';
import { expectPlain } from '../support/data/plain';

const newStream = (count?: number) => new AnswerStream(new Redaction(''), count);
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
			const stream = newStream();
			const streamed = all.map((event) => stream.push(`data: ${event}\n\n`)).join('');
			// The text of the first choice comes first.
			expect(stream.text.startsWith(streamed)).toBe(true);
			try {
				const whole = completion(stream.finish(answerOf('')));
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
		const stream = newStream();
		const odd =
			'{"__proto__":{"polluted":true},"choices":[{"delta":{"__proto__":{"content":"x"}}}]}';
		stream.push(`data: ${odd}\n\ndata: [DONE]\n\n`);
		const whole = completion(stream.finish(answerOf('')));
		expectPlain(whole);
		expect(JSON.stringify(whole)).toContain('"__proto__":{"polluted":true}');
		expect(whole.choices[0].message.content).toBe('');
	});
});

/** The same answer, as servers of all kinds stream it. */
describe('one answer in every form of stream', () => {
	const text = fc.string({ unit: 'grapheme', maxLength: 20 });
	const input = fc
		.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(text, fc.integer()))
		.map((value) => JSON.stringify(value));
	const calls = fc
		.array(fc.record({ name: fc.constantFrom('look', 'add'), input }), { maxLength: 3 })
		.map((all) => all.map((call, index) => ({ ...call, id: `call_${index}` })));
	const answers = fc.array(fc.record({ text, calls }), { minLength: 1, maxLength: 2 });
	type Call = { id: string; name: string; input: string };

	/** How a server tells to which call a fragment belongs, and whether it may send calls in turn. */
	const styles: Record<
		string,
		{ isInTurn: boolean; place: (call: Call, index: number, isFirst: boolean) => object }
	> = {
		'the index, and the ID at first': {
			isInTurn: true,
			place: ({ id }, index, isFirst) => ({ index, ...(isFirst && { id }) }),
		},
		'the index as a text, and an empty ID later': {
			isInTurn: true,
			place: ({ id }, index, isFirst) => ({ index: `${index}`, id: isFirst ? id : '' }),
		},
		'the ID alone': { isInTurn: true, place: ({ id }) => ({ id }) },
		'the ID, with the same index for all': {
			isInTurn: true,
			place: ({ id }) => ({ id, index: 0 }),
		},
		'the same index for all, and the ID at first': {
			isInTurn: false,
			place: ({ id }, _, isFirst) => ({ index: 0, ...(isFirst && { id }) }),
		},
		'the ID at first alone': {
			isInTurn: false,
			place: ({ id }, _, isFirst) => ({ index: null, id: isFirst ? id : null }),
		},
	};

	/** Cuts a text at these shares of its length. */
	const cutAt = (whole: string, shares: number[]) => {
		const ends = shares.map((share) => Math.floor(share * whole.length)).sort((a, b) => a - b);
		return [...ends, whole.length].map((end, place) =>
			whole.slice(place === 0 ? 0 : ends[place - 1], end),
		);
	};
	const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 });
	const plan = fc.record({
		...{
			answers,
			shares,
			order: fc.infiniteStream(fc.nat()),
			size: fc.integer({ min: 1, max: 300 }),
		},
		...{ style: fc.constantFrom(...Object.values(styles)), repeatsName: fc.boolean() },
		ending: fc.constantFrom('delta', 'message'),
	});

	const fragmentsOf = (
		call: Call,
		index: number,
		{
			style,
			shares: cuts,
			repeatsName,
		}: { style: (typeof styles)[string]; shares: number[]; repeatsName: boolean },
	) =>
		cutAt(call.input, cuts).map((part, position) => ({
			tool_calls: [
				{
					...style.place(call, index, position === 0),
					...(position === 0 && { type: 'function' }),
					function: {
						...(position === 0 ? { name: call.name } : repeatsName && { name: '' }),
						arguments: part,
					},
				},
			],
		}));

	/** Takes the first of the rest of any list, until all are empty. */
	const inTurn = <T>(lists: T[][], order: { next(): { value: number } }): T[] => {
		const left = lists.filter((list) => list.length > 0);
		if (left.length === 0) return [];
		const list = left[order.next().value % left.length];
		return [list[0], ...inTurn([...left.filter((each) => each !== list), list.slice(1)], order)];
	};

	it('gives the same completion, wherever it is cut and in whichever order its parts come', () => {
		const property = fc.property(plan, ({ answers: all, order, size, ending, ...how }) => {
			const message = ({ text: content, calls: made }: (typeof all)[number]) => ({
				...{ role: 'assistant', content },
				...(made.length > 0 && {
					tool_calls: made.map(({ id, name, input: given }) => ({
						id,
						type: 'function',
						function: { name, arguments: given },
					})),
				}),
			});
			const turns = { next: () => ({ value: order.next().value as number }) };
			const lists = all.map((given, index) => {
				const fragments = given.calls.map((call, place) => fragmentsOf(call, place, how));
				const deltas = inTurn<object>(
					[
						cutAt(given.text, how.shares).map((content) => ({ content })),
						...(how.style.isInTurn ? fragments : [fragments.flat()]),
					],
					turns,
				);
				const last = ending === 'delta' ? { delta: {} } : { message: message(given) };
				return [
					...deltas.map((delta) => ({ index, delta })),
					{ index, ...last, finish_reason: 'stop' },
				];
			});
			const chunks = inTurn(lists, turns).map(
				(choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`,
			);
			const whole = [...chunks, 'data: [DONE]\n\n'].join('');
			const stream = newStream(all.length);
			for (let start = 0; start < whole.length; start += size)
				stream.push(whole.slice(start, start + size));
			const read = completion(stream.finish(answerOf(''))).choices.map((choice) => ({
				...choice.message,
				...(Array.isArray(choice.message.tool_calls) && {
					tool_calls: [...choice.message.tool_calls].sort((a, b) =>
						(a as Call).id < (b as Call).id ? -1 : 1,
					),
				}),
			}));
			expect(read).toEqual(all.map(message));
		});
		fc.assert(property, tries(2000));
	});
});

describe('images in arbitrary texts', () => {
	const parts = fc.constantFrom(
		...['![', '[', ']', '](', '(', ')', '<', '>', '\\', ' ', '\n', 'a', '(data:image/png;base64,'],
		...[
			'![a][1]',
			'\n[1]: ',
			'<img src=',
			'"',
			"'",
			'>',
			'.',
			'data:image/png;base64,AAAA',
			'&amp;',
		],
		...[
			'https://a.example/p.png',
			'![it](https://a.example/p.png)',
			'![](data:image/png;base64,AA)',
			`iVBORw0KGgo${'A'.repeat(60)}`,
		],
	);
	const texts = fc.array(parts, { maxLength: 40 }).map((all) => all.join(''));

	it('finds only addresses of images that are in the text', () => {
		const property = fc.property(texts, fc.boolean(), (text, areOthersKnown) => {
			for (const address of imagesIn(text, areOthersKnown).images) {
				expect(address).not.toBe('');
				if (!text.includes('&')) expect(text).toContain(address);
			}
		});
		fc.assert(property, tries(1000));
	});

	it.each([
		...['![', '![[', '](', '![](', '![](<', '![a](<', '![a](( ', '(', '\\', ' '],
		...['(data:image/', '![a](data:image/png;base64,', `(data:image/a,${' '.repeat(999)}`],
		...[
			'![a][1]',
			'\n[1]: ',
			'\n[1]: <',
			'![a](a ',
			'![a](a b(',
			'<img src="',
			"<img a='",
			'<img ',
		],
		...[
			'data:image/a,<svg ',
			'data:image/a;base64,A',
			'A',
			`${'A'.repeat(76)}\n`,
			'https://a.png.',
			...['![a]', '![](a (', '<img/src=a', `/9j/${'A'.repeat(60)} `],
		],
	])('finds images in linear time in a million characters of %j', (piece) => {
		const content = `![it](https://a.example/p.png) ${piece.repeat(1_000_000 / piece.length)}`;
		const response = answerOf({ choices: [{ message: { content } }] });
		const { images: pictures } = unlessEndless(() => readChatImages(response));
		expect(pictures.length).toBeGreaterThan(0);
	});
});
