import { startGateway, type Gateway } from '../../../gateway';
import { testCredential } from '../../harness';
import {
	answer,
	json,
	nobody,
	page,
	redirect,
	reset,
	startServer,
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

	it('reports that the API key is wrong or not allowed to list models', async () => {
		expect(await testWith({ apiKey: 'wrong' })).toEqual({
			status: 'Error',
			message: 'The API key is not valid. Copy it again, as a whole.',
		});
		const forbidden = json({ error: { message: 'this key sleeps', code: 'key_asleep' } }, 403);
		const server = await startServer(forbidden);
		expect(await failureOf(server.url)).toBe(
			"Could not list the models: this key sleeps (HTTP 403, key_asleep). Ask the account's owner what this key may do.",
		);
	});

	it('does not blame the API key when a proxy refuses the request', async () => {
		const server = await startServer(page(403));
		expect(await failureOf(server.url)).toBe(
			'Could not list the models: 403 Forbidden (HTTP 403). The response is a web page, probably of a proxy or a firewall before the service: ask the administrator of n8n or of the network.',
		);
	});

	it('reports that the base URL does not lead to the gateway', async () => {
		expect(await failureOf('https://gateway.invalid')).toBe(
			'Base URL: the server gateway.invalid is not found. Check how the address is spelt, and the network of n8n.',
		);
		const missing = await startServer(page(404));
		expect(await failureOf(`${missing.url}/gateway`)).toBe(
			'No gateway responds at Base URL <address> (HTTP 404). Check the address, also its path.',
		);
		const website = await startServer(page(200));
		expect(await failureOf(website.url)).toBe(
			'The server at Base URL <address> is not the gateway: it gave no list of models. Check the address, also its path.',
		);
		expect(await failureOf('gateway.example')).toBe(
			'Model Gateway credential: Base URL must be an address that starts with https://',
		);
	});

	it('reports where the base URL redirects, and sends no key there', async () => {
		const other = await startServer(json({ data: [] }));
		const server = await startServer(redirect(301, `${other.url}/v1/models`));
		expect(await failureOf(server.url)).toBe(
			`Could not list the models: the gateway redirects to ${other.url}. The API key is never sent to another address. If you trust it, make it the Base URL in the Model Gateway credential.`,
		);
		expect(other.requests).toHaveLength(0);
	});

	it('redacts an API key that a server puts into a redirect', async () => {
		const apiKey = 'sk-0123456789/abcdef+';
		const forms = [
			...[apiKey, encodeURIComponent(apiKey), encodeURIComponent(encodeURIComponent(apiKey))],
			...[Buffer.from(`Bearer ${apiKey}`).toString('base64'), apiKey.toLowerCase()],
		];
		const locations = forms.flatMap((form) => [
			...[`/v2?key=${form}`, `https://other.example/${form}`, `https://${form}`, form],
			...[`http://[${form}`, `/${'a'.repeat(290 - form.length)}${form}`, `//${form}@host.example`],
		]);
		for (const status of [301, 307]) {
			for (const location of locations) {
				const server = await startServer(redirect(status, location));
				const { message } = await testWith({ apiKey, baseUrl: server.url });
				expect(message).toMatch(/redirects/);
				expect(message.toLowerCase()).not.toMatch(/sk-01234|sk%2d0|2stmdeymzq1|sy0wmtiz|zay0/);
				await server.close();
			}
		}
	});

	it('reports that the base URL gives no response, and sends each request only once', async () => {
		expect(await failureOf(nobody)).toBe(
			'Base URL: nothing responds at <address>. Check the address and its port, and whether the service is running.',
		);
		const broken = await startServer(reset);
		expect(await failureOf(broken.url)).toMatch(
			/^Base URL <address> gave no response \(.*\)\. Check the address, or test again later\.$/,
		);
		const busy = await startServer(json({ error: { message: 'come back' } }, 503));
		expect(await failureOf(busy.url)).toBe(
			'Could not list the models: come back (HTTP 503). Test again later.',
		);
		const proxy = await startServer(page(502));
		expect(await failureOf(proxy.url)).toBe(
			'Base URL <address> gave no response (HTTP 502). Check the address, or test again later.',
		);
		// A user is waiting at the dialog, so the test does not repeat a request.
		expect([broken, busy, proxy].map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
	});

	it('reports that the server at an https base URL does not speak https', async () => {
		const plain = await startServer(answer(200, ''));
		expect(await failureOf(plain.url.replace('http:', 'https:'))).toBe(
			'Base URL: the server does not speak https:// at this address. Check the address and its port.',
		);
	});

	it('refuses an unencrypted base URL without sending the key, unless the credential allows it', async () => {
		// It leads to this machine, but it is none of the loopback addresses for which HTTP is allowed.
		const baseUrl = gateway.url.replace('127.0.0.1', '0.0.0.0');
		const before = gateway.requests.length;
		expect(await failureOf(baseUrl)).toContain('switch on Allow Unencrypted HTTP');
		expect(await failureOf(baseUrl.replace('//', '//localhost:80@'))).toContain('user name');
		expect(gateway.requests).toHaveLength(before);
		expect(await testWith({ baseUrl, advanced: true, allowHttp: true })).toEqual(success);
	});

	it('reports that nothing responds at the backup URL', async () => {
		expect(await testWith({ backupUrl: gateway.url })).toEqual(success);
		expect((await testWith({ backupUrl: nobody })).message).toMatch(
			/^Backup URL: nothing responds/,
		);
	});
});
