import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import * as errors from '../../../../nodes/shared/service/errors/requestErrors';
import { errorCodes, refusals } from '../../../../nodes/shared/service/protocol/errorCodes';
import { shown } from '../../../support/workflows/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const list = { purpose: 'list the models', cost: 'read' } as const;
const atGateway = { ...create, url: 'https://gateway.example' };

type Request = errors.RequestInfo;
const noResponse = (request: Request, cause: unknown, key = '') =>
	shown(errors.noResponse(request, cause, new Redaction(key)));
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
	const refusedConnection = connectError('connect', 'ECONNREFUSED');
	const allAddresses = new AggregateError(
		['ETIMEDOUT', 'ENETUNREACH'].map((code) => connectError('connect', code)),
	);

	it.each<[string, unknown]>([
		['nothing listens at the port', refusedConnection],
		['the request never got a socket', failedRequest(null)],
		['the certificate is not trusted', failedRequest({ secureConnecting: true }, 'CERT')],
		["the cause is wrapped in n8n's errors", { cause: { cause: refusedConnection } }],
		["it is in n8n's errorResponse", { errorResponse: refusedConnection }],
		['n8n blocks the address', Object.assign(new Error('no'), { name: 'SsrfBlockedIpError' })],
		[
			'no address of the host accepts a connection',
			Object.assign(allAddresses, { code: 'ETIMEDOUT' }),
		],
	])('was never sent when %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('unsent');
		expect(record).toMatchObject({ status: 0, billed: 'no', retry_can_help: true });
		expect(record.message).toMatch(/^Could not create the video: the gateway could not be reached/);
	});

	it.each<[string, unknown]>([
		['a timeout', networkError('timeout of 60000ms exceeded', 'ECONNABORTED')],
		['no error at all', undefined],
		['a read that failed', Object.assign(networkError('EHOSTUNREACH'), { syscall: 'read' })],
		['a TLS alert', failedRequest({ secureConnecting: false }, 'ERR_SSL_WRONG_VERSION_NUMBER')],
		['an error that reads like a connect', networkError('connect ECONNREFUSED', 'ECONNREFUSED')],
	])('may have been accepted after %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('lost');
		expect(record.billed).toBe('unknown');
		expect(record.advice).toContain('may have been accepted');
		expect(noResponse(list, cause).record.advice).not.toContain('may have been accepted');
	});

	it('names the proxy to which no connection could be made', () => {
		const atProxy = { address: '10.0.0.9', port: 3128 };
		const cause = Object.assign(connectError('connect', 'ECONNREFUSED'), atProxy);
		const { message, advice } = noResponse(atGateway, cause).record;
		expect(message).toContain('the proxy 10.0.0.9:3128 could not be reached');
		expect(advice).toMatch(/this proxy \(HTTP_PROXY, HTTPS_PROXY\).*nothing was charged/);
		expect(advice).not.toContain('Base URL');
		const own = Object.assign(cause, { port: 443 });
		expect(noResponse(atGateway, own).record.advice).toMatch(/^Check the Base URL/);
	});

	it("shows no key when the network's error quotes the request", () => {
		const key = 'sk-secret-0123456789';
		const cause = networkError(`Invalid character in header ["Bearer ${key}"]`);
		const failure = JSON.stringify(noResponse(create, cause, key));
		expect(failure).toContain('***');
		expect(failure).not.toContain('sk-secret');
	});
});

describe('an error response', () => {
	const ofService = Object.entries(errorCodes);

	it.each(ofService)('says what its code means: %s', (code, kind) => {
		const { meaning } = refusals[kind];
		const text = JSON.stringify({ error: { code } });
		const { record } = refused(create, { status: 500, headers: {}, text });
		expect(record.message).toBe(`Could not create the video: ${meaning} (HTTP 500, ${code})`);
		expect(record.code).toBe(code);
	});

	it.each([
		[400, 'the request was refused'],
		[429, 'too many requests'],
		[500, 'the service had an error'],
	])('without a reason says what HTTP %d means', (status, meaning) => {
		const { record } = refused(list, { status, headers: {}, text: '<html>' });
		expect(record.message).toBe(
			`Could not list the models: ${meaning}; the response gives no reason (HTTP ${status})`,
		);
		expect(record.raw_body).toBe('<html>');
	});

	it.each([
		[60_000, 'wait 60 s first'],
		[3_000_000, 'wait 50 minutes first'],
	])('says in its unit how long to wait: %d ms', (retryAfter, said) => {
		const response = { status: 429, headers: {}, text: '' };
		expect(refused(list, { ...response, retryAfter }).record.advice).toContain(said);
		expect(refused(list, { ...response, retryAfter: 1e14 }).record.advice).not.toContain(
			'asks to wait',
		);
	});
});

describe('the advice on an order whose outcome is unknown', () => {
	const lost = new Error('read ECONNRESET');

	it('says that it is not charged but its job may still run', () => {
		expect(noResponse(create, lost).record.advice).toMatch(
			/does not bill a call .* does not say whether its job runs .* only if a second video is/,
		);
	});

	it.each([
		['task', 'within 24 hours'],
		['video', ''],
	])('says how to collect the job that an error names: %s', (kind, time) => {
		const media = kind === 'task' ? ('given' as const) : undefined;
		const body = { error: { code: 'upstream_error', message: 'Busy' }, data: { task_id: 'job-1' } };
		const { record } = refused(
			{ ...create, media },
			{ status: 500, headers: {}, text: JSON.stringify(body) },
		);
		expect(record).toMatchObject({ billed: 'unknown', job: { id: 'job-1', kind } });
		expect(record.advice).toContain('Collect it by its ID job-1');
		expect(record.advice).toContain(time);
	});

	it('says that more than one job may have been accepted when the user chose to resend', () => {
		const resent = { ...create, resendsLost: true };
		const { failure } = errors.noResponse(resent, lost, new Redaction(''));
		const { advice } = shown(new GatewayError({ ...failure, requests: 2 })).record;
		expect(advice).toMatch(/more than one job may have been accepted/);
		expect(advice).not.toMatch(/was not sent again|Send Again/);
	});
});
