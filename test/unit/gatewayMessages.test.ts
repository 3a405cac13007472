import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway } from '../gateway';
import { clientOf } from '../gateway/client';

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway();
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const version = { 'vendor-version': '2023-06-01' };
const messages = [{ role: 'user', content: 'say one two three' }];

const create = async (change: object = {}, headers: object = version): Promise<AxiosResponse> =>
	await client.post(
		'/v1/messages',
		{ model: 'chat-1', max_tokens: 100, messages, ...change },
		{ headers: { ...headers } },
	);

it('answers with a message, billed by its tokens', async () => {
	const { status, data, headers } = await create();
	expect(status).toBe(200);
	expect(data).toEqual({
		id: headers['x-request-id'],
		type: 'message',
		role: 'assistant',
		model: 'chat-1',
		content: [{ type: 'text', text: 'one two three' }],
		stop_reason: 'end_turn',
		usage: { input_tokens: 4, output_tokens: 3 },
	});
	expect(gateway.ledger).toMatchObject([
		{ kind: 'message', model: 'chat-1', quantity: 7, unit: 'token' },
	]);
});

it('is cut at max_tokens, or withheld', async () => {
	const cut = await create({ max_tokens: 1 });
	expect(cut.data).toMatchObject({ content: [{ text: 'one' }], stop_reason: 'max_tokens' });
	const withheld = await create({ messages: [{ role: 'user', content: '[filtered]' }] });
	expect(withheld.data).toMatchObject({ content: [{ text: '' }], stop_reason: 'refusal' });
});

it.each([
	{},
	{ version: '2023-06-01' },
	{ 'vendor-version': 'latest' },
	{ 'vendor-version': '2023-13-01' },
])('refuses the version header %j', async (headers) => {
	const { status, data } = await create({}, headers);
	expect([status, data.error.param]).toEqual([400, '<vendor>-version']);
});

it.each<[number, string, string, object]>([
	[400, 'invalid_parameter', 'model', { model: undefined }],
	[404, 'model_not_found', 'model', { model: 'image-chat-1' }],
	[400, 'invalid_parameter', 'max_tokens', { max_tokens: undefined }],
	[400, 'invalid_parameter', 'max_tokens', { max_tokens: 0 }],
	[400, 'invalid_parameter', 'messages', { messages: 'hello' }],
	[400, 'invalid_parameter', 'messages[0].role', { messages: [{ role: 'me', content: 'hi' }] }],
	[400, 'invalid_prompt', 'messages[0].content', { messages: [{ role: 'user', content: '' }] }],
	[400, 'invalid_parameter', 'temperature', { model: 'reason-1', temperature: 1 }],
])('refuses with %i %s of %s: %j', async (status, code, param, change) => {
	const charges = gateway.ledger.length;
	const answer = await create(change);
	expect([answer.status, answer.data.error.code, answer.data.error.param]).toEqual([
		status,
		code,
		param,
	]);
	expect(gateway.ledger).toHaveLength(charges);
});
