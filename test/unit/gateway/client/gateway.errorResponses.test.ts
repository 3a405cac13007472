import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import type { ErrorRecord } from '../../../../nodes/shared/n8n/errors/errorRecord';
import { chat, error, models } from '../../../support/workflows/calls';
import { failureOf, gatewayTo, key } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	cut,
	json,
	page,
	startServer,
	type Reply,
} from '../../../support/http/scriptedServer';

describe('error responses', () => {
	it('reports everything that an error response says', async () => {
		const body = {
			error: {
				message: 'model x does not exist',
				type: 'invalid_request_error',
				param: 'model',
				code: 'model_not_found',
			},
		};
		const server = await startServer(json(body, 404, { 'x-request-id': 'r-1' }));
		const { record, reach, message } = await failureOf(gatewayTo(server.url).call(chat));
		expect(record).toEqual({
			message: 'Could not complete the chat: model x does not exist (HTTP 404, model_not_found)',
			advice: expect.stringMatching(/^Choose another model from the list.* ID that was typed/),
			status: 404,
			code: 'model_not_found',
			type: 'invalid_request_error',
			param: 'model',
			request_id: 'r-1',
			billed: 'no',
			retry_can_help: false,
			raw_body: JSON.stringify(body),
		});
		expect(reach).toBe('answered');
		expect(message).toBe(record.message);
		expect(server.requests).toHaveLength(1);
	});
});

it.each([200, 400])(
	'does not parse a response with %i that is too deep to be read, although it arrives at once',
	async (status) => {
		const deep = `{"error":{"message":"x\\u0041","a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
		const server = await startServer(answer(status, deep));
		const { record } = await failureOf(gatewayTo(server.url).call(models));
		expect(record).toMatchObject({ status, billed: 'no' });
		expect(record.message).not.toContain('xA');
	},
);

describe('an error object in a 2xx response', () => {
	const overloaded = { code: 'server_error', message: 'overloaded' };
	const callOf = (partialText: string) => ({
		...chat,
		parse: () => {
			throw new UnusableResponse('ended early', partialText, overloaded);
		},
	});

	it('counts as charged when text arrived before it, and keeps the text', async () => {
		const server = await startServer(json({ id: '1' }));
		const { record } = await failureOf(gatewayTo(server.url).call(callOf('Once upon')));
		expect(record).toMatchObject({ partial_text: 'Once upon', raw_body: '{"id":"1"}' });
		expect(record.billed).not.toBe('no');
		expect(record.message).toContain('ended early');
	});

	it('is shown without the raw body when the key is split over its partial text', async () => {
		const server = await startServer(json({ id: '1' }));
		const { record } = await failureOf(gatewayTo(server.url).call(callOf(`The key is ${key}`)));
		expect(record.partial_text).not.toContain(key);
		expect(record.raw_body ?? '').toBe('');
	});
});

describe('unusual bodies', () => {
	const isPage = 'the response is a web page instead of JSON (HTTP 200)';

	it.each<[string, Reply, Partial<ErrorRecord>, string]>([
		['a page with 502', page(502), { status: 502, message: '502 Bad Gateway' }, 'proxied'],
		['a text with 404', answer(404, 'no route'), { status: 404, raw_body: 'no route' }, 'answered'],
		[
			'nothing with 200',
			answer(200, ''),
			{ message: 'the response is empty (HTTP 200)' },
			'unreadable',
		],
		['a page with 200', page(200), { message: isPage }, 'unreadable'],
		['a body that breaks off', cut('{"data":['), { message: 'broke off' }, 'unreadable'],
	])(
		'reports an unusual response and how far the request got: %s',
		async (_, reply, { message = '', ...expected }, reach) => {
			const server = await startServer((response, request) => {
				response.setHeader('x-request-id', 'r-2');
				reply(response, request);
			});
			const failure = await failureOf(gatewayTo(server.url).call({ ...models, once: true }));
			expect(failure.record).toMatchObject({ request_id: 'r-2', billed: 'no', ...expected });
			expect(failure.record.message).toContain(message);
			expect(failure.reach).toBe(reach);
		},
	);
});

describe('the key', () => {
	const echo = { message: `the key ${key} is unknown`, code: 'invalid_api_key' };

	it('redacts the key in errors', async () => {
		const server = await startServer(error(401, echo));
		const { record } = await failureOf(gatewayTo(server.url).call(models));
		expect(JSON.stringify(record)).not.toContain(key);
		expect(record.message).toContain('the key *** is unknown');
	});

	it('redacts the key in unusable responses', async () => {
		for (const reply of [answer(200, `key ${key}`), cut(`{"key":"${key}"`)]) {
			const server = await startServer(reply);
			const failure = await failureOf(gatewayTo(server.url).call(chat));
			expect(JSON.stringify(failure.record)).not.toContain(key);
		}
	});

	it('redacts the key in outputs', async () => {
		const server = await startServer(json({ data: [{ id: 'chat-1', asked_by: key }] }));
		await expect(gatewayTo(server.url).call(models)).resolves.toEqual([
			{ id: 'chat-1', asked_by: '***' },
		]);
	});
});
