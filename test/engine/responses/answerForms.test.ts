import type { IDataObject, StructuredChunk } from 'n8n-workflow';
import { runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import { answer, json, startServer, type Reply } from '../../support/http/scriptedServer';
import { byId, chain, modelGateway } from '../../support/workflows/workflows';

// Answers in other forms than the specification shows, as services of this kind send them.

const key = 'sk-answers-0123456789';
const done = 'data: [DONE]\n\n';
const eventOf = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const streamOf = (...chunks: object[]): Reply =>
	answer(200, chunks.map(eventOf).join('') + done, { 'content-type': 'text/event-stream' });
const deltaOf = (delta: object, parts: object = {}) => ({
	choices: [{ index: 0, delta, ...parts }],
});
const content = (text: string) => deltaOf({ content: text });
const ended = { finish_reason: 'stop' };
const stop = deltaOf({}, ended);
const messageOf = (message: object, parts: object = ended) => ({
	choices: [{ index: 0, message: { role: 'assistant', ...message }, ...parts }],
});
const hello = JSON.stringify(messageOf({ content: 'Hello' }));

const run = async (parameters: IDataObject, ...replies: Reply[]) => {
	const server = await startServer(...replies);
	const node = modelGateway(parameters, { name: 'Node', onError: 'continueRegularOutput' });
	const chunks: StructuredChunk[] = [];
	const result = await runWorkflow(chain(node), {
		credentials: { modelGatewayApi: { apiKey: key, baseUrl: server.url } },
		onChunk: (chunk) => void chunks.push(chunk),
	});
	const items = result.items('Node');
	return {
		...{ result, items, json: items[0].json, sent: server.requests.length },
		details: items[0].json.details,
		hints: result.data.resultData.runData.Node[0].hints?.map(({ message }) => message) ?? [],
		live: chunks
			.filter(({ type }) => type === 'item')
			.map((chunk) => chunk.content)
			.join(''),
	};
};
const messages = { values: [{ role: 'user', content: 'Hello' }] };
const chat = (options: IDataObject = {}) => ({
	...{ resource: 'chat', operation: 'complete', model: byId('chat-1'), messages, options },
});
const native = {
	...{ resource: 'message', operation: 'create', model: byId('chat-1'), messages },
	maxTokens: 100,
};

const forms: Array<[string, Reply]> = [
	['events', streamOf(content('Hel'), content('lo'), stop)],
	[
		'events with messages',
		streamOf(messageOf({ content: 'Hel' }, {}), messageOf({ content: 'lo' })),
	],
	[
		'events with texts',
		streamOf({ choices: [{ text: 'Hel' }] }, { choices: [{ text: 'lo', ...ended }] }),
	],
	[
		'events that repeat the whole message',
		streamOf(content('Hel'), content('lo'), messageOf({ content: 'Hello' })),
	],
	['JSON', answer(200, hello)],
	['JSON with the end mark behind it', answer(200, `${hello}\n\n${done}`)],
	['JSON with data: before it', answer(200, `data: ${hello}\n\n`)],
	['JSON behind a byte order mark', answer(200, `\ufeff${hello}`)],
];

describe('the text of an answer', () => {
	it.each(forms)('is read from %s, whether a stream was requested or not', async (_, reply) => {
		for (const stream of [true, false]) {
			const { json: output, hints, live } = await run(chat({ stream }), reply);
			expect(output).toEqual({ text: 'Hello', finish_reason: 'stop' });
			expect(hints).toEqual([]);
			expect(live).toBe(stream ? 'Hello' : '');
		}
	});

	it.each(forms)('is read by Message: Create from %s', async (_, reply) => {
		const { json: output, hints } = await run(native, reply);
		expect(output).toMatchObject({ text: 'Hello' });
		expect(hints).toEqual([]);
	});

	it('is read by Message: Create from the events of a native endpoint', async () => {
		const delta = (text: string) => ({
			type: 'content_block_delta',
			index: 0,
			delta: { type: 'text_delta', text },
		});
		const reply = streamOf(
			{ type: 'message_start', message: { id: 'm1', model: 'm', content: [] } },
			...[delta('Hel'), delta('lo')],
			{ type: 'message_delta', delta: { stop_reason: 'end_turn' } },
			{ type: 'message_stop' },
		);
		const { json: output } = await run(native, reply);
		expect(output).toEqual({ text: 'Hello', model: 'm', stop_reason: 'end_turn' });
	});

	// Every test looks for the key in the execution and in the log (test/support/setup/secrets.ts).
	it.each([
		['Chat: Complete', chat()],
		['Message: Create', native],
	])(
		'has the key redacted that a stream splits, although nobody asked for a stream: %s',
		async (_, parameters) => {
			const reply = streamOf(
				content(`It is ${key.slice(0, 9)}`),
				content(`${key.slice(9)}.`),
				stop,
			);
			expect((await run(parameters, reply)).json.text).toBe('It is ***.');
		},
	);

	it('comes with the parts that are no text', async () => {
		const parts = [
			{ type: 'text', text: 'Hello' },
			{ type: 'image_url', image_url: { url: 'https://a.example/1.png' } },
		];
		for (const reply of [
			json(messageOf({ content: parts })),
			streamOf(deltaOf({ content: parts }), stop),
		]) {
			const { json: output, hints } = await run(chat(), reply);
			expect(output).toEqual({ text: 'Hello', finish_reason: 'stop', content: parts });
			expect(hints).toEqual([]);
		}
	});
});

describe('an answer without a text', () => {
	const refusal = 'I cannot help with that.';
	it.each<[string, IDataObject, Reply]>([
		['without a stream', chat(), json(messageOf({ content: null, refusal }))],
		['in the content', chat(), json(messageOf({ content: [{ type: 'refusal', refusal }] }))],
		[
			'in a stream',
			chat({ stream: true }),
			streamOf(deltaOf({ refusal: 'I cannot help' }), deltaOf({ refusal: ' with that.' }), stop),
		],
		['of Message: Create', native, json(messageOf({ content: null, refusal }))],
	])('shows the words of a refusal in a hint and as a field: %s', async (_, parameters, reply) => {
		const { json: output, hints } = await run(parameters, reply);
		expect(output).toMatchObject({ text: '', refusal });
		expect(hints).toEqual([`The model refused to answer: ${refusal}`]);
	});

	it('shows a refusal to a person who reads the stream', async () => {
		const reply = streamOf(deltaOf({ role: 'assistant', content: null, refusal }), stop);
		expect((await run(chat({ stream: true }), reply)).live).toBe(refusal);
	});

	it('shows a hint for a native message that ends with a refusal', async () => {
		const { hints } = await run(native, json({ content: [], stop_reason: 'refusal' }));
		expect(hints).toEqual(['The model refused to answer. Change the prompt.']);
	});

	it.each<[string, IDataObject, Reply]>([
		['Chat: Complete', chat(), json(messageOf({ content: ' ', tool_calls: [] }))],
		['Chat: Complete, streamed', chat({ stream: true }), streamOf(deltaOf({ content: '' }), stop)],
		['Message: Create', native, json({ content: [], stop_reason: 'end_turn' })],
	])('shows a hint that it is empty: %s', async (_, parameters, reply) => {
		const { json: output, hints } = await run(parameters, reply);
		expect(String(output.text).trim()).toBe('');
		expect(hints).toEqual(['The answer is empty. It is charged like any other.']);
	});

	it('has only the hint about max_tokens when that is why it is empty', async () => {
		const { hints } = await run(
			chat(),
			json(messageOf({ content: '' }, { finish_reason: 'length' })),
		);
		expect(hints).toEqual([expect.stringContaining('max_tokens reached')]);
	});
});

describe('an error within an answer', () => {
	const error = { message: 'Overloaded', code: 'upstream_error' };
	const withError = { delta: { content: '' }, finish_reason: 'error', error };
	it.each<[string, IDataObject, Reply]>([
		[
			'in a choice of a stream',
			chat({ stream: true }),
			streamOf(content('Hel'), { choices: [withError] }),
		],
		[
			'in a choice of a stream that nobody asked for',
			chat(),
			streamOf(content('Hel'), { choices: [withError] }),
		],
		['in a choice', chat(), json(messageOf({ content: 'Hel' }, { error }))],
		['beside the choices', chat(), json({ ...messageOf({ content: 'Hel' }), error })],
		['in a choice of Message: Create', native, json(messageOf({ content: 'Hel' }, { error }))],
	])(
		'fails the node, which keeps the text and sends nothing again: %s',
		async (_, parameters, reply) => {
			const { json: output, details, sent } = await run(parameters, reply);
			expect(output.error).toContain('broke off with an error: Overloaded');
			expect(details).toMatchObject({
				partial_text: 'Hel',
				code: 'upstream_error',
				billed: 'unknown',
			});
			expect(sent).toBe(1);
		},
	);

	it('fails the node when a choice ends with the finish_reason error', async () => {
		for (const reply of [
			json(messageOf({ content: 'Hel' }, { finish_reason: 'error' })),
			streamOf(content('Hel'), deltaOf({}, { finish_reason: 'error' })),
		]) {
			const { json: output, details } = await run(chat(), reply);
			expect(output.error).toContain('the response broke off with an error');
			expect(details).toMatchObject({ partial_text: 'Hel' });
		}
	});
});

describe('tool calls of a stream', () => {
	const call = (id: string, name: string, input: string) => ({
		...{ id, type: 'function' },
		function: { name, arguments: input },
	});
	const calls = [call('a', 'look', '{"at":1}'), call('b', 'add', '{"a":2}')];
	const more = (text: string, parts: object) => ({
		...parts,
		function: { name: '', arguments: text },
	});
	it.each<[string, object[][]]>([
		['that share an index', calls.map((made) => [{ index: 0, ...made }])],
		['without an index', [[call('a', 'look', '{"at"')], [more(':1}', {})], [calls[1]]]],
		[
			'with empty IDs and names later',
			[
				[{ index: 0, ...call('a', 'look', '{"at"') }],
				[more(':1}', { index: 0, id: '' })],
				[{ index: 1, ...calls[1] }],
			],
		],
	])('are kept apart and joined %s', async (_, fragments) => {
		const chunks = fragments.map((tool_calls) => deltaOf({ tool_calls }));
		for (const stream of [true, false]) {
			const end = deltaOf({}, { finish_reason: 'tool_calls' });
			const { json: output } = await run(chat({ stream }), streamOf(...chunks, end));
			expect(output).toEqual({ text: '', finish_reason: 'tool_calls', tool_calls: calls });
		}
	});

	it('are those of their own choice', async () => {
		const chunks = calls.map((made, index) => ({
			choices: [
				{ index, delta: { tool_calls: [{ index: 0, ...made }] }, finish_reason: 'tool_calls' },
			],
		}));
		const { items } = await run(chat({ stream: true, n: 2 }), streamOf(...chunks));
		expect(items.map((item) => item.json.tool_calls)).toEqual(calls.map((made) => [made]));
	});
});

describe('an image of a chat', () => {
	const png = Buffer.from(picture('red', 64, 64));
	const base64 = png.toString('base64');
	const parameters = {
		resource: 'image',
		operation: 'chat',
		model: byId('image-chat-1'),
		prompt: 'Hi',
	};
	const make = async (answerWith: (url: string) => Reply) => {
		const storage = await startServer(answer(200, png, { 'content-type': 'image/png' }));
		const made = await run(parameters, answerWith(storage.url));
		const [file] = await Promise.all(
			made.items.map(async (item) => await made.result.binary(item)),
		);
		return { ...made, file, paths: storage.requests.map(({ path }) => path) };
	};

	it.each<[string, (url: string) => string, string]>([
		['in a reference of Markdown', (url) => `![a][1]\n\n[1]: ${url}/1.png "A"`, '/1.png'],
		['in HTML', (url) => `<p><img alt='x' src='${url}/1?a=1&amp;b=2'></p>`, '/1?a=1&b=2'],
		['with a space', (url) => `![a](${url}/my cat.png)`, '/my%20cat.png'],
		['before a full stop', (url) => `Your image: ${url}/1.png.`, '/1.png'],
		['in angle brackets', (url) => `Your image: <${url}/1.png>, enjoy`, '/1.png'],
		['of Markdown that is no image', (url) => `[Your image](${url}/a_(1).png)`, '/a_(1).png'],
		[
			'marked as an image, beside others',
			(url) => `${url}/0.png ![a](${url}/1.png) ${url}/2.png`,
			'/1.png',
		],
	])('is downloaded from the right link %s', async (_, text, path) => {
		const { file, paths, hints } = await make((url) => json(messageOf({ content: text(url) })));
		expect(paths).toEqual([path]);
		expect(file).toEqual(png);
		expect(hints).toEqual([]);
	});

	it.each<[string, unknown, string]>([
		['a data URL alone', `data:image/png;base64,${base64}`, 'data:image'],
		['a data URL in a sentence', `Here: data:image/png;base64,${base64}.`, 'Here: data:image.'],
		['base64', base64, 'data:image'],
		['a part of the content', [{ type: 'image', source: { type: 'base64', data: base64 } }], ''],
	])('becomes a file from %s, and is not in the output', async (_, given, text) => {
		const { file, json: output } = await make(() => json(messageOf({ content: given })));
		expect(file).toEqual(png);
		expect(output).toMatchObject({ text, finish_reason: 'stop' });
		const whole = await run(
			{ ...parameters, simplify: false },
			json(messageOf({ content: given })),
		);
		expect(JSON.stringify(whole.json)).not.toContain(base64.slice(0, 50));
	});

	it('is read from a stream that nobody asked for, and from JSON with the end mark', async () => {
		const markdown = (url: string) => `![a](${url}/1.png)`;
		const replies: Array<(url: string) => Reply> = [
			(url) => streamOf(content('Here: ![a]('), content(`${url}/1.png)`), stop),
			(url) => answer(200, `${JSON.stringify(messageOf({ content: markdown(url) }))}\n${done}`),
		];
		for (const reply of replies) expect((await make(reply)).file).toEqual(png);
	});

	it('is delivered when another answer broke off, with a hint that tells the error', async () => {
		const { file, hints } = await make((url) =>
			json({
				choices: [
					...messageOf({ content: `![a](${url}/1.png)` }).choices,
					{ index: 1, message: {}, finish_reason: 'error', error: { message: 'Overloaded' } },
				],
			}),
		);
		expect(file).toEqual(png);
		expect(hints).toEqual([expect.stringContaining('Overloaded')]);
	});

	it('is reported as refused with the words of the model', async () => {
		const refusal = 'I cannot draw that.';
		const { json: output } = await run(parameters, json(messageOf({ content: null, refusal })));
		expect(output.error).toContain(`has no image, only this text: ${refusal}`);
	});
});
