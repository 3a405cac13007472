import type { AxiosInstance, AxiosResponse } from 'axios';
import { once } from 'node:events';
import { startGateway, type Gateway } from '../gateway';
import { clientOf } from '../gateway/client';
import { dataUrlOf, samplePng, twoFrameGif } from '../gateway/samples';
import { pausesDuring } from '../support/pauses';

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway({ keys: { free: {}, group: { models: ['embed-1'] } } });
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

interface Choice {
	index: number;
	message: { content: string };
}

const user = (content: unknown) => ({ role: 'user', content });

const chat = async (messages: unknown, more: object = {}): Promise<AxiosResponse> =>
	await client.post('/v1/chat/completions', { model: 'chat-1', messages, ...more });

const answerTo = async (content: unknown, more: object = {}): Promise<string> =>
	(await chat([user(content)], more)).data.choices[0].message.content;

const image = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, detail } });

describe('an answer', () => {
	it('has the form of the specification, and is billed by its tokens', async () => {
		const answer = await chat([{ role: 'system', content: 'Be brief.' }, user('Who are you?')]);
		const requestId = answer.headers['x-request-id'];
		const content =
			'In short: “Who are you?”. You wrote 3 words. Our chat has 2 messages: system, user.';
		expect(answer.status).toBe(200);
		expect(answer.data).toEqual({
			id: requestId,
			object: 'chat.completion',
			created: expect.any(Number),
			model: 'chat-1',
			choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
			usage: { prompt_tokens: 5, completion_tokens: 18, total_tokens: 23 },
		});
		expect(gateway.ledger.at(-1)).toEqual({
			kind: 'chat',
			model: 'chat-1',
			quantity: 23,
			unit: 'token',
			key: 'free',
			requestId,
			at: expect.any(Number),
		});
	});

	it('is the same for the same chat', async () => {
		expect(await answerTo('A long story')).toBe(await answerTo('A long story'));
	});

	it('shortens a long message and counts words of any script', async () => {
		const answer = await answerTo(`${'wordless '.repeat(30)} 你好世界`);
		expect(answer).toMatch(/^In short: “(wordless ){9}wordless…”\. You wrote 32 words\./);
	});

	it('takes a text in parts', async () => {
		const parts = ['one', 'two'].map((text) => ({ type: 'text', text }));
		expect(await answerTo(parts)).toContain('“one two”');
	});

	it('is said several times, each choice in its own words', async () => {
		const { data } = await chat([user('hello')], { n: 3 });
		const choices = data.choices as Choice[];
		expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
		expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3);
	});

	it('ends before a stop sequence, whichever comes first', async () => {
		const { data } = await chat([user('say one two three')], { stop: ['three', ' two'] });
		expect(data.choices[0]).toMatchObject({ message: { content: 'one' }, finish_reason: 'stop' });
		expect(await answerTo('say one two', { stop: 'two' })).toBe('one ');
	});

	it('is cut at max_tokens', async () => {
		const { data } = await chat([user('say one two three')], { max_tokens: 2 });
		expect(data.choices[0]).toMatchObject({
			message: { content: 'one two' },
			finish_reason: 'length',
		});
		expect(data.usage.completion_tokens).toBe(2);
		const whole = await chat([user('say one two three')], { max_tokens: 3 });
		expect(whole.data.choices[0].finish_reason).toBe('stop');
	});

	it('is JSON when that is asked for', async () => {
		const answer = await answerTo('hi', { response_format: { type: 'json_object' } });
		expect(JSON.parse(answer)).toEqual({ summary: 'hi', words: 1, roles: ['user'], images: [] });
	});

	it('takes every parameter at its limits, and null for none', async () => {
		for (const more of [
			{ temperature: 0, top_p: 0, frequency_penalty: -2, presence_penalty: -2, user: 'me' },
			{ temperature: 2, top_p: 1, frequency_penalty: 2, presence_penalty: 2, stop: [] },
			{ temperature: null, stop: null, user: null, n: null, stream: null, max_tokens: null },
		]) {
			expect((await chat([user('hi')], more)).status).toBe(200);
		}
	});
});

