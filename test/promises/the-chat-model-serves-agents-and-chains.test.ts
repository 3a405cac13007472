import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { registerTypes } from '../harness';
import { withGateway } from '../support/http/withGateway';
import { testNode } from '../support/workflows/testNode';
import { byId, chain, chatModel, withSubNodes } from '../support/workflows/workflows';
import type { Fields } from '../support/nodes';

// n8n gives the SDK of chat models to community packages by NODE_PATH. Here it comes from the folder of n8n's CLI.
const { NODE_PATH } = process.env;
const usePath = (folder: string | undefined) => {
	if (folder === undefined) delete process.env.NODE_PATH;
	else process.env.NODE_PATH = folder;
	(Module as unknown as { _initPaths?: () => void })._initPaths?.();
};

interface Chunk {
	content: unknown;
	concat(chunk: Chunk): Chunk;
}

/** The part of a model that n8n's AI nodes use. */
interface Model {
	invoke(messages: unknown): Promise<Fields>;
	stream(messages: unknown): Promise<AsyncIterable<Chunk>>;
	bindTools(tools: unknown[], options?: object): Model;
}

const tools = [
	{
		type: 'function',
		function: {
			name: 'add',
			description: 'Adds two numbers',
			parameters: { type: 'object', properties: { a: { type: 'number' } } },
		},
	},
];

/** As n8n's agents of version 3 send the result of a tool: of the model's message, they keep little more than its text. */
const withResult = (before: unknown[], { tool_calls, additional_kwargs = {} }: Fields) => [
	...before,
	{
		role: 'assistant',
		content: '',
		tool_calls,
		additional_kwargs: {
			__gemini_function_call_thought_signatures__: Object.fromEntries(
				Object.values(
					(additional_kwargs as Record<string, object>)
						.__gemini_function_call_thought_signatures__ ?? {},
				).map((signature) => ['c1', signature]),
			),
		},
	},
	{ role: 'tool', tool_call_id: 'c1', content: '3' },
];

/** Uses its model in the ways of a chain and of an agent. */
const user = testNode('chain', { inputs: ['main', 'ai_languageModel'] }, async function () {
	const [model] = [await this.getInputConnectionData('ai_languageModel', 0)].flat() as Model[];
	const [{ json }] = this.getInputData();
	const { messages, way } = json;
	if (way === 'stream') {
		const pieces: unknown[] = [];
		for await (const { content } of await model.stream(messages)) pieces.push(content);
		return [[{ json: { pieces } as never }]];
	}
	if (way === 'results') {
		const said = await model.bindTools(tools).invoke(messages);
		await model.invoke(withResult(messages as unknown[], said));
		return [[{ json: {} }]];
	}
	if (way === 'streamed results') {
		const chunks: Chunk[] = [];
		for await (const chunk of await model.bindTools(tools).stream(messages)) chunks.push(chunk);
		const said = chunks.reduce((before, chunk) => before.concat(chunk));
		await model.invoke(withResult(messages as unknown[], said as unknown as Fields));
		return [[{ json: {} }]];
	}
	const used = way === 'tools' ? model.bindTools(tools, { tool_choice: 'any' }) : model;
	const { content, tool_calls } = await used.invoke(messages);
	return [[{ json: { content, tool_calls } as never }]];
});

const { gateway, runWorkflow } = withGateway({ tokenMilliseconds: 5 });
beforeAll(() => {
	registerTypes({ nodes: [user] });
	usePath(path.resolve(__dirname, '../../node_modules'));
});
afterAll(() => {
	usePath(NODE_PATH);
	// Other files of the process may test an n8n without the SDK.
	const { cache } = createRequire(__filename);
	for (const file of Object.keys(cache)) if (file.includes('ai-node-sdk')) delete cache[file];
});

const use = async (messages: unknown, way = 'invoke', options: Fields = {}) => {
	const model = chatModel({ model: byId('chat-1'), options });
	return await runWorkflow(
		withSubNodes(chain({ name: 'Chain', type: 'test.chain' }), ['ai_languageModel', model]),
		{ input: [{ json: { messages, way } as Fields }], mode: 'trigger', startNode: 'Chain' },
	);
};
const answerOf = async (...given: Parameters<typeof use>) =>
	(await use(...given)).items('Chain')[0].json;
