import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import * as errors from '../../../../nodes/shared/gateway/errors/requestErrors';
import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';
import { shown } from '../../../support/workflows/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const ofRefusal = errors.refused(create, { status: 400, headers: {}, text: '' }).failure;
const list = { purpose: 'list the models', cost: 'read' } as const;

type Request = errors.RequestInfo;
const noResponse = (request: Request, cause: unknown) =>
	shown(errors.noResponse(request, cause, new Redaction('')));
const refused = (...given: Parameters<typeof errors.refused>) => shown(errors.refused(...given));
const unreadable = (...given: Parameters<typeof errors.unreadable>) =>
	shown(errors.unreadable(...given));

const unbilled =
	'The service does not bill a call without a response: run again. If this keeps happening, check the network.';

/** As Node throws it. */
const networkError = (message: string, code?: string) =>
	Object.assign(new Error(message), { code });

/** As Node throws it while it looks up a name or connects. */
const connectError = (syscall: string, code: string) =>
	Object.assign(networkError(`${syscall} ${code} 10.0.0.1:443`, code), { syscall });

/** As axios throws it. */
const failedRequest = (socket: object | null, code = 'ECONNRESET') =>
	Object.assign(networkError('it broke', code), { request: { socket } });

describe('a request without a response', () => {
	it.each<[string, unknown]>([
		['nothing listens at the port', connectError('connect', 'ECONNREFUSED')],
		['the name is unknown', connectError('getaddrinfo', 'ENOTFOUND')],
		['the name server is silent', connectError('queryA', 'ETIMEOUT')],
		['there is no route to the host', connectError('connect', 'EHOSTUNREACH')],
		['the connect times out', connectError('connect', 'ETIMEDOUT')],
		['the request never got a socket', failedRequest(null)],
		['the port does not speak TLS', failedRequest({ secureConnecting: true }, 'EPROTO')],
		['the certificate is not trusted', failedRequest({ secureConnecting: true }, 'CERT')],
		[
			"the cause is wrapped in n8n's errors",
			{ message: 'No', cause: { cause: connectError('connect', 'ECONNREFUSED') } },
		],
		[
			"the cause is in n8n's errorResponse",
			{ errorResponse: connectError('connect', 'ECONNREFUSED') },
		],
		['n8n blocks the address', Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' })],
	])('reports a request as never sent when %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('unsent');
		expect(record).toMatchObject({ status: 0, billed: 'no', retry_can_help: true });
		expect(record.message).toBe('Could not create the video: the gateway could not be reached');
	});

	it.each<[string, unknown]>([
		['a reset', networkError('read ECONNRESET', 'ECONNRESET')],
		['a hang-up', networkError('socket hang up', 'ECONNRESET')],
		['a timeout', networkError('timeout of 60000ms exceeded', 'ECONNABORTED')],
		['a dead connection', networkError('read ETIMEDOUT', 'ETIMEDOUT')],
		['a broken pipe', networkError('write EPIPE', 'EPIPE')],
		[
			'a response that is not HTTP',
			networkError('Parse Error: Expected HTTP/', 'HPE_INVALID_CONSTANT'),
		],
		['an unknown error', new Error('it broke')],
		['no error at all', undefined],
		['a thrown text', 'it broke'],
	])('reports a create as possibly accepted after %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('lost');
		expect(record).toMatchObject({ status: 0, billed: 'unknown', retry_can_help: false });
		expect(record.advice).toContain('may have been accepted');
		expect(noResponse(list, cause).record).toMatchObject({ billed: 'no' });
		expect(noResponse(list, cause).record.advice).not.toContain('may have been accepted');
	});

	it.each([
		['a read that failed', Object.assign(networkError('read EHOSTUNREACH'), { syscall: 'read' })],
		['a TLS alert', failedRequest({ secureConnecting: false }, 'ERR_SSL_WRONG_VERSION_NUMBER')],
		['a reset of a plain HTTP connection', failedRequest({}, 'ECONNRESET')],
		[
			'an error that only reads like a failed handshake',
			networkError('write EPROTO, CERT', 'EPROTO'),
		],
		[
			'an error that only reads like a failed connect',
			networkError('connect ECONNREFUSED', 'ECONNREFUSED'),
		],
	])('does not report a create as never sent after %s', (_, cause) => {
		expect(noResponse(create, cause).reach).toBe('lost');
	});

	it('names the proxy to which no connection could be made', () => {
		const cause = Object.assign(connectError('connect', 'ECONNREFUSED'), {
			...{ address: '10.0.0.9', port: 3128 },
		});
		const { record } = noResponse({ ...create, url: 'https://gateway.example' }, cause);
		expect(record.message).toContain('the proxy 10.0.0.9:3128 could not be reached');
		expect(record.advice).toMatch(
			/10\.0\.0\.9:3128 \(HTTP_PROXY, HTTPS_PROXY\).*nothing was charged/,
		);
		expect(record.advice).not.toContain('Base URL');
		const own = Object.assign(cause, { port: 443 });
		expect(noResponse({ ...create, url: 'https://gateway.example' }, own).record.advice).toMatch(
			/^Check the Base URL/,
		);
	});

	it('says how n8n trusts a certificate that is not accepted', () => {
		const cause = failedRequest({ secureConnecting: true }, 'DEPTH_ZERO_SELF_SIGNED_CERT');
		expect(noResponse(create, cause).record.advice).toContain('NODE_EXTRA_CA_CERTS');
	});

	it("shows no key when the network's error quotes the request", () => {
		const cause = networkError('Invalid character in header ["Bearer sk-secret-0123456789"]');
		const { failure } = errors.noResponse(create, cause, new Redaction('sk-secret-0123456789'));
		expect(JSON.stringify(failure)).toContain('***');
		expect(JSON.stringify(failure)).not.toContain('sk-secret');
	});

	it('reports a request as never sent when no address of the host accepts a connection', () => {
		const cause = new AggregateError([
			connectError('connect', 'ETIMEDOUT'),
			connectError('connect', 'ENETUNREACH'),
		]);
		const failure = noResponse(create, Object.assign(cause, { code: 'ETIMEDOUT' }));
		expect(failure.reach).toBe('unsent');
	});

	it.each([
		['files.example refuses the connection (ECONNREFUSED', connectError('connect', 'ECONNREFUSED')],
		[
			'no response arrived from files.example within the time limit (ECONNABORTED, timeout of 9 ms exceeded)',
			networkError('timeout of 9 ms exceeded', 'ECONNABORTED'),
		],
		[
			'the connection was lost before the response arrived from files.example (EPIPE, write EPIPE)',
			networkError('write EPIPE', 'EPIPE'),
		],
	])('names the host of a file that could not be reached: %s', (message, cause) => {
		const { record } = noResponse({ ...list, host: 'files.example' }, cause);
		expect(record.message).toContain(message);
	});

	it("leaves out the HTTP client's own advice to retry", () => {
		const cause = new Error('Please retry later', { cause: networkError('read EIO', 'EIO') });
		expect(noResponse(list, cause).record.advice).toBe(
			`The network said: EIO, read EIO. ${unbilled}`,
		);
	});

	it('quotes the network error once although it occurs in two layers', () => {
		const cause = networkError('read ECONNRESET', 'ECONNRESET');
		const wrapped = Object.assign(new Error('read ECONNRESET', { cause }), { code: 'ECONNRESET' });
		expect(noResponse(list, wrapped).record.advice).toBe(
			`The network said: ECONNRESET, read ECONNRESET. ${unbilled}`,
		);
	});

	it('describes an error whose chain of causes is circular', () => {
		const cause: { message: string; cause?: unknown } = { message: 'round' };
		cause.cause = cause;
		expect(noResponse(list, cause).record.advice).toBe(`The network said: round. ${unbilled}`);
	});
});

