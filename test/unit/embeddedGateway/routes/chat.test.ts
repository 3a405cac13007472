import type { AxiosResponse } from 'axios';
import { once } from 'node:events';
import { startGateway } from '../../../../gateway';
import { clientOf } from '../../../../gateway/client';
import { served } from '../served';

const at = served();
const user = (content: unknown) => ({ role: 'user', content });
const chat = async (messages: unknown[], more: object = {}): Promise<AxiosResponse> =>
	await at.client.post('/v1/chat/completions', { model: 'chat-1', messages, ...more });
const choicesOf = async (content: unknown, more: object = {}) =>
	(await chat([user(content)], more)).data.choices;

describe('POST /v1/chat/completions', () => {
	it('returns a completion in the form of the specification, and charges its tokens', async () => {
		const response = await chat([{ role: 'system', content: 'Be brief.' }, user('Who are you?')]);
		const requestId = response.headers['x-request-id'];
		const content =
			'In short: “Who are you?”. You wrote 3 words. Our chat has 2 messages: system, user.';
		expect(response.status).toBe(200);
		expect(response.data).toEqual({
			...{ id: requestId, object: 'chat.completion', created: expect.any(Number), model: 'chat-1' },
			choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
			usage: { prompt_tokens: 5, completion_tokens: 18, total_tokens: 23 },
		});
		expect(at.gateway.ledger).toEqual([
			{
				...{ kind: 'chat', model: 'chat-1', quantity: 23, unit: 'token', key: 'demo-key' },
				...{ requestId, at: expect.any(Number) },
			},
		]);
	});

	it.each<[string, object, string, string]>([
		['before the first of several stop sequences', { stop: ['three', ' two'] }, 'one', 'stop'],
		['before a single stop sequence', { stop: 'two' }, 'one ', 'stop'],
		['at max_tokens', { max_tokens: 2 }, 'one two', 'length'],
		[
			'by itself when the options are at their limits',
			{ temperature: 2, top_p: 0, max_tokens: 3 },
			'',
			'stop',
		],
		[
			'by itself when the options are null',
			{ temperature: null, stop: null, n: null, user: null },
			'',
			'stop',
		],
	])('ends the text %s', async (_, more, text, reason) => {
		expect(await choicesOf('say one two three', more)).toMatchObject([
			{ message: { content: text || 'one two three' }, finish_reason: reason },
		]);
	});

	it('returns JSON when response_format asks for it', async () => {
		const [{ message }] = await choicesOf('hi', { response_format: { type: 'json_object' } });
		expect(JSON.parse(message.content)).toMatchObject({ summary: 'hi', words: 1 });
	});

	it('returns no text and content_filter when the content filter withholds the text', async () => {
		expect(await choicesOf('[filtered] please')).toMatchObject([
			{ message: { content: '' }, finish_reason: 'content_filter' },
		]);
	});

	it('charges nothing when the client hangs up before the response', async () => {
		const slow = await startGateway({ answerMilliseconds: 10_000 });
		const body = { model: 'chat-1', messages: [user('hello')] };
		const over = once(slow, 'request');
		await expect(
			clientOf(slow).post('/v1/chat/completions', body, { timeout: 100 }),
		).rejects.toMatchObject({ code: 'ECONNABORTED' });
		await over;
		expect(slow.ledger).toEqual([]);
		await slow.close();
	});
});
