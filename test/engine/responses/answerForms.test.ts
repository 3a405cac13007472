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
		hints: result.hintsOf('Node'),
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

	it.each<[string, IDataObject, Reply]>([
		['Chat: Complete', chat(), json(messageOf({ content: ' ', tool_calls: [] }))],
		['Chat: Complete, streamed', chat({ stream: true }), streamOf(deltaOf({ content: '' }), stop)],
		['Message: Create', native, json({ content: [], stop_reason: 'end_turn' })],
	])('shows a hint that it is empty: %s', async (_, parameters, reply) => {
		const { json: output, hints } = await run(parameters, reply);
		expect(String(output.text).trim()).toBe('');
		expect(hints).toEqual(['The answer is empty. It is charged like any other.']);
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
});

describe('an image of a chat', () => {
	const png = Buffer.from(picture('red', 64, 64));
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
});
