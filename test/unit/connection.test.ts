import { mayHaveKey } from '../../nodes/shared/gateway/client/connection';
import { GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { noResponse } from '../../nodes/shared/gateway/errors/requestErrors';
import { TimeLimitError } from '../../nodes/shared/gateway/errors/networkError';
import { connectionFrom } from '../../nodes/shared/n8n/client/connection';
import { adviceOf } from '../../nodes/shared/n8n/errors/advice';
import { credentialProblem } from '../../nodes/shared/n8n/errors/credentialProblem';

const credential = { apiKey: 'sk-1', baseUrl: 'https://gateway.example' };

describe('a credential', () => {
	it('with the fields that must be there is enough', () => {
		expect(connectionFrom(credential)).toEqual({
			key: 'sk-1',
			baseUrl: 'https://gateway.example',
			backupUrl: undefined,
			asyncHeaderName: 'X-Gateway-Async',
		});
	});

	it('may name all', () => {
		const all = {
			...credential,
			backupUrl: 'http://127.0.0.1:8080/path',
			asyncHeaderName: 'X-Vendor-Async',
			idempotencyHeaderName: ' Idempotency-Key ',
		};
		expect(connectionFrom(all)).toEqual({
			key: 'sk-1',
			baseUrl: 'https://gateway.example',
			backupUrl: 'http://127.0.0.1:8080/path',
			asyncHeaderName: 'X-Vendor-Async',
			idempotencyHeaderName: 'Idempotency-Key',
		});
	});

	it.each([
		[' https://gateway.example ', 'https://gateway.example'],
		['https://gateway.example/', 'https://gateway.example'],
		['https://gateway.example///', 'https://gateway.example'],
		['https://gateway.example/a/b/', 'https://gateway.example/a/b'],
		['HTTPS://gateway.example', 'HTTPS://gateway.example'],
		['https://gateway.example/v1', 'https://gateway.example'],
		['https://gateway.example/v1/v1', 'https://gateway.example/v1'],
		['https://gateway.example/v1/v1/', 'https://gateway.example/v1'],
		['https://gateway.example/a//V1/ ', 'https://gateway.example/a'],
		['https://gateway.example/v11', 'https://gateway.example/v11'],
		['https://gateway.example/av1', 'https://gateway.example/av1'],
	])('has an address without a slash and the version at its end: "%s"', (address, expected) => {
		const connection = connectionFrom({ ...credential, baseUrl: address, backupUrl: address });
		expect([connection.baseUrl, connection.backupUrl]).toEqual([expected, expected]);
	});

	it.each(['http://127.0.0.1:1', 'http://localhost', 'http://[::1]:8080/path'])(
		'reaches this machine without encryption: %s',
		(baseUrl) => expect(connectionFrom({ ...credential, baseUrl }).baseUrl).toBe(baseUrl),
	);

	it('sends the key unencrypted when the user says so', () => {
		const baseUrl = 'http://gateway.example';
		expect(connectionFrom({ ...credential, baseUrl, allowHttp: true }).baseUrl).toBe(baseUrl);
	});

	it.each([
		...[' sk-1\n', 'Bearer sk-1', 'bearer   sk-1 ', ' Bearer sk-1'],
		...['sk-1\u200b', '\ufeffBearer\tsk-1', 'sk\r\n-1', 'Bearer\nsk-1'],
	])('has a key without what was pasted along: %j', (apiKey) =>
		expect(connectionFrom({ ...credential, apiKey }).key).toBe('sk-1'),
	);

	it.each<[unknown, number | undefined]>([
		['5', 5],
		[' 0.5 ', 0.5],
		[2.5, 2.5],
		['1e2', 100],
		['', undefined],
		[' ', undefined],
		['0', undefined],
		[0, undefined],
		[undefined, undefined],
		[null, undefined],
	])('may limit the requests per second: %j', (requestsPerSecond, expected) => {
		const { limits } = connectionFrom({ ...credential, requestsPerSecond });
		expect(limits).toEqual(expected && { requestsPerSecond: expected });
	});

	it.each<[unknown, number | undefined]>([
		['20', 20],
		[1, 1],
		['', undefined],
		['0', undefined],
		[undefined, undefined],
	])('may limit the requests in flight: %j', (requestsInFlight, expected) => {
		const { limits } = connectionFrom({ ...credential, requestsInFlight });
		expect(limits).toEqual(expected && { requestsInFlight: expected });
	});

	it.each(['', '  ', undefined, null])('without a backup URL has none: %j', (backupUrl) => {
		expect(connectionFrom({ ...credential, backupUrl }).backupUrl).toBeUndefined();
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

	it.each(['', ' ', 'Bearer ', 'Bearer', undefined, 7])('has no key: %j', (apiKey) => {
		expect(problemOf({ apiKey })).toBe('Model Gateway credential: API Key is empty');
	});

	it.each(['', 'gateway.example', 'ftp://gateway.example', 'https://', 'https://a b', undefined])(
		'has no address: %j',
		(baseUrl) => {
			expect(problemOf({ baseUrl })).toBe(
				'Model Gateway credential: Base URL must be an address that starts with https://',
			);
		},
	);

	it('has no user name in its address', () => {
		expect(problemOf({ baseUrl: 'https://somebody:secret@gateway.example' })).toBe(
			'Model Gateway credential: Base URL must not have a user name in it',
		);
	});

	it.each(['http://gateway.example', 'HTTP://10.0.0.7:8080', 'http://localhost.example'])(
		'would send the key unencrypted: %s',
		(address) => {
			expect(problemOf({ baseUrl: address })).toMatch(
				/Base URL must start with https, because over http/,
			);
			expect(problemOf({ backupUrl: address })).toMatch(/Backup URL must start with https/);
			expect(problemOf({ baseUrl: address, allowHttp: 'true' })).toMatch(/must start with https/);
		},
	);

	it.each(['two words', 'a:b', 'a\nb', 'ä'])('has no header name: %j', (asyncHeaderName) => {
		expect(problemOf({ asyncHeaderName })).toBe(
			'Model Gateway credential: Async Header Name must be the name of an HTTP header',
		);
	});

	it.each(['Authorization', 'host', 'Content-Type'])(
		'would replace a header that every request needs: %s',
		(asyncHeaderName) => {
			expect(problemOf({ asyncHeaderName })).toBe(
				'Model Gateway credential: Async Header Name must not be a header that requests have already',
			);
		},
	);

	it.each(['two words', 'a:b', 'ä'])(
		'has no header name for its orders: %j',
		(idempotencyHeaderName) => {
			expect(problemOf({ idempotencyHeaderName })).toBe(
				'Model Gateway credential: Idempotency Header Name must be the name of an HTTP header',
			);
		},
	);

	it.each(['Authorization', 'content-type', 'Accept', 'HOST', 'Content-Length', 'X-Gateway-Async'])(
		'has a header for its orders that requests have already: %s',
		(idempotencyHeaderName) => {
			expect(problemOf({ idempotencyHeaderName })).toBe(
				'Model Gateway credential: Idempotency Header Name must not be a header that requests have already',
			);
		},
	);

	it.each(['five', '5/s', '-1', -1, '1,5', 'Infinity', Infinity, NaN, true, {}, [], [5]])(
		'has no limit of requests per second: %j',
		(requestsPerSecond) => {
			expect(problemOf({ requestsPerSecond })).toBe(
				'Model Gateway credential: Requests per Second must be a number above 0, or empty for no limit',
			);
		},
	);

	it.each(['many', '-1', '0.5', 2.5, true])(
		'has no limit of requests in flight: %j',
		(requestsInFlight) => {
			expect(problemOf({ requestsInFlight })).toBe(
				'Model Gateway credential: Requests in Flight must be a whole number, or empty for no limit',
			);
		},
	);

	it('is told all its problems at once', () => {
		const fields = { apiKey: '', baseUrl: 'a', backupUrl: 'b', asyncHeaderName: ':' };
		const problem = problemOf(fields);
		for (const field of ['API Key', 'Base URL', 'Backup URL', 'Async Header Name']) {
			expect(problem).toContain(field);
		}
	});
});

describe('the key', () => {
	const own = { baseUrl: 'https://host.example/gw', backupUrl: 'https://backup.example/b' };

	it.each([
		...['https://host.example/gw/v1/models', 'HTTPS://HOST.example:443/gw/v1/models?a=../..'],
		...[
			'https://backup.example/b/',
			'https://host.example/gw/a%20b/%E4%B8%96',
			'/gw/v1',
			'/gw/v.v',
		],
		...['https://host.example/gw/./v1', 'https://host.example/gw/a/../b', '/gw/a..b', '/gw/100%'],
	])('may go to %s, which is below its base URL', (address) => {
		const { href } = new URL(address, 'https://host.example');
		expect(mayHaveKey(href, own)).toBe(true);
	});

	it.each([
		...['/gw', '/gwx/v1', '/GW/v1', '/other', '/gw/../other', '/gw/%2e%2e/other', '/gw/.%2E/other'],
		...[
			'/gw/..%2fother',
			'/gw/..%5cother',
			'/gw/%2e%2e%2fother',
			'/gw/..%252fother',
			'/gw\\..\\other',
		],
		...[
			'/gw/%252e%252e/other',
			'/gw/%25252e%25252e%25252fother',
			'/gw/..;/other',
			'/gw/..%3b/other',
		],
		...[
			'/gw/%%32%65%%32%65/other',
			'/gw/%c0%ae%c0%ae/other',
			'/gw/..%c0%afother',
			'/gw/%u002e./other',
		],
		...['/gw/x/..%2f..%2fother', '/gw//..%2f..%2fother', '/gw/%20../other', '/gw/..%00/other'],
		...['/gw/.%09./other', '/gw/%2525252525252e%2525252525252e/other', '//other.example/gw/v1'],
		...[
			'https://host.example:8443/gw/v1',
			'http://host.example/gw/v1',
			'https://host.example./gw/v1',
		],
		...[
			'https://user@host.example/gw/v1',
			'https://:pw@host.example/gw/v1',
			'data:text/plain,/gw/v1',
		],
		...['https://host.example@other.example/gw/v1', 'https://backup.example/gw/v1', '/gw/%2e%2e'],
	])('does not go to %s, which some server may take for another place', (address) => {
		const { href } = new URL(address, 'https://host.example/gw/v1/models');
		expect(mayHaveKey(href, own)).toBe(false);
	});

	it('may go anywhere on the host of a base URL without a path', () => {
		expect(mayHaveKey('https://host.example/x', { baseUrl: 'https://host.example' })).toBe(true);
	});
});

describe('an address that cannot be reached', () => {
	it.each([
		[
			Object.assign(new Error('self-signed certificate'), {
				...{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', request: { socket: { secureConnecting: true } } },
			}),
			'Base URL: the encrypted connection failed, because the certificate of the server is not accepted.',
		],
		[
			Object.assign(new Error('connect EHOSTUNREACH'), {
				code: 'EHOSTUNREACH',
				syscall: 'connect',
			}),
			'Base URL: the server cannot be reached (EHOSTUNREACH, connect EHOSTUNREACH).',
		],
		[
			new TimeLimitError(15_000),
			'Base URL https://gateway.example gave no answer (the time limit of 15 s passed). Check the address, or test again later.',
		],
	])('is named in the dialog of the credential: %s', (cause, problem) => {
		const error = noResponse({ purpose: 'list the models', cost: 'read' }, cause);
		expect(credentialProblem(error, 'Base URL', credential.baseUrl)).toBe(problem);
	});
});

it('names the host of a file whose certificate is not accepted, and not the gateway', () => {
	const cause = Object.assign(new Error('self-signed certificate'), {
		...{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', request: { socket: { secureConnecting: true } } },
	});
	const request = { purpose: 'download it', cost: 'read', host: 'storage.example' } as const;
	const { message, remedies } = noResponse(request, cause).failure;
	expect(message).toMatch(/^Could not download it: the TLS certificate of storage.example is not/);
	expect(adviceOf(remedies)).toMatch(/replaces the certificate of storage.example.*NODE_EXTRA_CA_/);
});