describe('images in a message', () => {
	it('are fetched from a link or read from a data URL, and described', async () => {
		const link = gateway.addMedia('red.png', samplePng('red'), 'image/png');
		const { data } = await chat([
			user([
				{ type: 'text', text: 'Look' },
				image(link, 'high'),
				image(dataUrlOf(samplePng('#1133ee', { width: 9, height: 7 }))),
			]),
		]);
		expect(data.choices[0].message.content).toMatch(
			/Image 1 is 64 x 40 pixels and mostly red\. Image 2 is 9 x 7 pixels and mostly blue\.$/,
		);
		expect(data.usage.prompt_tokens).toBe(1 + 2 * 256);
		const [fetched] = gateway.requests.filter(({ route }) => route === 'media');
		expect(fetched.headers).not.toHaveProperty('authorization');
	});

	it('may come without words', async () => {
		expect(await answerTo([image(dataUrlOf(samplePng('lime')))])).toContain('mostly green');
	});

	it.each([
		['no JPEG', 'data:image/png;base64,aGVsbG8='],
		['an animated GIF', dataUrlOf(twoFrameGif)],
		['cannot be decoded', dataUrlOf(samplePng('red').subarray(0, 60))],
	])('are refused: %s', async (message, url) => {
		const { status, data } = await chat([user([image(url)])]);
		expect(status).toBe(400);
		expect(data.error).toMatchObject({
			code: 'invalid_image_file',
			param: 'messages[0].content[0].image_url.url',
			message: expect.stringContaining(message),
		});
	});

	it('are refused when they cannot be fetched', async () => {
		const { status, data } = await chat([user([image(`${gateway.storageUrl}/media/gone.png`)])]);
		expect([status, data.error.code]).toEqual([400, 'invalid_parameter']);
		expect(data.error.message).toContain('HTTP 404');
	});
});

describe('an agent that is asked for a video', () => {
	const tool = (name: string, input: string) => ({
		type: 'function',
		function: { name, parameters: { type: 'object', properties: { [input]: { type: 'string' } } } },
	});
	const tools = [tool('Create_Video', 'prompt'), tool('Wait_for_Video', 'job_id')];
	const turn = async (...messages: object[]) =>
		(await chat(messages, { tools })).data.choices[0].message;
	const called = (name: string, input: object) => ({
		tool_calls: [{ function: { name, arguments: JSON.stringify(input) } }],
	});
	const result = (...items: object[]) => ({ role: 'tool', content: JSON.stringify(items) });

	it('creates it, waits for it, and gives the link', async () => {
		const asked = user('Make me a video of a boat');
		const first = await turn(asked);
		expect(first).toMatchObject(called('Create_Video', { prompt: 'Make me a video of a boat' }));
		const second = await turn(asked, first, result({ id: 'video_1', status: 'queued' }));
		expect(second).toMatchObject(called('Wait_for_Video', { job_id: 'video_1' }));
		const url = 'https://example.com/a.mp4';
		const third = await turn(asked, first, result({ id: 'video_1' }), second, result({ url }));
		expect(third.content).toBe(`Your video is ready: [watch it](${url}).`);
	});

	it('fills in the tool that n8n asks a person about', async () => {
		const inner = { type: 'object', properties: { prompt: { type: 'string' } } };
		const properties = { toolParameters: inner, hitlParameters: { type: 'object' } };
		const reviewed = {
			type: 'function',
			function: { name: 'Create_Video', parameters: { type: 'object', properties } },
		};
		const asked = user('Make me a video of a boat');
		const { data } = await chat([asked], { tools: [reviewed, tools[1]] });
		const toolParameters = { prompt: 'Make me a video of a boat' };
		expect(data.choices[0].message).toMatchObject(
			called('Create_Video', { toolParameters, hitlParameters: {} }),
		);
	});

	it('tells what a tool said instead, and calls none for another wish', async () => {
		const asked = user('Make me a video');
		const first = await turn(asked);
		const error = await turn(asked, first, { role: 'tool', content: 'no money' });
		expect(error.content).toBe('The tools gave: no money');
		expect((await turn(user('How are you?'))).content).toContain('In short');
	});
});

