import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import * as errors from '../../../../nodes/shared/gateway/errors/requestErrors';
import { errorCodes, passes } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';
import { shown } from '../../../support/workflows/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const ofRefusal = errors.refused(create, { status: 400, headers: {}, text: '' }).failure;
const list = { purpose: 'list the models', cost: 'read' } as const;

type Request = errors.RequestInfo;
const noResponse = (request: Request, cause: unknown) =>
	shown(errors.noResponse(request, cause, new Redaction('')));
const refused = (...given: Parameters<typeof errors.refused>) => shown(errors.refused(...given));

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
		['the request never got a socket', failedRequest(null)],
		['the certificate is not trusted', failedRequest({ secureConnecting: true }, 'CERT')],
		[
			"the cause is wrapped in n8n's errors",
			{ message: 'No', cause: { cause: connectError('connect', 'ECONNREFUSED') } },
		],
		["it is in n8n's errorResponse", { errorResponse: connectError('connect', 'ECONNREFUSED') }],
		['n8n blocks the address', Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' })],
	])('reports a request as never sent when %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('unsent');
		expect(record).toMatchObject({ status: 0, billed: 'no', retry_can_help: true });
		expect(record.message).toBe('Could not create the video: the gateway could not be reached');
	});

	it.each<[string, unknown]>([
		['a reset', networkError('read ECONNRESET', 'ECONNRESET')],
		['a timeout', networkError('timeout of 60000ms exceeded', 'ECONNABORTED')],
		['no error at all', undefined],
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
		['an error that reads like a connect', networkError('connect ECONNREFUSED', 'ECONNREFUSED')],
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
});

describe('an error response', () => {
	const refusal = (status: number, error: unknown, headers = {}) =>
		refused(create, { status, headers, text: JSON.stringify({ error }) });

	it.each([
		[{ code: 'rate_limit_exceeded' }, 'Lower Parallel Requests', true],
		[{ type: 'invalid_request_error' }, 'Correct the value', false],
	])('recognises an error response with a 2xx status: %j', (said, advice, retryCanHelp) => {
		const { record } = refusal(200, { message: 'No', ...said });
		expect(record.advice).toContain(advice);
		expect(record).toMatchObject({ status: 200, retry_can_help: retryCanHelp });
	});

	const ofService = Object.entries(errorCodes);
	it.each(ofService.filter(([, { refusal: kind }]) => kind !== 'responseNotDelivered'))(
		'explains the error code %s and says what to do',
		(code, { meaning, refusal: kind }) => {
			expect(refusal(500, { code }).record).toMatchObject({
				message: `Could not create the video: ${meaning} (HTTP 500, ${code})`,
				advice: adviceOf({ ...ofRefusal, refusal: kind }),
				code,
				billed: 'no',
				retry_can_help: passes(kind),
			});
		},
	);

	it.each([
		[400, 'the request was refused', false],
		[401, 'the API key is not valid', false],
		[403, 'not permitted', false],
		[429, 'too many requests', true],
		[500, 'the service had an error', true],
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
		['HTML', '<html><h1>403 Forbidden</h1></html>', {}],
		['a DOCTYPE', '<!DOCTYPE html><title>Filtered</title>', {}],
		['the type of a page, whose text was cut off', '', { 'content-type': 'text/html' }],
	])('blames neither the key nor the prompt for a 403 with %s', (_, page, headers) => {
		const advice = (text: string, given: Record<string, string>) =>
			refused(create, { status: 403, headers: given, text }).record.advice;
		expect(advice(page, headers)).toMatch(/^The response is a web page, probably of a proxy/);
		expect(advice('{"message":"Forbidden"}', {})).not.toContain('web page');
	});

	it.each([
		[60_000, 'wait 60 s first'],
		[3_000_000, 'wait 50 minutes first'],
	])('says in its unit how long the service asks to wait (%d ms)', (retryAfter, said) => {
		const response = { status: 429, headers: {}, text: '' };
		expect(refused(list, response, retryAfter).record.advice).toContain(said);
		expect(refused(list, response, 1e14).record.advice).not.toContain('asks to wait');
	});

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
});

describe('the advice on an order whose outcome is unknown', () => {
	const noKey = new Redaction('');
	const lost = new Error('read ECONNRESET');
	const text = JSON.stringify({ error: { code: 'write_response_body_failed' } });
	const undelivered = { status: 500, headers: {}, text };

	it.each([
		['no response arrived', errors.noResponse(create, lost, noKey)],
		['the response could not be delivered', errors.refused(create, undelivered)],
	])(
		'says that an order without a response is not charged but its job may still run: %s',
		(_, error) => {
			const { advice, billed, retry_can_help } = shown(error).record;
			expect([billed, retry_can_help]).toEqual(['unknown', false]);
			expect(advice).toMatch(/does not bill a call without a response/);
			expect(advice).toMatch(/does not say whether its job runs all the same/);
			expect(advice).toMatch(/Order again only if a second video is acceptable/);
			expect(advice).not.toMatch(/run again|look into/i);
		},
	);

	it('says that more than one job may have been accepted when the user chose to resend', () => {
		const { failure } = errors.noResponse({ ...create, resendsLost: true }, lost, noKey);
		const outcome = { isUnbilled: true, isResent: true, requests: 2 };
		const error = new GatewayError({ ...failure, mayBeAccepted: outcome });
		const { advice } = shown(error).record;
		expect(advice).toMatch(/more than one job may have been accepted/);
		expect(advice).toMatch(/Order again only if a second video is acceptable\./);
		expect(advice).not.toMatch(/was not sent again|Send Again/);
	});
});
