import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { embedMany, generateText, jsonSchema, streamText, tool } from 'ai';
import OpenAI, { APIError, toFile } from 'openai';
import { picture } from '../support/data/samples';
import { withGateway } from '../support/http/withGateway';

// The embedded gateway is what it says it is, if clients that others wrote work with it.

const text = 'A walk on the beach';
const say = `say ${text}`;
const call = 'call Create_video with {"prompt":"A boat"}';
const schema = { type: 'object', properties: { prompt: { type: 'string' } } } as const;
const tools = [
	{ type: 'function' as const, function: { name: 'Create_video', parameters: schema } },
];
const asked = (content: string) => [{ role: 'user' as const, content }];

const { gateway } = withGateway({});

const charges = () => gateway.ledger.map(({ kind }) => kind);

describe('openai', () => {
	const client = () =>
		new OpenAI({ apiKey: gateway.apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

	it('gets the answer of a chat', async () => {
		const { choices, usage } = await client().chat.completions.create({
			model: 'chat-1',
			messages: asked(say),
		});
		expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: text } });
		expect(usage?.total_tokens).toBeGreaterThan(0);
		expect(charges()).toEqual(['chat']);
	});

	it('reads a streamed answer to its end', async () => {
		const stream = client().chat.completions.stream({ model: 'chat-1', messages: asked(say) });
		let live = '';
		for await (const chunk of stream) live += chunk.choices[0]?.delta.content ?? '';
		expect(live).toBe(text);
		expect((await stream.finalChatCompletion()).choices[0].message.content).toBe(text);
	});

	it.each([false, true])('gets a tool call, streamed: %s', async (isStreamed) => {
		const request = { model: 'chat-1', messages: asked(call), tools };
		const completion = isStreamed
			? await client().chat.completions.stream(request).finalChatCompletion()
			: await client().chat.completions.create(request);
		const [choice] = completion.choices;
		expect(choice.finish_reason).toBe('tool_calls');
		expect(choice.message.tool_calls).toMatchObject([
			{ function: { name: 'Create_video', arguments: '{"prompt":"A boat"}' } },
		]);
	});

	// By default, the client asks for base64 and decodes it.
	it.each([undefined, 'float' as const])('gets the same vectors, as %s', async (format) => {
		const { data } = await client().embeddings.create({
			model: 'embed-1',
			input: [text, 'A boat'],
			encoding_format: format,
		});
		expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
		expect(data[0].embedding.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1);
	});

	it('lists the models', async () => {
		const ids: string[] = [];
		for await (const { id } of client().models.list()) ids.push(id);
		expect(ids).toEqual(expect.arrayContaining(['chat-1', 'image-1', 'vid-3.1']));
	});

	it('makes and edits an image', async () => {
		const made = await client().images.generate({ model: 'image-1', prompt: 'A boat' });
		const link = await fetch(String(made.data?.[0].url));
		expect(link.headers.get('content-type')).toBe('image/png');
		const image = await toFile(picture('red', 32, 24), 'a.png', { type: 'image/png' });
		const edited = await client().images.edit({ model: 'image-edit-1', prompt: 'Blue', image });
		expect((await fetch(String(edited.data?.[0].url))).status).toBe(200);
		expect(charges()).toEqual(['image', 'image']);
	});

	it('recognizes the errors of the service', async () => {
		const refused = client().chat.completions.create({ model: 'none', messages: asked(say) });
		const error = await refused.catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(OpenAI.NotFoundError);
		expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
		expect((error as InstanceType<typeof APIError>).requestID).toMatch(/^req_/);
		const stranger = new OpenAI({ apiKey: 'nobody', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
		await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
		expect(charges()).toEqual([]);
	});
});

describe('@anthropic-ai/sdk', () => {
	const client = () =>
		new Anthropic({ authToken: gateway.apiKey, baseURL: gateway.url, maxRetries: 0 });
	const message = { model: 'chat-1', max_tokens: 100, messages: asked(say) };

	it('gets a message', async () => {
		const { content, stop_reason, usage } = await client().messages.create(message);
		expect({ content, stop_reason }).toEqual({
			content: [{ type: 'text', text }],
			stop_reason: 'end_turn',
		});
		expect(usage.output_tokens).toBeGreaterThan(0);
		expect(charges()).toEqual(['message']);
	});

	it('recognizes the errors of the service', async () => {
		const refused = client().messages.create({ ...message, model: 'none' });
		await expect(refused).rejects.toBeInstanceOf(Anthropic.NotFoundError);
	});
});

describe('@ai-sdk/openai-compatible', () => {
	const provider = () =>
		createOpenAICompatible({
			name: 'gateway',
			apiKey: gateway.apiKey,
			baseURL: `${gateway.url}/v1`,
		});
	const ask = (prompt: string) => ({
		model: provider().chatModel('chat-1'),
		prompt,
		maxRetries: 0,
		tools: { Create_video: tool({ inputSchema: jsonSchema<{ prompt: string }>(schema) }) },
	});

	it('gets the answer of a chat, streamed and not', async () => {
		expect((await generateText(ask(say))).text).toBe(text);
		const { textStream } = streamText(ask(say));
		let live = '';
		for await (const piece of textStream) live += piece;
		expect(live).toBe(text);
	});

	it('gets a tool call, streamed and not', async () => {
		const wanted = [{ toolName: 'Create_video', input: { prompt: 'A boat' } }];
		expect((await generateText(ask(call))).toolCalls).toMatchObject(wanted);
		expect(await streamText(ask(call)).toolCalls).toMatchObject(wanted);
	});

	// It makes images too, but fetches none from this machine.
	it('gets vectors', async () => {
		const model = provider().embeddingModel('embed-1');
		const { embeddings } = await embedMany({ model, values: [text, 'A boat'] });
		expect(embeddings.map(({ length }) => length)).toEqual([256, 256]);
	});

	it('recognizes the errors of the service', async () => {
		const refused = generateText({ ...ask(say), model: provider().chatModel('none') });
		await expect(refused).rejects.toMatchObject({ statusCode: 404 });
	});
});