describe('scripted answers', () => {
	const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }];

	it('repeat a text', async () => {
		expect(await answerTo('Please:\nsay {"a": 1}\nthank you')).toBe('{"a": 1}');
	});

	it('call tools, with arguments as they were given', async () => {
		const script = 'call weather with {"city": "Paris"}\nand call clock with {broken}';
		const { data } = await chat([user(script)], { tools });
		expect(data.choices[0]).toEqual({
			index: 0,
			message: {
				role: 'assistant',
				content: null,
				tool_calls: [
					{
						id: expect.stringMatching(/^call_/),
						type: 'function',
						function: { name: 'weather', arguments: '{"city": "Paris"}' },
					},
					{
						id: expect.stringMatching(/^call_/),
						type: 'function',
						function: { name: 'clock', arguments: '{broken}' },
					},
				],
			},
			finish_reason: 'tool_calls',
		});

		const { message } = data.choices[0];
		const results = ['sunny', 'noon'].map((content) => ({ role: 'tool', content }));
		const then = await chat([user(script), message, ...results], { tools });
		expect(then.data.choices[0]).toMatchObject({
			message: { content: 'The tools gave: sunny; noon' },
			finish_reason: 'stop',
		});
	});

	it('call nothing when there are no tools', async () => {
		expect(await answerTo('call weather with {}')).toContain('In short');
	});

	it('are withheld by the content filter', async () => {
		const { data } = await chat([user('[filtered] please')]);
		expect(data.choices[0]).toMatchObject({
			message: { content: '' },
			finish_reason: 'content_filter',
		});
	});
});

describe('a refusal', () => {
	const hello = [user('hello')];

	it.each<[string, string, object]>([
		['invalid_parameter', 'model', { model: undefined }],
		['invalid_parameter', 'messages', { messages: undefined }],
		['invalid_parameter', 'messages', { messages: [] }],
		['invalid_parameter', 'messages[0]', { messages: ['hello'] }],
		['invalid_parameter', 'messages[1].role', { messages: [...hello, { role: 'me' }] }],
		['invalid_parameter', 'messages[0].content', { messages: [user(5)] }],
		['invalid_parameter', 'messages[0].content[0]', { messages: [user([{ type: 'audio' }])] }],
		[
			'invalid_parameter',
			'messages[0].content[0].image_url.url',
			{ messages: [user([image('http://example.com/a.png')])] },
		],
		['invalid_prompt', 'messages[0].content', { messages: [user('')] }],
		['invalid_prompt', 'messages[0].content', { messages: [user('a [blocked] word')] }],
		['invalid_parameter', 'temperature', { temperature: 2.1 }],
		['invalid_parameter', 'temperature', { temperature: '1' }],
		['invalid_parameter', 'top_p', { top_p: -0.1 }],
		['invalid_parameter', 'frequency_penalty', { frequency_penalty: 2.5 }],
		['invalid_parameter', 'presence_penalty', { presence_penalty: -3 }],
		['invalid_parameter', 'max_tokens', { max_tokens: 0 }],
		['invalid_parameter', 'max_tokens', { max_tokens: 1.5 }],
		['invalid_parameter', 'n', { n: 0 }],
		['invalid_parameter', 'stop', { stop: [1] }],
		['invalid_parameter', 'stream', { stream: 'yes' }],
		['invalid_parameter', 'user', { user: 7 }],
	])('with %s of %s: %j', async (code, param, change) => {
		const charges = gateway.ledger.length;
		const { status, data } = await chat(hello, change);
		expect([status, data.error.code, data.error.param]).toEqual([400, code, param]);
		expect(gateway.ledger).toHaveLength(charges);
	});

	it.each(['chat-9', 'embed-1', 'toString'])('of the model %s', async (model) => {
		const { status, data } = await chat(hello, { model });
		expect(status).toBe(404);
		expect(data.error).toMatchObject({ code: 'model_not_found', param: 'model' });
	});

	it('of a model that the group may not use', async () => {
		const body = { model: 'chat-1', messages: hello };
		const { status, data } = await clientOf(gateway, 'group').post('/v1/chat/completions', body);
		expect([status, data.error.param]).toEqual([403, 'model']);
	});

	it.each<[string, object]>([
		['temperature', { temperature: 1 }],
		['top_p', { top_p: 1 }],
		['frequency_penalty', { frequency_penalty: 0 }],
		['messages[0].role', { messages: [{ role: 'system', content: 'Be brief.' }, ...hello] }],
	])('of %s by the reasoning series', async (param, change) => {
		const model = 'reason-1';
		const { status, data } = await chat(hello, { model, ...change });
		expect([status, data.error.param]).toEqual([400, param]);
		const good = { model, presence_penalty: 0, max_tokens: 5, temperature: null };
		expect((await chat(hello, good)).status).toBe(200);
	});
});