describe('an error response', () => {
	const refusal = (status: number, error: unknown, headers = {}) =>
		refused(create, { status, headers, text: JSON.stringify({ error }) });

	it.each([
		[{ code: 'rate_limit_exceeded' }, 'Lower Parallel Requests', true],
		[{ type: 'overloaded_error' }, 'run again later', true],
		[{ code: 'server_error' }, 'run again later', true],
		[{ type: 'invalid_request_error' }, 'Correct the value', false],
	])('recognises an error response with a 2xx status: %j', (said, advice, retryCanHelp) => {
		const { record } = refusal(200, { message: 'No', ...said });
		expect(record.advice).toContain(advice);
		expect(record).toMatchObject({ status: 200, retry_can_help: retryCanHelp });
	});

	it.each([
		['Insufficient capacity right now, please slow down', true],
		['Insufficient account credit', false],
		['You have an insufficient quota', false],
	])('distinguishes a rate limit from an empty balance: %s', (message, retryCanHelp) => {
		expect(refusal(429, { message }).record.retry_can_help).toBe(retryCanHelp);
	});

	const ofService = Object.entries(errorCodes);
	it.each(ofService.filter(([, { refusal: kind }]) => kind !== 'responseNotDelivered'))(
		'explains the error code %s and says what to do',
		(code, { meaning, refusal: kind, isTransient }) => {
			expect(refusal(500, { code }).record).toMatchObject({
				message: `Could not create the video: ${meaning} (HTTP 500, ${code})`,
				advice: adviceOf({ ...ofRefusal, refusal: kind }),
				code,
				billed: 'no',
				retry_can_help: isTransient,
			});
		},
	);

	it('says that a job may have been accepted when the response could not be delivered', () => {
		const { record } = refusal(500, { code: 'write_response_body_failed' });
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: false });
		expect(record.advice).toContain('may have been accepted');
		expect(record.advice).not.toContain('Run again');
	});

	it.each([
		[400, 'the request was refused', false],
		[401, 'the API key is not valid', false],
		[402, 'the quota or balance is used up', false],
		[403, 'not permitted', false],
		[404, 'not found', false],
		[429, 'too many requests', true],
		[500, 'the service had an error', true],
		[504, 'the service had an error', true],
	])('says what HTTP %d means when the body does not', (status, meaning, retryCanHelp) => {
		const { record } = refused(list, { status, headers: {}, text: '<html>' });
		expect(record.message).toBe(
			`Could not list the models: ${meaning}; the response gives no reason (HTTP ${status})`,
		);
		expect(record).toMatchObject({ status, retry_can_help: retryCanHelp, raw_body: '<html>' });
	});

	it.each([
		[401, { 'www-authenticate': 'Basic realm="proxy"' }],
		[407, { 'proxy-authenticate': 'NTLM' }],
	])(
		'blames the proxy that asks for a login of its own, not the key (HTTP %d)',
		(status, headers) => {
			const { record } = refused(list, { status, headers, text: '<title>Login</title>' });
			expect(record.advice).toMatch(/^A proxy between n8n and the service asks for a login/);
		},
	);

	it.each([
		[60_000, 'wait 60 s first'],
		[3_000_000, 'wait 50 minutes first'],
		[80_000_000, 'wait 23 hours first'],
		[900_000_000, 'wait 11 days first'],
	])('says in its unit how long the service asks to wait (%d ms)', (retryAfter, said) => {
		const response = { status: 429, headers: {}, text: '' };
		expect(refused(list, response, retryAfter).record.advice).toContain(said);
		expect(refused(list, response, 1e14).record.advice).not.toContain('asks to wait');
	});

	it('mentions the balance for a 429 without a cause on the creation of a reference video', () => {
		const { record } = refused(
			{ ...create, statusMeanings: endpoints.referenceVideoCreate.statusMeanings },
			{ status: 429, headers: {}, text: '' },
		);
		expect(record.message).toContain('too many requests, or the balance is insufficient');
	});

	it('judges an error response by its code rather than by its status', () => {
		const { record } = refusal(400, { message: 'no', code: 'upstream_error' });
		expect(record).toMatchObject({
			retry_can_help: true,
			advice: adviceOf({ ...ofRefusal, refusal: 'providerError' }),
		});
	});

	it('reports no field that the error response does not have', () => {
		expect(Object.keys(refusal(400, { message: 'no' }).record).sort()).toEqual(
			['advice', 'billed', 'message', 'raw_body', 'retry_can_help', 'status'].sort(),
		);
	});

	it('shortens a long reason to one line', () => {
		const { record } = refusal(400, { message: 'a\n\tb '.repeat(1000) });
		expect(record.message).toMatch(
			/^Could not create the video: a b a b .{280,300}… \(HTTP 400\)$/,
		);
	});

	it('says that a retry cannot help when the balance is empty', () => {
		const { record } = refusal(429, { message: 'Insufficient balance' });
		expect(record.retry_can_help).toBe(false);
	});

	it('says that a job may have been accepted when a proxy responds', () => {
		const failure = refused(create, { status: 502, headers: {}, text: '<html>' });
		expect(failure.reach).toBe('proxied');
		expect(failure.record.billed).toBe('unknown');
		expect(failure.record.advice).toContain('may have been accepted');
	});

	it.each([
		[504, { message: 'Endpoint request timed out' }],
		[502, { message: 'An invalid response was received from upstream', request_id: 'r1' }],
		[502, { statusCode: 502, error: 'Bad Gateway', message: 'connect ECONNREFUSED' }],
		[504, { type: 'about:blank', title: 'Gateway Timeout', detail: 'No answer', status: 504 }],
		[408, { message: 'Request timeout' }],
	])(
		'says that a job may have been accepted when a proxy responds with JSON: %i %j',
		(status, body) => {
			const failure = refused(create, { status, headers: {}, text: JSON.stringify(body) });
			expect(failure.reach).toBe('proxied');
			expect(failure.record.billed).toBe('unknown');
		},
	);

	it.each([
		[500, { error: { message: 'No media' } }],
		[500, { message: 'No luck', code: 'upstream_error' }],
		[400, { message: 'No such ratio' }],
	])(
		"takes an error response in the service's form for one from the service: %i %j",
		(status, body) => {
			const failure = refused(create, { status, headers: {}, text: JSON.stringify(body) });
			expect(failure).toMatchObject({ reach: 'answered', record: { billed: 'no' } });
		},
	);

	it('reports how long the service asked to wait', () => {
		const wait = (milliseconds: number) =>
			refused(list, { status: 429, headers: {}, text: '' }, milliseconds);
		expect(wait(7000).retryAfter).toBe(7000);
		expect(wait(7000).record.advice).toMatch(/ The service asks to wait 7 s first\.$/);
		expect(wait(599_000).record.advice).toContain('10 minutes');
	});
});

describe('a 2xx response with an unusable body', () => {
	it('keeps the body and the request ID of a 2xx response that is a web page', () => {
		const response = { status: 200, headers: { 'x-request-id': 'r1' }, text: '<html>' };
		const { record, reach } = unreadable(create, response, 'is a web page');
		expect(record).toMatchObject({
			message: 'Could not create the video: the response is a web page (HTTP 200)',
			request_id: 'r1',
			billed: 'unknown',
			raw_body: '<html>',
		});
		expect(reach).toBe('unreadable');
	});
});
