import {
	patchLangChainModel,
	type LangChainModel,
} from '../../../../nodes/LmChatModelGateway/langChainModel';

class Message {
	constructor(readonly content: unknown) {}
}

// The SDK does not install everywhere. This stand-in has the same members, and records its calls.
class RecordingModel implements LangChainModel {
	readonly calls: unknown[][] = [];
	answer: unknown = 'Yes';
	readonly callbacks: unknown[];
	metadata: LangChainModel['metadata'];
	constructor(
		readonly tools: unknown[] = [],
		readonly bound: RecordingModel[] = [],
	) {
		const tokensUsageParser = (result: unknown) => JSON.stringify(result);
		this.callbacks = [{ options: { tokensUsageParser } }, {}, undefined];
	}
	async _generate(...given: unknown[]) {
		this.calls.push(given);
		return { generations: [{ message: new Message(this.answer) }] };
	}
	async *_streamResponseChunks(...given: unknown[]) {
		this.calls.push(given);
		yield { message: new Message(this.answer) };
	}
	bindTools(tools: unknown[]) {
		const bound = new RecordingModel(tools);
		this.bound.push(bound);
		return bound;
	}
}

const url = 'https://example.com/a.png';
const messageWith = (image: unknown) =>
	new Message([
		{ type: 'text', text: 'Look' },
		{ type: 'image_url', image_url: image },
	]);
const sdkContent = (detail?: string) => [
	{ type: 'text', text: 'Look' },
	{ type: 'image', url, metadata: { detail } },
];

describe('the LangChain model', () => {
	const given = () => {
		const model = new RecordingModel();
		return { model, chat: patchLangChainModel(model) };
	};

	it.each([
		['as an object', { url, detail: 'high' }, sdkContent('high')],
		['as a text', url, sdkContent()],
	])(
		'passes an image given %s on to the model, and leaves the message unchanged',
		async (_, image, content) => {
			const { model, chat } = given();
			const message = messageWith(image);
			await chat._generate([message], {});
			for await (const chunk of chat._streamResponseChunks([message], {})) {
				expect(chunk).toEqual({ message: new Message('Yes') });
			}
			for (const [[sent]] of model.calls as Message[][][]) {
				expect(sent).toBeInstanceOf(Message);
				expect(sent.content).toEqual(content);
			}
			expect(message).toEqual(messageWith(image));
		},
	);

	const text = (part: string) => ({ type: 'text', text: part });
	it.each<[string, unknown, unknown]>([
		['the text blocks of an answer as one text', [text('A '), text('boat')], 'A boat'],
		['an answer with more than text unchanged', [text('A'), { type: 'image' }], undefined],
	])('returns %s', async (_, answer, expected = answer) => {
		const { model, chat } = given();
		model.answer = answer;
		const { generations } = await chat._generate([], {});
		expect(generations).toEqual([{ message: new Message(expected) }]);
		for await (const { message } of chat._streamResponseChunks([], {})) {
			expect(message).toEqual(new Message(expected));
		}
	});

	it('keeps its patches, its metadata and the options when tools are bound', async () => {
		const { model, chat } = given();
		model.metadata = { output_format: 'json' };
		const bound = chat.bindTools(['a'], { tool_choice: 'any' }).bindTools(['a']);
		await bound._generate([messageWith({ url })], { stop: ['x'] });
		const [{ bound: inner }] = model.bound;
		expect(inner[0]).toMatchObject({ tools: ['a'], metadata: { output_format: 'json' } });
		expect(inner[0].calls).toEqual([
			[[new Message(sdkContent())], { tool_choice: 'any', stop: ['x'] }, undefined],
		]);
	});

	it.each<[string, unknown, object]>([
		[
			'of a streamed answer',
			{ promptTokens: 3, completionTokens: 4 },
			{ input_tokens: 3, output_tokens: 4, promptTokens: 3, completionTokens: 4 },
		],
		[
			'of an answer that is not streamed',
			{ input_tokens: 3, output_tokens: 4 },
			{ input_tokens: 3, output_tokens: 4 },
		],
	])('shows the token usage %s in the log', (_, tokenUsage, expected) => {
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