const hello = [['user', 'say Hello there']];

it('answers with the text of the model, and sends only the options that are set', async () => {
	expect(await answerOf(hello)).toMatchObject({ content: 'Hello there' });
	await use([['system', 'Be brief'], ...hello], 'invoke', {
		temperature: 0,
		maxTokens: 9,
		stop: ['END'],
		extraBody: '{ "reasoning_effort": "low" }',
		responseFormat: 'json_object',
	});
	const message = { role: 'user', content: 'say Hello there' };
	expect(gateway.requests.map(({ body }) => body)).toMatchObject([
		{ model: 'chat-1', messages: [message] },
		{
			temperature: 0,
			max_tokens: 9,
			reasoning_effort: 'low',
			response_format: { type: 'json_object' },
			messages: [{ role: 'system', content: 'Be brief' }, message],
		},
	]);
	expect(Object.keys(gateway.requests[0].body as Fields).sort()).toEqual(['messages', 'model']);
});

it('calls the tools that an agent gives it', async () => {
	gateway.script({ calls: [{ name: 'add', arguments: { a: 2 } }] });
	const { tool_calls } = await answerOf([['user', 'Add']], 'tools');
	expect(tool_calls).toMatchObject([{ name: 'add', args: { a: 2 }, id: expect.any(String) }]);
	expect(gateway.requests[0].body).toMatchObject({ tools: [{ function: { name: 'add' } }] });
});

it.each(['results', 'streamed results'])(
	'sends back with the result of a tool what the model said before its call: %s',
	async (way) => {
		const call = {
			id: 'c1',
			type: 'function',
			function: { name: 'add', arguments: '{"a":2}' },
			extra_content: { google: { thought_signature: 'c2ln' } },
		};
		const said = {
			role: 'assistant',
			content: '',
			reasoning_content: 'It wants a sum.',
			reasoning_details: [{ type: 'reasoning.encrypted', data: 'eHg=' }],
			tool_calls: [call],
		};
		const piece = { thinking_blocks: [{ type: 'thinking', thinking: 'It', signature: '' }] };
		const [key, object] =
			way === 'results' ? ['message', 'chat.completion'] : ['delta', 'chat.completion.chunk'];
		const choice = { index: 0, [key]: { ...said, ...piece }, finish_reason: 'tool_calls' };
		const json = JSON.stringify({ id: 'a', object, choices: [choice] });
		const body = way === 'results' ? json : `data: ${json}\n\ndata: [DONE]\n\n`;
		gateway.fault({ route: 'chat', action: 'answer', body });
		expect((await use([['user', 'Add']], way)).status).toBe('success');
		const { messages } = gateway.requests[1].body as { messages: unknown[] };
		expect(messages).toEqual([
			{ role: 'user', content: 'Add' },
			said,
			{ role: 'tool', tool_call_id: 'c1', content: '3' },
		]);
	},
);

it('gives the text piece by piece while it is written', async () => {
	const { pieces } = await answerOf([['user', 'say A boat sails along']], 'stream');
	const texts = (pieces as string[]).filter(Boolean);
	expect(texts.length).toBeGreaterThan(1);
	expect(texts.join('')).toBe('A boat sails along');
	expect(gateway.requests[0].body).toMatchObject({ stream: true });
});

it('says at the agent what failed and whether it is charged, and asks no second time', async () => {
	const result = await use([['user', 'a [blocked] text']]);
	const error = result.errorOf('Chain');
	expect(error?.message).toMatch(/blocked by content moderation.*HTTP 400, invalid_prompt/);
	expect(error?.description).toMatch(/Nothing was charged/);
	expect(gateway.requests).toHaveLength(1);
});

it('tries a failed request again as often as Max Retries says', async () => {
	gateway.fault({ route: 'chat', action: 'reset', times: Infinity });
	expect((await use(hello, 'invoke', { maxRetries: 0 })).status).toBe('error');
	expect(gateway.requests).toHaveLength(1);
});
