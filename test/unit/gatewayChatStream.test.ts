import type { AxiosInstance, AxiosResponse } from 'axios';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type FaultAction, type Gateway } from '../gateway';
import { clientOf } from '../gateway/client';
import { pausesDuring } from '../support/pauses';

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway();
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const order = (content: string, more: object = {}) => ({
	model: 'chat-1',
	messages: [{ role: 'user', content }],
	stream: true,
	...more,
});

const stream = async (content: string, more: object = {}): Promise<AxiosResponse<string>> =>
	await client.post('/v1/chat/completions', order(content, more), { responseType: 'text' });

const chunksOf = (text: string) =>
	text
		.split('\n\n')
		.filter((event) => event.startsWith('data: {'))
		.map((event) => JSON.parse(event.slice('data: '.length)));

/** What the events of `say one two` are, byte by byte. */
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

describe('a stream', () => {
	it('has the form of the specification, byte by byte, and is billed by its tokens', async () => {
		const answer = await stream('say one two');
		expect(answer.status).toBe(200);
		expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
		expect(answer.data).toBe(eventsOf(answer).join(''));
		expect(gateway.ledger.at(-1)).toMatchObject({
			kind: 'chat',
			quantity: 5,
			unit: 'token',
			requestId: answer.headers['x-request-id'],
		});
	});

	it('says what the whole answer says', async () => {
		const whole = await stream('Tell me a story, 你好', { stream: false });
		const { data } = await stream('Tell me a story, 你好');
		const [{ message }] = JSON.parse(whole.data).choices;
		const content = chunksOf(data)
			.map(({ choices: [choice] }) => choice?.delta.content ?? '')
			.join('');
		expect({ role: 'assistant', content }).toEqual(message);
	});

	it('carries several choices side by side', async () => {
		const { data } = await stream('say one two', { n: 2 });
		const changes = chunksOf(data).flatMap(({ choices }) => choices);
		expect(changes.map(({ index, delta }) => [index, delta.role ?? delta.content])).toEqual([
			[0, 'assistant'],
			[1, 'assistant'],
			[0, 'one'],
			[1, '2.'],
			[0, ' two'],
			[1, ' one'],
			[0, undefined],
			[1, ' two'],
			[1, undefined],
		]);
	});

	it('is cut at max_tokens', async () => {
		const { data } = await stream('say one two', { max_tokens: 1 });
		expect(chunksOf(data).at(-2).choices[0].finish_reason).toBe('length');
	});

	it('carries tool calls in pieces', async () => {
		const tools = [{ type: 'function', function: { name: 'weather' } }];
		const { data } = await stream('call weather with {"city":"Paris"}', { tools });
		const choices = chunksOf(data).flatMap((chunk) => chunk.choices);
		const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
		expect(calls[0]).toEqual({
			index: 0,
			id: expect.stringMatching(/^call_/),
			type: 'function',
			function: { name: 'weather', arguments: '' },
		});
		expect(calls.length).toBeGreaterThan(2);
		expect(calls.map((call) => call.function.arguments).join('')).toBe('{"city":"Paris"}');
		expect(choices.at(-1)).toEqual({ index: 0, delta: {}, finish_reason: 'tool_calls' });
	});

	it('is an error object when the request is wrong', async () => {
		const { status, headers } = await stream('');
		expect([status, headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
	});
});

describe('time', () => {
	it('passes between the pieces', async () => {
		const slow = await startGateway({ tokenMilliseconds: 50 });
		const { data } = await clientOf(slow).post<IncomingMessage>(
			'/v1/chat/completions',
			order('say one two three'),
			{ responseType: 'stream' },
		);
		let pieces = 0;
		const reading = async () => {
			for await (const piece of data) pieces += String(piece).includes('content') ? 1 : 0;
		};
		const pauses = await pausesDuring(reading());
		expect(pieces).toBe(3);
		expect(pauses.filter((pause) => pause === 50).length).toBeGreaterThanOrEqual(2);
		await slow.close();
	});

	it('ends for a client that hangs up, which is not billed', async () => {
		const slow = await startGateway({ tokenMilliseconds: 50 });
		const { data } = await clientOf(slow).post<IncomingMessage>(
			'/v1/chat/completions',
			order('Tell me a story'),
			{ responseType: 'stream' },
		);
		await once(data, 'data');
		data.destroy();
		const [request] = await once(slow, 'request');
		expect(request.route).toBe('chat');
		await slow.close();
		expect(slow.ledger).toEqual([]);
	});
});

describe('a fault', () => {
	const faulty = async (fault: FaultAction, more: object = {}) => {
		gateway.fault({ route: 'chat', ...fault });
		return await stream('say one two', more);
	};

	it.each<[Extract<FaultAction, { action: 'stream' }>['how'], (events: string[]) => string]>([
		['crlf', (events) => events.join('').replaceAll('\n', '\r\n')],
		['comments', (events) => events.map((event) => `: keep-alive\n\n${event}`).join('')],
		['withoutSpace', (events) => events.join('').replaceAll('data: ', 'data:')],
		['withoutDone', (events) => events.slice(0, -1).join('')],
	])('words it otherwise: %s', async (how, expected) => {
		const charges = gateway.ledger.length;
		gateway.fault({ route: 'chat', action: 'stream', how });
		const answer = await stream('say one two');
		const plain = { ...answer, data: answer.data.replace(/data:(?! )/g, 'data: ') };
		plain.data = plain.data.replaceAll('\r\n', '\n').replaceAll(': keep-alive\n\n', '');
		expect(answer.data).toBe(expected(eventsOf(plain)));
		expect(gateway.ledger).toHaveLength(charges + 1);
	});

	it('ends it with an error, which is not billed', async () => {
		const charges = gateway.ledger.length;
		const answer = await faulty({ action: 'breakOff', after: 2, code: 'upstream_error' });
		const events = answer.data.split(/(?<=\n\n)/);
		expect(events).toHaveLength(3);
		expect(events.slice(0, 2)).toEqual(eventsOf(answer).slice(0, 2));
		expect(JSON.parse(events[2].slice('data: '.length)).error).toMatchObject({
			type: 'server_error',
			code: 'upstream_error',
		});
		expect(gateway.ledger).toHaveLength(charges);
	});

	it('ends it as if it were whole, which is not billed', async () => {
		const charges = gateway.ledger.length;
		const answer = await faulty({ action: 'breakOff', after: 3 });
		expect(answer.data).toBe(eventsOf(answer).slice(0, 3).join(''));
		expect(gateway.ledger).toHaveLength(charges);
	});

	it('leaves an answer that is no stream alone', async () => {
		const { data } = await faulty({ action: 'stream', how: 'crlf' }, { stream: false });
		expect(JSON.parse(data)).toMatchObject({ object: 'chat.completion' });
	});

	it.each([100, '40%'] as const)('cuts it after %s, which is not billed', async (after) => {
		const charges = gateway.ledger.length;
		const { length } = (await stream('say one two')).data;
		gateway.fault({ route: 'chat', action: 'cut', after });
		const { data } = await client.post<IncomingMessage>(
			'/v1/chat/completions',
			order('say one two'),
			{ responseType: 'stream' },
		);
		let received = 0;
		await expect(
			(async () => {
				for await (const piece of data) received += piece.length;
			})(),
		).rejects.toThrow('aborted');
		expect(received).toBe(after === 100 ? 100 : Math.floor(length * 0.4));
		expect(gateway.ledger).toHaveLength(charges + 1);
	});

	it('freezes it', async () => {
		gateway.fault({ route: 'chat', action: 'freeze', after: 200 });
		const { data } = await client.post<IncomingMessage>(
			'/v1/chat/completions',
			order('say one two'),
			{ responseType: 'stream' },
		);
		let received = 0;
		data.on('data', (piece: Buffer) => {
			received += piece.length;
		});
		await setTimeout(200);
		expect([received, data.readableEnded]).toEqual([200, false]);
		data.destroy();
	});

	it('drips it', async () => {
		const dripping = faulty({ action: 'drip', bytesPerSecond: 5000 });
		const pauses = await pausesDuring(dripping);
		const answer = await dripping;
		expect(answer.data).toBe(eventsOf(answer).join(''));
		expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(150);
	});

	it('compresses it', async () => {
		const answer = await faulty({ action: 'encode', encoding: 'gzip' });
		expect(answer.data).toBe(eventsOf(answer).join(''));
	});

	it('declares a wrong length', async () => {
		await expect(faulty({ action: 'wrongLength', by: 5 })).rejects.toThrow('aborted');
	});

	it('loses it after the work, which is not billed', async () => {
		const charges = gateway.ledger.length;
		await expect(faulty({ action: 'reset', accepted: true })).rejects.toMatchObject({
			code: 'ECONNRESET',
		});
		const code = 'write_response_body_failed';
		const answer = await faulty({ action: 'error', status: 500, code, accepted: true });
		expect(answer.status).toBe(500);
		expect(gateway.ledger).toHaveLength(charges);
	});
});
