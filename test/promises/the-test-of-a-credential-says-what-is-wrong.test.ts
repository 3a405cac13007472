import { testCredential } from '../harness';
import {
	answer,
	endless,
	json,
	nobody,
	page,
	redirect,
	type Reply,
	reset,
	startServer,
} from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import type { Fields } from '../support/nodes';

const apiKey = 'sk-tested-0123456789';

const { gateway } = withGateway({ keys: { [apiKey]: {} } });

const outcomeOf = async (values: Fields = {}) =>
	await testCredential('modelGatewayApi', {
		apiKey,
		baseUrl: gateway.url,
		...(values as { apiKey?: string }),
	});

it('says that the connection works, after it has listed the models', async () => {
	expect(await outcomeOf()).toMatchObject({ status: 'OK' });
	// A `/v1` at the end of the base URL is ignored.
	expect(await outcomeOf({ baseUrl: `${gateway.url}/v1/` })).toMatchObject({ status: 'OK' });
	expect(gateway.requests.map(({ route }) => route)).toEqual(['models', 'models']);
});

it('does not wait for the limits of the credential', async () => {
	const limits = { advanced: true, requestsPerSecond: '0.00001', requestsInFlight: 1 };
	for (let time = 0; time < 2; time++)
		expect(await outcomeOf(limits)).toMatchObject({ status: 'OK' });
});

/** The base URL of a server that gives this reply. */
const serving = (reply: Reply) => async () => ({ baseUrl: (await startServer(reply)).url });
const asleep = json({ error: { message: 'this key sleeps', code: 'key_asleep' } }, 403);
const busy = json({ error: { message: 'come back' } }, 503);
const lists = '[],'.repeat(10_000);
const type = { 'content-type': 'application/json' };

it.each<[string, () => Promise<Fields>, RegExp]>([
	['a wrong key', async () => ({ apiKey: 'wrong-key-0123456789' }), /key is not valid/],
	['an address where nothing listens', async () => ({ baseUrl: nobody }), /nothing responds/],
	['a name that no host has', async () => ({ baseUrl: 'https://no.invalid' }), /name is not found/],
	[
		'https:// to a server that does not speak it',
		async () => ({ baseUrl: (await startServer(answer(200, ''))).url.replace('http:', 'https:') }),
		/^Base URL: .*Check the Base URL, also its port/,
	],
	['the address of a website', serving(page(200)), /web page.*No gateway responds/],
	['a proxy that refuses', serving(page(403)), /probably of a proxy.*administrator of n8n/],
	['a key that may not list models', serving(asleep), /sleeps \(HTTP 403.*Ask the account's owner/],
	['lists without end', serving(endless(`[${lists}`, type)), /No gateway responds there/],
	[
		'an error without end',
		serving(endless(`{"error":{"message":"no","more":[${lists}`, type, 500)),
		/\(HTTP 500\)\. Test again later/,
	],
	['a wrong path', async () => ({ baseUrl: `${gateway.url}/nowhere` }), /No gateway responds/],
	['http:// to another machine', async () => ({ baseUrl: 'http://gw.example' }), /https/],
	['a dead backup URL', async () => ({ backupUrl: nobody }), /^Backup URL: .*nothing responds/],
	[
		'prices that are no JSON',
		async () => ({ advanced: true, prices: '{' }),
		/connection works, but not Prices/,
	],
	[
		'a limit that is no number',
		async () => ({ advanced: true, requestsInFlight: 'few' }),
		/Requests in Flight must be a whole number/,
	],
])('names what is wrong, and never the key: %s', async (_, values, says) => {
	const { status, message } = await outcomeOf(await values());
	expect({ status, message }).toEqual({ status: 'Error', message: expect.stringMatching(says) });
	expect(message).not.toContain('0123456789');
});

it.each([
	['a broken connection', reset, /^Base URL: the connection was lost .*Test again later/],
	['a busy service', busy, /come back \(HTTP 503\)\. Test again later/],
])('sends its request once, because a user is waiting: %s', async (_, reply, says) => {
	const server = await startServer(reply);
	expect((await outcomeOf({ baseUrl: server.url })).message).toMatch(says);
	expect(server.requests).toHaveLength(1);
});

it('sends no key to where the base URL redirects', async () => {
	const other = await startServer(json({ data: [] }));
	const base = await startServer(redirect(301, `${other.url}/v1/models`));
	const { status, message } = await outcomeOf({ baseUrl: base.url });
	expect([status, message]).toEqual(['Error', expect.stringContaining(other.url)]);
	expect(other.requests).toEqual([]);
});
