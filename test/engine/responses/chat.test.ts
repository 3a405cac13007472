import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, type RunOptions, runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

describe('chat and messages', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const chat = (parameters: IDataObject = {}, settings = {}) =>
		modelGateway(
			{
				...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
				messages: { values: [{ role: 'user', content: '={{ $json.text ?? "Hello there" }}' }] },
				...parameters,
			},
			{ name: 'Chat', ...settings },
		);
	const run = async (node: Node, options: RunOptions = {}) =>
		await runWorkflow(chain(node), { credentials: credentialFor(gateway), ...options });
	const bodies = () => gateway.requests.map(({ body }) => body);

	it('returns the text, the finish reason and the usage of a chat', async () => {
		const [item] = (await run(chat())).items('Chat');
		expect(item.json).toEqual({
			text: expect.stringContaining('Hello there'),
			finish_reason: 'stop',
			model: 'chat-1',
			usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
			request_id: gateway.ledger[0].requestId,
		});
		expect(bodies()).toEqual([
			{ model: 'chat-1', messages: [{ role: 'user', content: 'Hello there' }] },
		]);
	});

	it('sends only the options that the user set, including 0 and false', async () => {
		const options = {
			...{
				temperature: 0,
				topP: 0.5,
				frequencyPenalty: 0,
				presencePenalty: -2,
				maxTokens: 50,
				n: 1,
			},
			...{ stop: ['END'], stream: false, user: 'u1', extraBody: '{"top_k": 3}' },
		};
		await run(chat({ options }));
		expect(bodies()[0]).toEqual({
			model: 'chat-1',
			messages: [{ role: 'user', content: 'Hello there' }],
			...{ temperature: 0, top_p: 0.5, frequency_penalty: 0, presence_penalty: -2 },
			...{ max_tokens: 50, n: 1, stop: 'END', stream: false, user: 'u1', top_k: 3 },
		});
	});

	it('sends a conversation in which the model called tools, and refuses a broken tool call', async () => {
		const calls = [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{}' } }];
		const values = [
			{ role: 'user', content: 'Add them', toolCallId: 'of another role' },
			{ role: 'assistant', content: '', toolCalls: '={{ $json.tool_calls }}' },
			{ role: 'tool', content: '', toolCallId: '={{ $json.tool_calls[0].id }}', name: 'no' },
			{ role: 'function', content: '4', name: 'add' },
			{ role: 'assistant', content: 'Done', toolCalls: JSON.stringify(calls) },
			{ role: 'assistant', content: 'Well', toolCalls: '' },
		];
		await run(chat({ messages: { values } }), { input: [{ json: { tool_calls: calls } }] });
		expect(bodies()[0]).toEqual({
			model: 'chat-1',
			messages: [
				{ role: 'user', content: 'Add them' },
				{ role: 'assistant', content: '', tool_calls: calls },
				{ role: 'tool', content: '', tool_call_id: 'call_1' },
				{ role: 'function', content: '4', name: 'add' },
				{ role: 'assistant', content: 'Done', tool_calls: calls },
				{ role: 'assistant', content: 'Well' },
			],
		});

		const broken = { messages: { values: [{ role: 'assistant', content: '', toolCalls: 'add' }] } };
		expect((await run(chat(broken))).errorOf('Chat')?.message).toBe(
			'Message 1: Tool Calls (JSON) must be a list, as the answer of a model has it',
		);
	});

	it.each([
		['chat', 'complete', { tool_call_id: 'call_1', name: 'search' }],
		['message', 'create', {}],
	])(
		'sends an unknown role unchanged, with the fields that messages have in %s',
		async (resource, operation, more) => {
			const given = { content: 'Be brief', toolCallId: 'call_1', name: 'search' };
			const messages = { values: [{ role: '={{ "developer" }}', ...given }] };
			await run(chat({ resource, operation, messages }));
			expect(bodies()[0]).toMatchObject({
				messages: [{ role: 'developer', content: 'Be brief', ...more }],
			});
		},
	);

	it('returns one item for each choice, and the raw completion without Simplify', async () => {
		const several = await run(chat({ options: { n: 3, stop: ['A', 'B'] } }));
		expect(several.items('Chat').map(({ json }) => json.index)).toEqual([0, 1, 2]);
		expect(several.items('Chat').map(({ pairedItem }) => pairedItem)).toEqual(
			Array(3).fill({ item: 0 }),
		);
		expect(bodies()[0]).toMatchObject({ stop: ['A', 'B'] });

		const [raw] = (await run(chat({ simplify: false }))).items('Chat');
		expect(raw.json).toMatchObject({
			object: 'chat.completion',
			choices: [{ index: 0, message: { role: 'assistant' } }],
		});
	});

	it('sends image links as links, and files of an earlier node as data URLs', async () => {
		const url = gateway.addMedia('red.png', picture('red'), 'image/png');
		const images = {
			values: [
				{ source: 'url', url, detail: 'high' },
				{ source: 'binary', binaryField: 'photo' },
			],
		};
		const binary = {
			photo: { mimeType: 'image/png', data: Buffer.from(picture('blue')).toString('base64') },
		};
		const messages = { values: [{ role: 'user', content: 'What is this?', images }] };
		const [item] = (await run(chat({ messages }), { input: [{ json: {}, binary }] })).items('Chat');

		expect(item.json.text).toMatch(/red.*blue/is);
		expect(bodies()[0]).toMatchObject({
			messages: [
				{
					content: [
						{ type: 'text', text: 'What is this?' },
						{ type: 'image_url', image_url: { url, detail: 'high' } },
						{
							type: 'image_url',
							image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) },
						},
					],
				},
			],
		});
	});

	it('names the options that a reasoning model refuses', async () => {
		const messages = {
			values: [
				{ role: 'system', content: 'Be brief' },
				{ role: 'user', content: 'Hi' },
			],
		};
		const node = chat({ model: byId('reason-1'), messages, options: { temperature: 1, topP: 1 } });
		const error = (await run(node)).errorOf('Chat');
		expect(error?.description).toContain(
			'If reason-1 is a reasoning model, remove: temperature, top_p, the system message.',
		);
		expect((await run(chat({ model: byId('reason-1') }))).status).toBe('success');

		gateway.fault({ route: 'chat', action: 'error', status: 422, code: 'some_code' });
		expect((await run(node)).errorOf('Chat')?.description).toContain('remove: temperature, top_p');
	});

	it('shows a hint when max_tokens cut the answer off', async () => {
		const result = await run(chat({ options: { maxTokens: 2 } }));
		expect(result.items('Chat')[0].json.finish_reason).toBe('length');
		expect(result.data.resultData.runData.Chat[0].hints?.[0].message).toContain(
			'finish_reason length',
		);
	});

	it('shows the hint about incomplete answers after a Retry for all items', async () => {
		const node = chat({ options: { maxTokens: 2 } });
		const refusal = { route: 'chat', action: 'error', status: 400, code: 'some_code' } as const;
		gateway.fault({ ...refusal, when: ({ body }) => JSON.stringify(body).includes('bad') });
		const failed = await run(node, { input: [{ json: {} }, { json: { text: 'bad' } }] });
		expect(failed.errorOf('Chat')?.message).toContain('Item 1');
		const retried = await retryExecution(failed);
		expect(retried.items('Chat')).toHaveLength(2);
		const [{ hints }] = retried.data.resultData.runData.Chat;
		expect(hints).toEqual([
			expect.objectContaining({ message: expect.stringMatching(/^Items 0, 1: .*finish_reason/) }),
		]);
		expect(gateway.ledger).toHaveLength(2);
	});

	describe('streaming', () => {
		// Slow enough for the chunks to arrive one by one.
		withGateway({ tokenMilliseconds: 10 }, (world) => void ({ gateway } = world));

		const streamed = (parameters: IDataObject = {}) =>
			chat({ options: { stream: true, ...parameters } });

		it('returns the same item as without streaming, and passes the text on live', async () => {
			const chunks: Array<{ type: string; content?: unknown }> = [];
			const plain = (await run(chat())).items('Chat')[0].json;
			const result = await run(streamed(), { onChunk: (chunk) => void chunks.push(chunk) });
			const live = result.items('Chat')[0].json;
			expect(live).toEqual({ ...plain, request_id: live.request_id });
			expect(chunks.at(0)?.type).toBe('begin');
			expect(chunks.at(-1)?.type).toBe('end');
			const text = chunks.filter(({ type }) => type === 'item').map(({ content }) => content);
			expect(text.length).toBeGreaterThan(1);
			expect(text.join('')).toBe(plain.text);
		});

		it('fails when the stream breaks off, keeps the text received, and sends no second request', async () => {
			gateway.fault({ route: 'chat', action: 'cut', after: 700 });
			const result = await run(streamed());
			// n8n's type of stored errors lacks the context of a node's error.
			const error = result.errorOf('Chat') as unknown as {
				message: string;
				context: { data: IDataObject };
			};
			expect(error.message).toMatch(/Could not complete the chat: the response broke off/);
			expect(error.context.data.partial_text).toEqual(expect.any(String));
			expect(gateway.requests).toHaveLength(1);
		});

		it('reports an error that arrives in the middle of the stream', async () => {
			gateway.fault({ route: 'chat', action: 'breakOff', after: 3, code: 'upstream_error' });
			expect((await run(streamed())).errorOf('Chat')?.message).toMatch(/broke off with an error/);
		});
	});

	it('charges each of 20 chats once when some requests fail and Retry On Fail runs the node again', async () => {
		gateway.fault({ route: 'chat', action: 'reset' });
		gateway.fault({ route: 'chat', action: 'error', status: 500, code: 'server_error' });
		gateway.fault({
			route: 'chat',
			action: 'error',
			status: 400,
			code: 'invalid_prompt',
			when: ({ body }) => JSON.stringify(body).includes('Text 7'),
		});
		const input = Array.from({ length: 20 }, (_, index) => ({ json: { text: `Text ${index}` } }));
		const result = await run(chat({}, { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 }), {
			input,
		});

		expect(
			result.items('Chat').map(({ json }) => String(json.text).match(/Text \d+/)?.[0]),
		).toEqual(input.map(({ json }) => json.text));
		expect(gateway.ledger).toHaveLength(20);
	});

	it('returns to each of 50 items its own answer', async () => {
		const input = Array.from({ length: 50 }, (_, index) => ({ json: { text: `Text ${index}` } }));
		const items = (await run(chat(), { input })).items('Chat');
		expect(items.map(({ pairedItem }) => (pairedItem as { item: number }).item)).toEqual(
			input.map((_, item) => item),
		);
		items.forEach(({ json }, index) => expect(json.text).toContain(`Text ${index}`));
	});

	it('shows a hint when the response has fewer choices than requested', async () => {
		const choices = [{ index: 0, message: { role: 'assistant', content: 'One' } }];
		gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify({ choices }) });
		const result = await run(chat({ options: { n: 3 } }));
		expect(result.items('Chat').map(({ json }) => json.text)).toEqual(['One']);
		const [{ hints }] = result.data.resultData.runData.Chat;
		expect(hints?.map(({ message }) => message)).toEqual(['1 of the 3 answers came.']);
	});

	it('shows a hint when max_tokens cut a native message off', async () => {
		const body = '{"content": [{"type": "text", "text": "Hel"}], "stop_reason": "max_tokens"}';
		gateway.fault({ route: 'message', action: 'answer', body });
		const node = modelGateway({
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 1 },
			messages: { values: [{ role: 'user', content: 'Hello there' }] },
		});
		const result = await run(node);
		expect(result.items('Model Gateway')[0].json.text).toBe('Hel');
		expect(result.data.resultData.runData['Model Gateway'][0].hints?.[0].message).toContain(
			'The answer is not complete',
		);
	});

	describe('native messages in the chat format', () => {
		const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
		const respondWith = async (
			message: object,
			finish_reason: string,
			parameters: IDataObject = {},
		) => {
			const body = JSON.stringify({ choices: [{ message, finish_reason }] });
			for (const route of ['message', 'chat'] as const)
				gateway.fault({ route, action: 'answer', body });
			const node = modelGateway({
				...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 1 },
				messages: { values: [{ role: 'user', content: 'Hello there' }] },
				...parameters,
			});
			const result = await run(node);
			const [{ hints }] = result.data.resultData.runData['Model Gateway'];
			const [{ json }] = result.items('Model Gateway');
			return { json, hints: hints?.map(({ message: text }) => text) };
		};

		it.each([
			['length', 'max_tokens reached'],
			['content_filter', 'withheld by the content filter'],
		])(
			'shows a hint with the reason when a chat-format message is incomplete: %s',
			async (reason, meaning) => {
				const { json, hints } = await respondWith({ content: 'Hel' }, reason);
				expect(json).toMatchObject({ text: 'Hel', finish_reason: reason });
				expect(hints).toEqual([
					`The answer is not complete: ${meaning} (finish_reason ${reason}).`,
				]);
			},
		);

		it.each(['message', 'chat'])(
			'returns tool calls without text from a chat-format response: %s',
			async (resource) => {
				const operation = resource === 'chat' ? 'complete' : 'create';
				const message = { role: 'assistant', content: null, tool_calls: [call] };
				const answer = await respondWith(message, 'tool_calls', { resource, operation });
				expect(answer).toEqual({
					json: {
						...{ text: '', finish_reason: 'tool_calls', tool_calls: [call] },
						request_id: expect.any(String),
					},
					hints: [],
				});
			},
		);
	});

	it('returns the tool calls of a native message', async () => {
		const content = [
			{ type: 'text', text: 'I look.' },
			{ type: 'tool_use', id: 'u1', name: 'look', input: { at: 1 } },
		];
		const body = JSON.stringify({ content, stop_reason: 'tool_use' });
		gateway.fault({ route: 'message', action: 'answer', body });
		const node = modelGateway({
			...{ resource: 'message', operation: 'create', model: byId('chat-1') },
			messages: { values: [{ role: 'user', content: 'Hello there' }] },
		});
		expect((await run(node)).items('Model Gateway')[0].json).toMatchObject({
			...{ text: 'I look.', content, stop_reason: 'tool_use' },
		});
	});

	it('returns the text, the model and the request ID of a native message', async () => {
		const node = modelGateway({
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 100 },
			messages: { values: [{ role: 'user', content: 'Hello there' }] },
		});
		const [item] = (await run(node)).items('Model Gateway');
		expect(item.json).toMatchObject({
			text: expect.stringContaining('Hello there'),
			model: 'chat-1',
			request_id: expect.any(String),
		});
	});

	const named = { versionHeaderName: 'vendor-version', versionHeaderValue: '2024-10-01' };
	it.each([
		['by default', {}, { 'x-gateway-version': '2023-06-01' }],
		['from both options', { options: named }, { 'vendor-version': '2024-10-01' }],
		[
			'with only the value set',
			{ options: { versionHeaderValue: '2024-10-01' } },
			{ 'x-gateway-version': '2024-10-01' },
		],
	])('sends the version header of native messages %s', async (_, parameters, headers) => {
		await run(
			modelGateway({
				...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 100 },
				messages: { values: [{ role: 'user', content: 'Hello there' }] },
				...parameters,
			}),
		);
		expect(gateway.requests[0].headers).toMatchObject(headers);
	});
});
