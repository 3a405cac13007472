import { startGateway, type Gateway } from '../../../gateway';
import { testCredential } from '../../harness';
import {
	answer,
	json,
	page,
	reset,
	startServer,
	type Reply,
} from '../../support/http/scriptedServer';

const success = { status: 'OK', message: 'Connection successful!' };

describe('the test of a credential when it is saved', () => {
	let gateway: Gateway;
	beforeAll(async () => {
		gateway = await startGateway({ keys: { 'demo-key': {} } });
	});
	afterAll(async () => await gateway.close());

	const testWith = async (values: { apiKey?: string; baseUrl?: string; [more: string]: unknown }) =>
		await testCredential('modelGatewayApi', {
			...{ apiKey: 'demo-key', baseUrl: gateway.url },
			...(values as { apiKey?: string }),
		});
	const failureOf = async (baseUrl: string, more = {}) => {
		const { status, message } = await testWith({ baseUrl, ...more });
		expect(status).toBe('Error');
		expect(message).not.toContain('demo-key');
		return message.replace(baseUrl, '<address>');
	};

	it('tests a credential at once despite its request limits, and refuses an invalid limit', async () => {
		const values = { advanced: true, requestsPerSecond: '0.00001', requestsInFlight: 1 };
		expect(await testWith(values)).toEqual(success);
		expect(await testWith(values)).toEqual(success);
		expect(await testWith({ ...values, requestsInFlight: 'few' })).toEqual({
			status: 'Error',
			message:
				'Model Gateway credential: Requests in Flight must be a whole number, or empty for no limit',
		});
	});

	const asleep = json({ error: { message: 'this key sleeps', code: 'key_asleep' } }, 403);
	const busy = json({ error: { message: 'come back' } }, 503);
	it.each<[string, Reply, RegExp]>([
		['a key that may not list models', asleep, /sleeps \(HTTP 403.*Ask the account's owner/],
		['a proxy that refuses the request', page(403), /probably of a proxy.*administrator of n8n/],
		['a broken connection', reset, /^Base URL: the connection was lost .*Test again later/],
		['a busy service', busy, /come back \(HTTP 503\)\. Test again later/],
	])('explains %s, and sends the request only once', async (_, reply, says) => {
		const server = await startServer(reply);
		expect(await failureOf(server.url)).toMatch(says);
		// A user is waiting at the dialog, so the test does not repeat a request.
		expect(server.requests).toHaveLength(1);
	});

	it('explains a host that does not exist', async () =>
		expect(await failureOf('https://gateway.invalid')).toMatch(
			/^Base URL: .*its host name is not found/,
		));

	it('reports that the server at an https base URL does not speak https', async () => {
		const plain = await startServer(answer(200, ''));
		expect(await failureOf(plain.url.replace('http:', 'https:'))).toMatch(
			/^Base URL: .*Check the Base URL, also its port/,
		);
	});
});
