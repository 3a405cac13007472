import { retryExecution, type RunOptions } from '../../harness';
import { CredentialsHelper } from '../../harness/credentials';
import { answer, startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, type Fields } from '../../support/nodes';
import { chain, credentialFor, type Node } from '../../support/workflows/workflows';

const key = 'sk-streamed-0123456789';
const done = 'data: [DONE]\n\n';
const content = (text: string) =>
	`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;

describe('chat and messages', () => {
	// Slow enough for the chunks of a stream to arrive one by one.
	const { gateway, runWorkflow } = withGateway({ tokenMilliseconds: 10 });

	const chat = (parameters: Fields = {}) => nodeFor('chat.complete', parameters);
	const run = async (node: Node, options: RunOptions = {}) =>
		await runWorkflow(chain(node), options);

	it('sends a conversation in which the model called tools, and refuses a broken tool call', async () => {
		const calls = [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{}' } }];
		const values = [
			{ role: 'user', content: 'Add them', toolCallId: 'of another role' },
			{ role: 'assistant', content: '', toolCalls: '={{ $json.tool_calls }}' },
			{ role: 'tool', content: '', toolCallId: '={{ $json.tool_calls[0].id }}', name: 'no' },
			{ role: 'function', content: '4', name: 'add' },
			{ role: 'function', content: '={{ false }}', name: 'isOdd' },
			{ role: 'assistant', content: 'Done', toolCalls: JSON.stringify(calls) },
			{ role: 'assistant', content: 'Well', toolCalls: '' },
		];
		await run(chat({ messages: { values } }), { input: [{ json: { tool_calls: calls } }] });
		expect(gateway.requests[0].body).toEqual({
			model: 'chat-1',
			messages: [
				{ role: 'user', content: 'Add them' },
				{ role: 'assistant', content: '', tool_calls: calls },
				{ role: 'tool', content: '', tool_call_id: 'call_1' },
				{ role: 'function', content: '4', name: 'add' },
				{ role: 'function', content: 'false', name: 'isOdd' },
				{ role: 'assistant', content: 'Done', tool_calls: calls },
				{ role: 'assistant', content: 'Well' },
			],
		});

		const broken = { messages: { values: [{ role: 'assistant', content: '', toolCalls: 'add' }] } };
		expect((await run(chat(broken))).errorOf('Node')?.message).toBe(
			'Message 1: Tool Calls (JSON) must be a JSON list (it is "add")',
		);
	});

	it.each([
		['nothing when none was given', {}, 'user', 400, undefined],
		[
			'nothing when the error is about something else',
			{ temperature: 1 },
			'system',
			403,
			undefined,
		],
		['only the options that were given', { temperature: 1 }, 'user', 422, 'remove: temperature.'],
		['only the message', {}, 'system', 400, 'remove: the system message.'],
		['both', { topP: 1 }, 'system', 400, 'remove: top_p, the system message.'],
	])('names of what a reasoning model refuses %s', async (_, options, role, status, named) => {
		gateway.fault({ route: 'chat', action: 'error', status, code: 'some_code' });
		const node = chat({ messages: { values: [{ role, content: 'Hi' }] }, options });
		const description = (await run(node)).errorOf('Node')?.description ?? '';
		expect(/remove: .*?\./.exec(description)?.[0]).toBe(named);
	});

	const many = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ json: { text: `Text ${index}` } }));

	it('sends nothing when Stop comes while 2,000 items are checked', async () => {
		const { modelGatewayApi } = credentialFor(gateway);
		let stop = () => {};
		const credentials = {
			// The node reads the credential before any parameter.
			get modelGatewayApi() {
				setImmediate(stop);
				return modelGatewayApi;
			},
		};
		const onStart = (cancel: () => void) => void (stop = cancel);
		const result = await run(chat(), { credentials, onStart, input: many(2000) });
		expect(result.status).toBe('canceled');
		expect(gateway.requests).toEqual([]);
	});

	it('signs every request when n8n does not reveal how it signs', async () => {
		const { authenticate } = CredentialsHelper.prototype;
		const sign = jest.spyOn(CredentialsHelper.prototype, 'authenticate');
		sign.mockImplementation(async function (this: CredentialsHelper, ...[data, type, sent, ...on]) {
			const copy = { ...sent, headers: { ...sent.headers } };
			return await authenticate.call(this, data, type, copy, ...on);
		});
		expect((await run(chat(), { input: many(30) })).items('Node')).toHaveLength(30);
		sign.mockRestore();
	});

	it('shows the hint about incomplete answers after a Retry for all items', async () => {
		const node = chat({ options: { maxTokens: 2 } });
		const refusal = { route: 'chat', action: 'error', status: 400, code: 'some_code' } as const;
		gateway.fault({ ...refusal, when: ({ body }) => JSON.stringify(body).includes('bad') });
		const failed = await run(node, { input: [{ json: {} }, { json: { text: 'bad' } }] });
		expect(failed.errorOf('Node')?.message).toContain('Item 1');
		const retried = await retryExecution(failed);
		expect(retried.items('Node')).toHaveLength(2);
		const [{ hints }] = retried.data.resultData.runData.Node;
		expect(hints).toEqual([
			expect.objectContaining({ message: expect.stringMatching(/^Items 0, 1: .*finish_reason/) }),
		]);
		expect(gateway.ledger).toHaveLength(2);
	});

	const charged = 'It is charged like any other.';
	it.each<[string, object, object, string]>([
		['nothing else', {}, {}, `The answer is empty. ${charged}`],
		['that all is well', {}, { base_resp: { status_code: 0, status_msg: 'success' } }, charged],
		[
			'why',
			{},
			{ base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } },
			'The answer is empty: input new_sensitive',
		],
		['thoughts', { reasoning_content: 'Hm.' }, {}, 'empty: the model gave only its thoughts.'],
		[
			'thoughts in parts',
			{ content: [{ type: 'thinking', thinking: 'Hm.' }] },
			{},
			'empty: the model gave only its thoughts.',
		],
	])('shows a hint at an empty answer beside which its response has %s', async (_, ...given) => {
		const [message, more, hint] = given;
		const choices = [{ index: 0, message: { content: '', ...message }, finish_reason: 'stop' }];
		const body = JSON.stringify({ id: 'a', object: 'chat.completion', choices, ...more });
		gateway.fault({ route: 'chat', action: 'answer', body });
		const { data } = await run(chat());
		expect(data.resultData.runData.Node[0].hints).toEqual([
			expect.objectContaining({ message: expect.stringContaining(hint) }),
		]);
	});

	it.each(['begin', 'item', 'end'])(
		'returns the whole item although n8n cannot pass the text on, at %s',
		async (type) => {
			const passedOn: string[] = [];
			const result = await run(chat({ options: { stream: true } }), {
				onChunk(chunk) {
					if (chunk.type === type) throw new Error('Connection is closed.');
					passedOn.push(chunk.type);
				},
			});
			const whole = expect.stringContaining('Hello');
			expect(result.items('Node')[0].json).toMatchObject({ text: whole, finish_reason: 'stop' });
			// A gap is followed by no text.
			expect(new Set(passedOn)).toEqual(
				new Set({ begin: [], item: ['begin'], end: ['begin', 'item'] }[type]),
			);
		},
	);

	it.each([
		['in two chunks', [content(key.slice(0, 9)), content(`${key.slice(9)}.`)]],
		['cut in the middle', [content(key.slice(0, 15))]],
		['in an excerpt of the stream', [content('Hi'), `data: ${'y'.repeat(110)}${key}\n\n`, done]],
	])('redacts the key in a stream that fails: %s', async (_, pieces) => {
		const headers = { 'content-type': 'text/event-stream' };
		const server = await startServer(answer(200, pieces.join(''), headers));
		let live = '';
		const result = await run(chat({ options: { stream: true } }), {
			credentials: { modelGatewayApi: { apiKey: key, baseUrl: server.url } },
			onChunk: (chunk) => void (live += chunk.content ?? ''),
		});
		expect(result.status).toBe('error');
		const shown = JSON.stringify(result.data.resultData) + live;
		for (const part of [key.slice(0, 9), key.slice(9)]) expect(shown).not.toContain(part);
	});
});
