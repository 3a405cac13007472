import { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { connectionFrom } from '../../../../nodes/shared/n8n/client/connection';

const credential = { apiKey: 'sk-1', baseUrl: 'https://gateway.example' };

describe('a credential', () => {
	it.each([
		[' https://gateway.example ', 'https://gateway.example'],
		['https://gateway.example/', 'https://gateway.example'],
		['https://gateway.example/a/b/', 'https://gateway.example/a/b'],
		['https://gateway.example/v1', 'https://gateway.example'],
		['https://gateway.example/v1/v1/', 'https://gateway.example/v1'],
		['https://gateway.example/v11', 'https://gateway.example/v11'],
		['https://gateway.example /v1', 'https://gateway.example'],
	])('removes slashes and the version from the end of the address "%s"', (address, expected) => {
		const connection = connectionFrom({ ...credential, baseUrl: address, backupUrl: address });
		expect([connection.baseUrl, connection.backupUrl]).toEqual([expected, expected]);
	});

	// Node 20's URL.canParse rejects such hosts once it has been called often, by whatever part of n8n.
	it('may have an umlaut in the host of its address after 20,000 addresses were checked', () => {
		const isAddress = (address: string) => URL.canParse(address);
		for (let count = 0; count < 20_000; count++) isAddress(`https://gateway.example/${count}`);
		for (let count = 0; count < 20_000; count++) connectionFrom(credential);
		const baseUrl = 'https://brücke.example';
		expect(connectionFrom({ ...credential, baseUrl }).baseUrl).toBe(baseUrl);
	});

	it.each([
		' sk-1\n',
		'Bearer sk-1',
		'bearer   sk-1 ',
		' Bearer sk-1',
		'sk-1\u200b',
		'\ufeffBearer\tsk-1',
		'sk\r\n-1',
		'Bearer\nsk-1',
	])('removes Bearer, spaces and invisible characters from the API key %j', (apiKey) =>
		expect(connectionFrom({ ...credential, apiKey }).key).toBe('sk-1'),
	);

	it.each<[unknown, number | undefined]>([
		['5', 5],
		[' 0.5 ', 0.5],
		['1e2', 100],
		['', undefined],
		['0', undefined],
		[undefined, undefined],
	])('reads the limit of requests per second %j', (requestsPerSecond, expected) => {
		const { limits } = connectionFrom({ ...credential, requestsPerSecond });
		expect(limits).toEqual(expected && { requestsPerSecond: expected });
	});
});

describe('a credential that cannot be used', () => {
	const problemOf = (fields: object): string => {
		try {
			connectionFrom({ ...credential, ...fields });
		} catch (error) {
			if (error instanceof GatewayError) return error.message;
		}
		throw new Error('the credential was accepted');
	};

	it.each(['', ' ', 'Bearer ', 'Bearer', undefined, 7])('refuses %j as an API key', (apiKey) => {
		expect(problemOf({ apiKey })).toBe('Model Gateway credential: API Key is empty');
	});

	it.each(['', 'gateway.example', 'ftp://gateway.example', 'https://', 'https://a b', undefined])(
		'refuses %j as a base URL',
		(baseUrl) => {
			expect(problemOf({ baseUrl })).toBe(
				'Model Gateway credential: Base URL must be an address that starts with https://',
			);
		},
	);

	it.each(['somebody', 'somebody:secret', ':secret'])('refuses %s@ in the base URL', (user) => {
		expect(problemOf({ baseUrl: `https://${user}@gateway.example` })).toBe(
			'Model Gateway credential: Base URL must not have a user name or a password in it',
		);
	});

	it.each(['/#/keys', '#', '/a#b'])('refuses the address of a console: …%s', (end) => {
		const problem =
			'must have no # in it: give the address of the service, not that of its console';
		const address = `https://gateway.example${end}`;
		expect(problemOf({ baseUrl: address })).toContain(`Base URL ${problem}`);
		expect(problemOf({ backupUrl: address })).toContain(`Backup URL ${problem}`);
	});

	it.each(['http://gateway.example', 'HTTP://10.0.0.7:8080', 'http://localhost.example'])(
		'refuses to send the key unencrypted to %s',
		(address) => {
			expect(problemOf({ baseUrl: address })).toMatch(
				/Base URL must start with https, because over http/,
			);
			expect(problemOf({ backupUrl: address })).toMatch(/Backup URL must start with https/);
			expect(problemOf({ baseUrl: address, allowHttp: 'true' })).toMatch(/must start with https/);
		},
	);

	it.each(['Authorization', 'content-type', 'Accept', 'HOST', 'Content-Length', 'X-Gateway-Async'])(
		'refuses the idempotency header %s, which requests already have',
		(idempotencyHeaderName) => {
			expect(problemOf({ idempotencyHeaderName })).toBe(
				'Model Gateway credential: Idempotency Header Name must not be a header that requests have already',
			);
		},
	);

	it.each(['five', '5/s', '-1', -1, '1,5', 'Infinity', Infinity, NaN, true, {}, [], [5]])(
		'refuses the limit of requests per second %j',
		(requestsPerSecond) => {
			expect(problemOf({ requestsPerSecond })).toBe(
				'Model Gateway credential: Requests per Second must be a number above 0, or empty for no limit',
			);
		},
	);
});
