import type {
	Message,
	MessageContent,
	StreamChunk,
} from '../../../../nodes/LmChatModelGateway/aiNodeSdk';
import {
	GatewayChatModel,
	type ChatSettings,
} from '../../../../nodes/LmChatModelGateway/chatModel';
import { Gateway as Transport } from '../../../../nodes/shared/gateway/client/gateway';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { connectionFrom } from '../../../../nodes/shared/n8n/client/connection';
import { startGateway, type Gateway } from '../../../../gateway';
import {
	failureOf,
	key,
	simulatedWorld,
	type WorldOptions,
} from '../../../support/workflows/gatewayWorld';

describe('the chat model', () => {
	let gateway: Gateway;
	beforeEach(async () => {
		// Long enough to keep the pieces of a stream from arriving together.
		gateway = await startGateway({ keys: { [key]: {} }, tokenMilliseconds: 20 });
	});
	afterEach(async () => await gateway.close());

	interface Given extends WorldOptions {
		settings?: Partial<ChatSettings>;
		backupUrl?: string;
		shown?: (error: unknown) => Error;
	}
	const unchanged = (error: unknown) => error as Error;
	const modelOf = ({ settings, backupUrl, shown = unchanged, ...options }: Given = {}) => {
		const connection = connectionFrom({ apiKey: key, baseUrl: gateway.url, backupUrl });
		const runtime = simulatedWorld(options);
		const model = new GatewayChatModel(
			{ model: 'chat-1', fields: {}, ...settings },
			{
				gateway: new Transport(connection, runtime),
				schemaOf: (tool) => tool.inputSchema,
				toNodeError: shown,
			},
		);
		return { model, clock: runtime.clock };
	};
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

	it('sends only the options that are set, and returns the text, the usage and the request ID', async () => {
		const { model } = modelOf({ settings: { fields: { temperature: 0 } } });
		expect(await model.generate(hello)).toEqual({
			id: expect.any(String),
			finishReason: 'stop',
			usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
			message: { role: 'assistant', content: [{ type: 'text', text: 'Hello there' }] },
			providerMetadata: { finish_reason: 'stop', request_id: gateway.ledger[0].requestId },
		});
		expect(bodies()).toEqual([
			{
				model: 'chat-1',
				messages: [{ role: 'user', content: 'say Hello there' }],
				temperature: 0,
			},
		]);
	});

	it('keeps the messages and tools of its agent when the options contain messages and tools', async () => {
		const fields = { messages: [], tools: [], reasoning_effort: 'high' };
		await modelOf({ settings: { fields } }).model.withTools(tools).generate(hello);
		expect(bodies()).toEqual([
			{
				...{ model: 'chat-1', reasoning_effort: 'high' },
				messages: [{ role: 'user', content: 'say Hello there' }],
				tools: [expect.any(Object), expect.any(Object)],
			},
		]);
	});

	it('sends half an emoji of a message and of the options as U+FFFD', async () => {
		const { model } = modelOf({ settings: { fields: { user: '\ude00' } } });
		await model.generate([{ role: 'user', content: [{ type: 'text', text: 'say \ud83d' }] }]);
		expect(bodies()).toMatchObject([
			{ user: '\ufffd', messages: [{ role: 'user', content: 'say \ufffd' }] },
		]);
	});

	it('streams the text in pieces and ends with the usage', async () => {
		const chunks = await chunksOf(modelOf().model.stream(hello));
		expect(chunks).toEqual([
			{ type: 'text-delta', delta: 'Hello' },
			{ type: 'text-delta', delta: ' there' },
			{
				type: 'finish',
				finishReason: 'stop',
				usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
			},
		]);
		expect(bodies()[0]).toMatchObject({ stream: true });
	});

	it('streams each piece as soon as it arrives', async () => {
		gateway.script('one two three four five six seven eight nine ten');
		const stop = new AbortController();
		const stream = modelOf().model.stream(hello, { signal: stop.signal });
		expect((await stream.next()).value).toEqual({ type: 'text-delta', delta: 'one' });
		stop.abort();
		expect((await failureOf(chunksOf(stream))).message).toBe('The execution was canceled');
	});

	it('returns the whole text in one chunk when the service does not stream', async () => {
		const body = JSON.stringify({ choices: [{ message: { content: 'All at once' } }] });
		gateway.fault({ route: 'chat', action: 'answer', body });
		const chunks = await chunksOf(modelOf().model.stream(hello));
		expect(chunks).toEqual([
			{ type: 'text-delta', delta: 'All at once' },
			{ type: 'finish', finishReason: 'other', usage: undefined },
		]);
	});

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
			const model = modelOf().model.withTools(tools).withTools(tools);
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
			const chunks = await chunksOf(modelOf().model.withTools(tools).stream(hello));
			expect(chunks).toMatchObject([
				{ type: 'tool-call-delta', name: 'add', argumentsDelta: '{"a":1,"b":2}' },
				{ type: 'tool-call-delta', name: 'look', argumentsDelta: '{}' },
				{ type: 'finish', finishReason: 'tool-calls', usage: { promptTokens: 3 } },
			]);
			const [first, second] = chunks.map((chunk) => 'id' in chunk && chunk.id);
			expect(first).toMatch(/^call_/);
			expect(second).not.toBe(first);
		});

		it('gives an ID to a tool call that arrives without one', async () => {
			const tool_calls = ['add', 'look'].map((name) => ({ function: { name } }));
			const body = JSON.stringify({ choices: [{ message: { tool_calls } }] });
			gateway.fault({ route: 'chat', action: 'answer', body });
			const { message } = await modelOf().model.withTools(tools).generate(hello);
			const ids = message.content.map((call) => 'toolCallId' in call && call.toolCallId);
			expect(new Set(ids).size).toBe(2);
			expect(message.content).toMatchObject([{ input: '{}' }, { input: '{}' }]);
		});

		it('reads a tool call from the older field function_call', async () => {
			const function_call = { name: 'add', arguments: '{"a":1}' };
			const choice = { message: { content: null, function_call }, finish_reason: 'function_call' };
			const body = JSON.stringify({ choices: [choice] });
			gateway.fault({ route: 'chat', action: 'answer', body });
			const answer = await modelOf().model.withTools(tools).generate(hello);
			expect(answer.finishReason).toBe('tool-calls');
			expect(answer.message.content).toMatchObject([
				{ type: 'tool-call', toolName: 'add', input: '{"a":1}', toolCallId: expect.any(String) },
			]);
		});

		it.each([false, true])(
			'fails when the arguments of a tool call are not a JSON object (streamed: %s)',
			async (streamed) => {
				const half = { name: 'add', arguments: '{"a": 1, "b' };
				gateway.script({ calls: [half], finishReason: 'length' });
				const model = modelOf().model.withTools(tools);
				const { record } = await failureOf(
					streamed ? chunksOf(model.stream(hello)) : model.generate(hello),
				);
				expect(record.message).toContain('calls the tool add with what is no JSON object');
				expect(record.message).toContain('cut off at Max Tokens');
				expect(record.partial_text).toBe('{"a": 1, "b');
				expect(gateway.requests).toHaveLength(1);
			},
		);

		it('sends the results of tool calls to the model and returns its answer', async () => {
			gateway.script({ calls }, (messages) => `It gave ${messages.at(-2)?.text}`);
			const model = modelOf().model.withTools(tools);
			const { message } = await model.generate(hello);
			const ids = message.content.map((call) => ('toolCallId' in call ? call.toolCallId : ''));
			const result = (position: number, given: unknown): Message => ({
				role: 'tool',
				content: [{ type: 'tool-result', toolCallId: String(ids[position]), result: given }],
			});
			const messages = [...hello, message, result(0, { sum: 3 }), result(1, [text('a sea')])];
			const { message: answer } = await model.generate(messages);
			expect(answer.content).toEqual([text('It gave {"sum":3}')]);
			expect(bodies()[1].messages).toMatchObject([
				{ role: 'user' },
				{
					role: 'assistant',
					content: '',
					tool_calls: [
						{ id: ids[0], type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } },
						{ id: ids[1], type: 'function', function: { name: 'look', arguments: '{}' } },
					],
				},
				{ role: 'tool', tool_call_id: ids[0], content: '{"sum":3}' },
				{ role: 'tool', tool_call_id: ids[1], content: 'a sea' },
			]);
		});
	});

	describe('answers in other forms', () => {
		const choice = (parts: object) => ({ choices: [{ index: 0, ...parts }] });
		const ended = { delta: {}, finish_reason: 'stop' };
		/** The content of the answer, without a stream and with one. */
		const read = async (...chunks: object[]) => {
			const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
			const fault = { body: `${events.join('')}data: [DONE]\n\n`, times: 2 };
			gateway.fault({ route: 'chat', action: 'answer', ...fault });
			const { model } = modelOf();
			const { message } = await model.withTools(tools).generate(hello);
			const streamed = await chunksOf(model.withTools(tools).stream(hello));
			expect(gateway.requests).toHaveLength(2);
			return { content: message.content, streamed: streamed.slice(0, -1) };
		};
		const fragment = (parts: object, name: string, input: string) =>
			choice({
				delta: { tool_calls: [{ ...parts, function: { name, arguments: input } }] },
			});
		const expected: Array<[id: string, name: string, input: string]> = [
			['a', 'add', '{"a":1}'],
			['b', 'look', '{}'],
		];

		it.each<[string, object[]]>([
			['share an index', expected.map(([id, ...call]) => fragment({ index: 0, id }, ...call))],
			[
				'have no index',
				[
					fragment({ id: 'a' }, 'add', '{"a"'),
					fragment({}, '', ':1}'),
					fragment({ id: 'b' }, 'look', '{}'),
				],
			],
			[
				'have empty IDs and names in later fragments',
				[
					fragment({ index: 0, id: 'a' }, 'add', ''),
					fragment({ index: 0, id: '' }, '', '{"a":1}'),
					fragment({ index: 1, id: 'b' }, 'look', ''),
					fragment({ index: 1, id: '' }, '', '{}'),
				],
			],
			[
				'come in a message, and again in the last one',
				['tool_calls', 'stop'].map((finish_reason) => {
					const tool_calls = expected.map(([id, name, input]) => ({
						id,
						function: { name, arguments: input },
					}));
					return choice({ message: { content: null, tool_calls }, finish_reason });
				}),
			],
		])('returns each of two tool calls that %s', async (_, chunks) => {
			const { content, streamed } = await read(...chunks, choice(ended));
			expect(content).toEqual(
				expected.map(([toolCallId, toolName, input]) => ({
					...{ type: 'tool-call', toolCallId, toolName, input },
				})),
			);
			expect(streamed).toEqual(
				expected.map(([id, name, argumentsDelta]) => ({
					...{ type: 'tool-call-delta', id, name, argumentsDelta },
				})),
			);
		});

		it('returns a text that comes in messages', async () => {
			const message = { role: 'assistant', content: 'Hello' };
			const { content, streamed } = await read(choice({ message, finish_reason: 'stop' }));
			expect(content).toEqual([text('Hello')]);
			expect(streamed).toEqual([{ type: 'text-delta', delta: 'Hello' }]);
		});

		it('returns the words of a refusal as the text, so that the agent shows them', async () => {
			const deltas = [
				{ role: 'assistant', content: '\n' },
				{ refusal: 'I ' },
				{ refusal: 'cannot.' },
			];
			const { content, streamed } = await read(
				...deltas.map((delta) => choice({ delta })),
				choice(ended),
			);
			expect(content).toEqual([text('I cannot.')]);
			expect(streamed.at(-1)).toEqual({ type: 'text-delta', delta: 'I cannot.' });
		});

		it('fails with the text so far when a choice ends with an error', async () => {
			const broken = { delta: {}, finish_reason: 'error', error: { message: 'Overloaded' } };
			const { record } = await failureOf(
				read(choice({ delta: { content: 'Hel' } }), choice(broken)),
			);
			expect(record.partial_text).toBe('Hel');
			expect(record.message).toContain('broke off with an error: Overloaded');
		});
	});

	describe('requests that fail', () => {
		const answered = [{ type: 'text', text: 'Hello there' }];

		it('waits after a 429 as long as the Retry-After header says', async () => {
			gateway.fault({
				...{ route: 'chat', action: 'error', status: 429, code: 'rate_limit_exceeded' },
				headers: { 'retry-after': '7' },
			});
			const { model, clock } = modelOf();
			const before = clock.now();
			expect((await model.generate(hello)).message.content).toEqual(answered);
			expect(clock.now() - before).toBe(7000);
		});

		it.each([
			['an HTTP 500', { action: 'error', status: 500, code: 'upstream_error' }],
			['a lost connection', { action: 'reset' }],
		] as const)('sends a streamed request again after %s', async (_, fault) => {
			gateway.fault({ route: 'chat', ...fault });
			const [first] = await chunksOf(modelOf().model.stream(hello));
			expect(first).toEqual({ type: 'text-delta', delta: 'Hello' });
			expect(gateway.requests).toHaveLength(2);
		});

		it.each([0, 2])('sends a failed request again at most %s times', async (retries) => {
			gateway.fault({
				...{ route: 'chat', action: 'error', status: 500, code: 'upstream_error' },
				times: 9,
			});
			const { model } = modelOf({ settings: { retries } });
			expect((await failureOf(model.generate(hello))).record.status).toBe(500);
			expect(gateway.requests).toHaveLength(retries + 1);
		});

		it('switches to the backup URL without a pause when the connection is lost', async () => {
			gateway.fault({ route: 'chat', action: 'reset' });
			const { model, clock } = modelOf({ backupUrl: gateway.backupUrl });
			const before = clock.now();
			expect((await model.generate(hello)).message.content).toEqual(answered);
			expect(clock.now()).toBe(before);
			expect(gateway.requests.map(({ host }) => host)).toEqual(['api', 'backup']);
		});

		it('keeps the text of a stream that breaks off, and does not send the request again', async () => {
			gateway.fault({ route: 'chat', action: 'breakOff', after: 3, code: 'upstream_error' });
			const given: StreamChunk[] = [];
			const read = async () => {
				for await (const chunk of modelOf().model.stream(hello)) given.push(chunk);
			};
			expect((await failureOf(read())).record.partial_text).toBe('Hello there');
			expect(given).toHaveLength(2);
			expect(gateway.requests).toHaveLength(1);
		});

		it('names the options that a reasoning model refuses', async () => {
			const { model } = modelOf({ settings: { model: 'reason-1', fields: { temperature: 1 } } });
			const { record } = await failureOf(model.generate(hello));
			expect(record.advice).toContain('remove: temperature');
		});

		it('throws the error that n8n shows, with the API key redacted', async () => {
			const message = `${key} is not valid`;
			gateway.fault({
				route: 'chat',
				action: 'error',
				status: 401,
				code: 'invalid_api_key',
				message,
			});
			const shown = (error: unknown) => new Error(JSON.stringify((error as GatewayError).failure));
			const asked = modelOf({ shown }).model.generate(hello);
			await expect(asked).rejects.toThrow('*** is not valid');
			await expect(asked).rejects.not.toThrow(key);
		});
	});

	it.each(['signal', 'abortSignal'])(
		'aborts the request when the option %s aborts',
		async (name) => {
			gateway.fault({ route: 'chat', action: 'stall' });
			const stop = new AbortController();
			const { model } = modelOf();
			const asked = failureOf(model.generate(hello, { [name]: stop.signal }));
			while (gateway.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
			stop.abort();
			expect((await asked).message).toBe('The execution was canceled');
		},
	);

	it('sends nothing once the execution is stopped', async () => {
		const signal = AbortSignal.abort();
		const { message } = await failureOf(modelOf({ signal }).model.generate(hello));
		expect(message).toBe('The execution was canceled');
		expect(gateway.requests).toHaveLength(0);
	});

	it('aborts the request when its stream is no longer read', async () => {
		const ended = new Promise((resolve) => gateway.once('request', resolve));
		gateway.script('one two three four five six seven eight nine ten');
		for await (const chunk of modelOf().model.stream(hello)) {
			expect(chunk).toEqual({ type: 'text-delta', delta: 'one' });
			break;
		}
		await ended;
		expect(gateway.ledger).toHaveLength(0);
	});

	it.each([
		['stop', { stop: ['there'] }],
		['stopSequences', { stopSequences: ['there'] }],
	])('passes the option %s on to the service', async (_, options) => {
		const { message } = await modelOf().model.generate(hello, options);
		expect(message.content).toEqual([{ type: 'text', text: 'Hello ' }]);
	});
});
