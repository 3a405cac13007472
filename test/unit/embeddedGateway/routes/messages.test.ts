import type { AxiosResponse } from 'axios';
import { refusalOf, served } from '../served';

const at = served();
const version = { 'vendor-version': '2023-06-01' };
const create = async (content: string, change: object = {}): Promise<AxiosResponse> =>
	await at.client.post(
		'/v1/messages',
		{ model: 'chat-1', max_tokens: 100, messages: [{ role: 'user', content }], ...change },
		{ headers: version },
	);

describe('POST /v1/messages', () => {
	it('returns a message, and charges its tokens', async () => {
		const { status, data, headers } = await create('say one two three');
		expect(status).toBe(200);
		expect(data).toEqual({
			id: headers['x-request-id'],
			...{ type: 'message', role: 'assistant', model: 'chat-1' },
			content: [{ type: 'text', text: 'one two three' }],
			stop_reason: 'end_turn',
			usage: { input_tokens: 4, output_tokens: 3 },
		});
		expect(at.gateway.ledger).toMatchObject([
			{ kind: 'message', model: 'chat-1', quantity: 7, unit: 'token' },
		]);
	});

	it.each([
		['max_tokens', 'say one two', { max_tokens: 1 }, 'one', 'max_tokens'],
		['the content filter', '[filtered]', {}, '', 'refusal'],
	])(
		'reports in stop_reason that %s ended the message',
		async (_, content, change, text, reason) => {
			const { data } = await create(content, change);
			expect(data).toMatchObject({ content: [{ text }], stop_reason: reason });
		},
	);

	it.each([{}, { version: '2023-06-01' }, { 'vendor-version': 'latest' }])(
		'refuses the version header %j',
		async (headers) => {
			const body = { model: 'chat-1', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
			const response = await at.client.post('/v1/messages', body, { headers });
			expect(refusalOf(response)).toEqual([400, 'invalid_parameter', '<vendor>-version']);
		},
	);
});
