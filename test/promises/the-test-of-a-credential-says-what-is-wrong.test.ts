import type { Gateway } from '../../gateway';
import { testCredential } from '../harness';
import { json, nobody, page, redirect, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import type { Fields } from './answers';

const apiKey = 'sk-tested-0123456789';

let gateway: Gateway;
withGateway({ keys: { [apiKey]: {} } }, (world) => void ({ gateway } = world));

const outcomeOf = async (values: Fields = {}) =>
	await testCredential('modelGatewayApi', {
		...{ apiKey, baseUrl: gateway.url },
		...(values as { apiKey?: string }),
	});

it('says that the connection works, after it has listed the models', async () => {
	expect(await outcomeOf()).toMatchObject({ status: 'OK' });
	// A `/v1` at the end of the base URL is ignored.
	expect(await outcomeOf({ baseUrl: `${gateway.url}/v1/` })).toMatchObject({ status: 'OK' });
	expect(gateway.requests.map(({ route }) => route)).toEqual(['models', 'models']);
});

it.each<[string, () => Promise<Fields>, RegExp]>([
	['a wrong key', async () => ({ apiKey: 'wrong-key-0123456789' }), /key is not valid/],
	['an address where nothing listens', async () => ({ baseUrl: nobody }), /nothing responds/],
	[
		'the address of a website',
		async () => ({ baseUrl: (await startServer(page(200))).url }),
		/web page.*No gateway responds/,
	],
	['a wrong path', async () => ({ baseUrl: `${gateway.url}/nowhere` }), /No gateway responds/],
	['http:// to another machine', async () => ({ baseUrl: 'http://gw.example' }), /https/],
	['a dead backup URL', async () => ({ backupUrl: nobody }), /^Backup URL: .*nothing responds/],
	[
		'prices that are no JSON',
		async () => ({ advanced: true, prices: '{' }),
		/connection works, but not Prices/,
	],
])('names what is wrong, and never the key: %s', async (_, values, says) => {
	const { status, message } = await outcomeOf(await values());
	expect({ status, message }).toEqual({ status: 'Error', message: expect.stringMatching(says) });
	expect(message).not.toContain('0123456789');
});

it('sends no key to where the base URL redirects', async () => {
	const other = await startServer(json({ data: [] }));
	const base = await startServer(redirect(301, `${other.url}/v1/models`));
	const { status, message } = await outcomeOf({ baseUrl: base.url });
	expect([status, message]).toEqual(['Error', expect.stringContaining(other.url)]);
	expect(other.requests).toEqual([]);
});
