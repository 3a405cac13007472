import type {
	Message,
	MessageContent,
	StreamChunk,
} from '../../../../nodes/LmChatModelGateway/aiNodeSdk';
import { GatewayChatModel } from '../../../../nodes/LmChatModelGateway/chatModel';
import { Gateway as Transport } from '../../../../nodes/shared/service/client/gateway';
import { connectionFrom } from '../../../../nodes/shared/n8n/client/connection';
import { startGateway, type Gateway } from '../../../../gateway';
import { failureOf, key, simulatedWorld } from '../../../support/workflows/gatewayWorld';

describe('the chat model', () => {
	let gateway: Gateway;
	beforeEach(async () => {
		// Long enough to keep the pieces of a stream from arriving together.
		gateway = await startGateway({ keys: { [key]: {} }, tokenMilliseconds: 20 });
	});
	afterEach(async () => await gateway.close());

	const newModel = (...otherModels: string[]) =>
		new GatewayChatModel(
			{ model: 'chat-1', fields: {}, otherModels },
			{
				gateway: new Transport(
					connectionFrom({ apiKey: key, baseUrl: gateway.url }),
					simulatedWorld(),
				),
				schemaOf: (tool) => tool.inputSchema,
				toNodeError: (error) => error as Error,
			},
		);
	const user = (...content: MessageContent[]): Message => ({ role: 'user', content });
	const text = (words: string): MessageContent => ({ type: 'text', text: words });
	const hello = [user(text('say Hello there'))];
	const chunksOf = async (stream: AsyncIterable<StreamChunk>) => {
		const chunks: StreamChunk[] = [];
		for await (const chunk of stream) chunks.push(chunk);
		return chunks;
	};
	const bodies = () => gateway.requests.map(({ body }) => body as Record<string, unknown>);
	const tools = [
		{ name: 'add', description: 'Adds', inputSchema: { type: 'object' } },
		{ name: 'look', inputSchema: { type: 'object', properties: {} } },
	];

	describe('tool calls', () => {
		const calls = [
			{ name: 'add', arguments: { a: 1, b: 2 } },
			{ name: 'look', arguments: {} },
		];
		const made = calls.map(({ name, arguments: input }) => ({
			toolName: name,
			input: JSON.stringify(input),
		}));

		it('sends each tool once, with the tool choice, and returns the text and the tool calls', async () => {
			gateway.script({ text: 'Let me see.', calls });
			const model = newModel().withTools(tools).withTools(tools);
			const { message, finishReason } = await model.generate(hello, { tool_choice: 'any' });
			expect(finishReason).toBe('tool-calls');
			expect(message.content).toMatchObject([text('Let me see.'), ...made]);
			expect(bodies()[0]).toMatchObject({
				tools: [
					{
						type: 'function',
						function: { name: 'add', description: 'Adds', parameters: { type: 'object' } },
					},
					{
						type: 'function',
						function: { name: 'look', parameters: { type: 'object', properties: {} } },
					},
				],
				tool_choice: 'required',
			});
		});

		it('streams each of several parallel tool calls in one piece, with its own ID', async () => {
			gateway.script({ calls });
			const chunks = await chunksOf(newModel().withTools(tools).stream(hello));
			expect(chunks).toMatchObject([
				{ type: 'tool-call-delta', name: 'add', argumentsDelta: '{"a":1,"b":2}' },
				{ type: 'tool-call-delta', name: 'look', argumentsDelta: '{}' },
				{ type: 'finish', finishReason: 'tool-calls', usage: { promptTokens: 3 } },
			]);
			const [first, second] = chunks.map((chunk) => 'id' in chunk && chunk.id);
			expect(first).toMatch(/^call_/);
			expect(second).not.toBe(first);
		});

		it('gives two calls different IDs although the service gives both the same', async () => {
			const called = (name: string) => ({ id: 'call_1', function: { name, arguments: '{}' } });
			const message = { content: null, tool_calls: [called('add'), called('look')] };
			const body = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
			gateway.fault({ route: 'chat', action: 'answer', body });
			const { message: made } = await newModel().withTools(tools).generate(hello);
			const ids = made.content.map((part) => 'toolCallId' in part && part.toolCallId);
			expect(ids).toEqual(['call_1', expect.stringMatching(/^call_.{36}$/)]);
		});

		it('fails when a tool without a required argument is called with what is no JSON', async () => {
			gateway.script({ calls: [{ name: 'add', arguments: 'one' }] });
			const { record } = await failureOf(newModel().withTools(tools).generate(hello));
			expect(record.message).toMatch(
				/calls the tool add with what is no JSON object \(HTTP 200\)$/,
			);
		});

		it('gives a tool what is no JSON where it needs an argument, so that it refuses the call', async () => {
			gateway.script({ calls: [{ name: 'add', arguments: 'one' }] });
			const inputSchema = { type: 'object', required: ['a'] };
			const model = newModel();
			const { message } = await model.withTools([{ name: 'add', inputSchema }]).generate(hello);
			expect(message.content).toMatchObject([
				{ toolName: 'add', input: '{"arguments_that_are_no_json":"one"}' },
			]);
		});

		it.each([false, true])(
			'fails when the arguments of a tool call are not a JSON object (streamed: %s)',
			async (streamed) => {
				const half = { name: 'add', arguments: '{"a": 1, "b' };
				gateway.script({ calls: [half], finishReason: 'length' });
				const model = newModel().withTools(tools);
				const { record } = await failureOf(
					streamed ? chunksOf(model.stream(hello)) : model.generate(hello),
				);
				expect(record.message).toContain('calls the tool add with what is no JSON object');
				expect(record.message).toContain('cut off at Max Tokens');
				expect(record.partial_text).toBe('{"a": 1, "b');
				expect(gateway.requests).toHaveLength(1);
			},
		);
	});

	it.each(['generated', 'streamed'])('leaves a refused model for the next one: %s', async (way) => {
		gateway.fault({ route: 'chat', action: 'error', status: 403, code: 'permission_denied' });
		const model = newModel('chat-9', 'chat-1-mini', 'reason-1');
		if (way === 'streamed') {
			expect((await chunksOf(model.stream(hello))).at(-1)).toMatchObject({ finishReason: 'stop' });
		} else {
			const { providerMetadata } = await model.generate(hello);
			expect(providerMetadata).toMatchObject({ model: 'chat-1-mini' });
		}
		expect(bodies().map((body) => body.model)).toEqual(['chat-1', 'chat-9', 'chat-1-mini']);
	});

	it('counts the tokens of a message as those of a chat', async () => {
		const usage = { input_tokens: 5, output_tokens: 7 };
		const message = { role: 'assistant', content: [text('Hello')], stop_reason: 'end_turn', usage };
		gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify(message) });
		const made = await newModel().generate(hello);
		expect(made.usage).toEqual({ promptTokens: 5, completionTokens: 7, totalTokens: 12 });
	});

	it.each<[string, 'length' | 'content_filter', boolean]>([
		['max_tokens reached', 'length', true],
		['withheld by the content filter', 'content_filter', false],
	])('fails where nothing came of an answer: %s', async (why, finishReason, streamed) => {
		gateway.script({ text: '', finishReason });
		const model = newModel();
		const call = streamed ? chunksOf(model.stream(hello)) : model.generate(hello);
		const { record } = await failureOf(call);
		expect(record.message).toContain(`has no text: ${why}`);
		expect(gateway.requests).toHaveLength(1);
	});

	it('streams the words of a refusal as the text, so that the agent shows them', async () => {
		const deltas = [{ content: '\n' }, { refusal: 'I ' }, { refusal: 'cannot.' }];
		const choices = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'stop' }];
		const events = choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
		const body = `${events.join('')}data: [DONE]\n\n`;
		gateway.fault({ route: 'chat', action: 'answer', body });
		const chunks = await chunksOf(newModel().stream(hello));
		expect(chunks.at(-2)).toEqual({ type: 'text-delta', delta: 'I cannot.' });
	});

	const full = new Error('no space left on device');
	it.each<[string, (stream: AsyncGenerator<StreamChunk, void>) => Promise<unknown>]>([
		['is no longer read', async (stream) => await stream.return()],
		[
			'has a reader that fails',
			async (stream) => await expect(stream.throw(full)).rejects.toBe(full),
		],
	])('aborts the request when its stream %s', async (_, leave) => {
		const ended = new Promise((resolve) => gateway.once('request', resolve));
		gateway.script('one two three four five six seven eight nine ten');
		const stream = newModel().stream(hello);
		const { value } = await stream.next();
		expect(value).toEqual({ type: 'text-delta', delta: 'one' });
		await leave(stream);
		await ended;
		expect(gateway.ledger).toHaveLength(0);
	});
});