describe('a client that hangs up', () => {
	it('is not billed', async () => {
		const slow = await startGateway({ answerMilliseconds: 10_000 });
		const body = { model: 'chat-1', messages: [user('hello')] };
		const over = once(slow, 'request');
		await expect(
			clientOf(slow).post('/v1/chat/completions', body, { timeout: 100 }),
		).rejects.toMatchObject({ code: 'ECONNABORTED' });
		await over;
		expect(slow.requests[0].status).toBeUndefined();
		expect(slow.ledger).toEqual([]);
		await slow.close();
	});
});

it('takes its time', async () => {
	const slow = await startGateway({ answerMilliseconds: 100 });
	const body = { model: 'chat-1', messages: [user('hi')] };
	expect(await pausesDuring(clientOf(slow).post('/v1/chat/completions', body))).toContain(100);
	await slow.close();
});

describe('a script', () => {
	const calls = [
		{ name: 'add', arguments: { a: 1 } },
		{ name: 'look', arguments: 'not JSON' },
	];
	const turn = async (more: object = {}) =>
		(await chat([user('Hello'), { role: 'tool', content: '7' }], more)).data;

	it('gives its turns one by one, and then the model goes on by itself', async () => {
		gateway.script('One', { text: 'Two', calls }, (messages) => `It is ${messages.at(-1)?.text}`);
		expect((await turn()).choices).toEqual([
			{ index: 0, message: { role: 'assistant', content: 'One' }, finish_reason: 'stop' },
		]);
		expect((await turn()).choices).toMatchObject([
			{
				message: {
					content: 'Two',
					tool_calls: [
						{ type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
						{ type: 'function', function: { name: 'look', arguments: 'not JSON' } },
					],
				},
				finish_reason: 'tool_calls',
			},
		]);
		expect((await turn()).choices[0].message.content).toBe('It is 7');
		expect((await turn()).choices[0].message.content).toBe('The tools gave: 7');
	});

	it('is streamed like any answer', async () => {
		gateway.script({ text: 'Two', calls, finishReason: 'length' });
		const stream: string = await turn({ stream: true });
		const names = [...stream.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
		expect(names).toEqual(['add', 'look']);
		expect(stream).toContain('"content":"Two"');
		expect(stream).toContain('"finish_reason":"length"');
	});

	it('is kept for the next request when one is refused', async () => {
		gateway.script('One');
		expect((await turn({ temperature: 9 })).error).toBeDefined();
		expect((await turn()).choices[0].message.content).toBe('One');
	});
});
