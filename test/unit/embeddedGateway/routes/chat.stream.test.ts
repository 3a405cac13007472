import type { AxiosResponse } from 'axios';
import { served } from '../served';

const at = served();
const stream = async (content: string, more: object = {}): Promise<AxiosResponse<string>> =>
	await at.client.post(
		'/v1/chat/completions',
		{ model: 'chat-1', messages: [{ role: 'user', content }], stream: true, ...more },
		{ responseType: 'text' },
	);

const chunksOf = (text: string) =>
	text
		.split('\n\n')
		.filter((event) => event.startsWith('data: {'))
		.map((event) => JSON.parse(event.slice('data: '.length)));

/** The exact bytes of the events for `say one two`. */
function eventsOf({ headers, data }: AxiosResponse<string>): string[] {
	const { created } = chunksOf(data)[0];
	const head = `{"id":"${headers['x-request-id']}","object":"chat.completion.chunk","created":${created},"model":"chat-1","choices":`;
	return [
		`data: ${head}[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n`,
		`data: ${head}[{"index":0,"delta":{"content":"one"},"finish_reason":null}]}\n\n`,
		`data: ${head}[{"index":0,"delta":{"content":" two"},"finish_reason":null}]}\n\n`,
		`data: ${head}[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
		`data: ${head}[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\n`,
		'data: [DONE]\n\n',
	];
}

describe('streamed completions', () => {
	it('streams exactly the form of the specification, and charges the tokens', async () => {
		const response = await stream('say one two');
		expect(response.status).toBe(200);
		expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
		expect(response.data).toBe(eventsOf(response).join(''));
		const requestId = response.headers['x-request-id'];
		expect(at.gateway.ledger).toMatchObject([{ quantity: 5, unit: 'token', requestId }]);
	});

	it('streams several choices side by side', async () => {
		const { data } = await stream('say one two', { n: 2, max_tokens: 2 });
		const changes = chunksOf(data).flatMap(({ choices }) => choices);
		expect(changes.map(({ index, delta }) => [index, delta.role ?? delta.content])).toEqual([
			...[
				[0, 'assistant'],
				[1, 'assistant'],
				[0, 'one'],
				[1, '2.'],
				[0, ' two'],
				[1, ' one'],
			],
			...[
				[0, undefined],
				[1, undefined],
			],
		]);
		expect(changes.map(({ finish_reason }) => finish_reason).slice(-2)).toEqual(['stop', 'length']);
	});

	it('streams JSON for a schema in pieces', async () => {
		const schema = { properties: { name: { type: 'string' }, year: { type: 'integer' } } };
		const response_format = { type: 'json_schema', json_schema: { name: 'boat', schema } };
		const { data } = await stream('A boat', { response_format });
		const pieces = chunksOf(data).flatMap(({ choices }) => choices[0]?.delta.content ?? []);
		expect(pieces.length).toBeGreaterThan(2);
		expect(JSON.parse(pieces.join(''))).toEqual({ name: 'A boat', year: 1 });
	});

	it('streams the arguments of a tool call in pieces', async () => {
		const tools = [{ type: 'function', function: { name: 'weather' } }];
		const { data } = await stream('call weather with {"city":"Paris"}', { tools });
		const choices = chunksOf(data).flatMap((chunk) => chunk.choices);
		const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
		const id = expect.stringMatching(/^call_/);
		const call = { name: 'weather', arguments: '' };
		expect(calls[0]).toEqual({ index: 0, id, type: 'function', function: call });
		expect(calls.length).toBeGreaterThan(2);
		expect(calls.map((piece) => piece.function.arguments).join('')).toBe('{"city":"Paris"}');
		expect(choices.at(-1)).toEqual({ index: 0, delta: {}, finish_reason: 'tool_calls' });
	});

	it.each([undefined, 'upstream_error'])(
		'breaks a stream off after some events, with the error %s, and charges nothing',
		async (code) => {
			const charges = at.gateway.ledger.length;
			at.gateway.fault({ route: 'chat', action: 'breakOff', after: 2, code });
			const response = await stream('say one two');
			const [first, second, error = 'data: {}'] = response.data.split(/(?<=\n\n)/);
			expect([first, second]).toEqual(eventsOf(response).slice(0, 2));
			expect(JSON.parse(error.slice('data: '.length)).error?.code).toBe(code);
			expect(at.gateway.ledger).toHaveLength(charges);
		},
	);
});
