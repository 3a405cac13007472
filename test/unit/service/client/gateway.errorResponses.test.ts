import { UnusableResponse } from '../../../../nodes/shared/service/client/response';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { chat, create, error, models } from '../../../support/workflows/calls';
import { failureOf, gatewayTo, key } from '../../../support/workflows/gatewayWorld';
import { answer, cut, json, startServer, type Reply } from '../../../support/http/scriptedServer';

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
	const failureWith = async (partialText: string) => {
		const server = await startServer(json({ id: '1' }));
		const parse = () => {
			const overloaded = { code: 'server_error', message: 'overloaded' };
			throw new UnusableResponse('ended early', { partialText, error: overloaded });
		};
		return (await failureOf(gatewayTo(server.url).call({ ...chat, parse }))).record;
	};

	it('counts as charged when text arrived before it, and keeps the text', async () => {
		const record = await failureWith('Once upon');
		expect(record).toMatchObject({ partial_text: 'Once upon', raw_body: '{"id":"1"}' });
		expect(record.billed).not.toBe('no');
		expect(record.message).toContain('ended early');
	});

	it('is shown without the raw body when the key is split over its partial text', async () => {
		const record = await failureWith(`The key is ${key}`);
		expect(record.partial_text).not.toContain(key);
		expect(record.raw_body ?? '').toBe('');
	});
});

it.each<[string, Reply]>([
	['is no JSON', answer(200, `key ${key}`)],
	['breaks off', cut(`{"key":"${key}"`)],
	[
		'has signs within it that no message shows',
		error(401, { message: `Bad key ${key.slice(0, 9)}\u200b${key.slice(9)}` }),
	],
])('shows no key that a body repeats which %s', async (_, reply) => {
	const server = await startServer(reply);
	const { record } = await failureOf(gatewayTo(server.url).call(chat));
	expect(JSON.stringify(record)).not.toContain(key);
});

it('takes the media of a reference video for missing where the request has none', async () => {
	const server = await startServer(error(500, { message: 'Internal error' }));
	const adviceWith = async (media: unknown) => {
		const order = { endpoint: endpoints.referenceVideoCreate, body: { input: { media } } };
		const failure = await failureOf(gatewayTo(server.url).call({ ...create, ...order }));
		return failure.record.advice;
	};
	for (const none of [undefined, null, []]) {
		expect(await adviceWith(none)).toMatch(/^Add the reference media/);
	}
	expect(await adviceWith([{ type: 'reference_image' }])).toMatch(/^If the response names media/);
});
