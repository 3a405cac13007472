import {
	patchLangChainModel,
	type LangChainModel,
} from '../../../../nodes/LmChatModelGateway/langChainModel';

class Message {
	constructor(readonly content: unknown) {}
}

// The SDK itself does not install everywhere: this one has its members, and tells what it was given.
class Given implements LangChainModel {
	readonly asked: unknown[][] = [];
	answer: unknown = 'Yes';
	readonly callbacks: unknown[];
	metadata: LangChainModel['metadata'];
	constructor(
		readonly tools: unknown[] = [],
		readonly bound: Given[] = [],
	) {
		const tokensUsageParser = (result: unknown) => JSON.stringify(result);
		this.callbacks = [{ options: { tokensUsageParser } }, {}, undefined];
	}
	async _generate(...given: unknown[]) {
		this.asked.push(given);
		return { generations: [{ message: new Message(this.answer) }] };
	}
	async *_streamResponseChunks(...given: unknown[]) {
		this.asked.push(given);
		yield { message: new Message(this.answer) };
	}
	bindTools(tools: unknown[]) {
		const bound = new Given(tools);
		this.bound.push(bound);
		return bound;
	}
}

const url = 'https://example.com/a.png';
const picture = (image: unknown) =>
	new Message([
		{ type: 'text', text: 'Look' },
		{ type: 'image_url', image_url: image },
	]);
const kept = (detail?: string) => [
	{ type: 'text', text: 'Look' },
	{ type: 'image', url, metadata: { detail } },
];

describe('the LangChain model', () => {
	const given = () => {
		const model = new Given();
		return { model, chat: patchLangChainModel(model) };
	};

	it.each([
		['as an object', { url, detail: 'high' }, kept('high')],
		['as a text', url, kept()],
	])(
		'keeps pictures (%s) for the model, and leaves the message as it was',
		async (_, image, content) => {
			const { model, chat } = given();
			const message = picture(image);
			await chat._generate([message], {});
			for await (const chunk of chat._streamResponseChunks([message], {})) {
				expect(chunk).toEqual({ message: new Message('Yes') });
			}
			for (const [[sent]] of model.asked as Message[][][]) {
				expect(sent).toBeInstanceOf(Message);
				expect(sent.content).toEqual(content);
			}
			expect(message).toEqual(picture(image));
		},
	);

	const text = (part: string) => ({ type: 'text', text: part });
	it.each<[string, unknown, unknown]>([
		['one text', [text('A '), text('boat')], 'A boat'],
		['a text, also without one', [], ''],
		['what it was, where it is more than text', [text('A'), { type: 'image' }], undefined],
		['the text that it was', 'A boat', 'A boat'],
	])('returns an answer as %s', async (_, answer, expected = answer) => {
		const { model, chat } = given();
		model.answer = answer;
		const { generations } = await chat._generate([], {});
		expect(generations).toEqual([{ message: new Message(expected) }]);
		for await (const { message } of chat._streamResponseChunks([], {})) {
			expect(message).toEqual(new Message(expected));
		}
	});

	it('passes every other message on as it is', async () => {
		const { model, chat } = given();
		const messages = [new Message('Hello'), new Message([{ type: 'text', text: 'Hello' }])];
		await chat._generate(messages, { stop: ['x'] }, 'run');
		const [[sent, ...rest]] = model.asked as [[Message[], ...unknown[]]];
		expect(sent.map((message, index) => message === messages[index])).toEqual([true, true]);
		expect(rest).toEqual([{ stop: ['x'] }, 'run']);
	});

	it('keeps these corrections and the options when tools are bound', async () => {
		const { model, chat } = given();
		model.metadata = { output_format: 'json' };
		const bound = chat.bindTools(['a'], { tool_choice: 'any' }).bindTools(['a']);
		await bound._generate([picture({ url })], { stop: ['x'] });
		const [{ bound: inner }] = model.bound;
		expect(inner[0]).toMatchObject({ tools: ['a'], metadata: { output_format: 'json' } });
		expect(inner[0].asked).toEqual([
			[[new Message(kept())], { tool_choice: 'any', stop: ['x'] }, undefined],
		]);
	});

	it.each<[string, unknown, object]>([
		[
			'of a stream',
			{ promptTokens: 3, completionTokens: 4 },
			{ input_tokens: 3, output_tokens: 4, promptTokens: 3, completionTokens: 4 },
		],
		[
			'of a whole answer',
			{ input_tokens: 3, output_tokens: 4 },
			{ input_tokens: 3, output_tokens: 4 },
		],
	])('shows the tokens %s in the log', (_, tokenUsage, expected) => {
		const { model } = given();
		const [{ options }] = model.callbacks as Array<{
			options: { tokensUsageParser: (result: unknown) => string };
		}>;
		const read = options.tokensUsageParser({ generations: [], llmOutput: { id: 'a', tokenUsage } });
		expect(JSON.parse(read)).toEqual({
			generations: [],
			llmOutput: { id: 'a', tokenUsage: expected },
		});
		expect(options.tokensUsageParser({ llmOutput: undefined })).toBe('{}');
	});
});
