import * as errors from '../../nodes/shared/gateway/errors/requestErrors';
import { errorCodes } from '../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../nodes/shared/n8n/errors/advice';
import { shown } from '../support/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const list = { purpose: 'list the models', cost: 'read' } as const;

type Request = errors.RequestInfo;
const noResponse = (request: Request, cause: unknown) => shown(errors.noResponse(request, cause));
const refused = (...given: Parameters<typeof errors.refused>) => shown(errors.refused(...given));
const unreadable = (...given: Parameters<typeof errors.unreadable>) =>
	shown(errors.unreadable(...given));

const unbilled =
	'A call whose answer was lost is not billed: run again, and check the network if it stays like this.';

/** As Node throws it. */
const networkError = (message: string, code?: string) =>
	Object.assign(new Error(message), { code });

describe('a request without an answer', () => {
	const tls = 'SSL routines:ssl3_get_record:wrong version number';

	it.each<[string, unknown]>([
		['nobody listens', networkError('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED')],
		['nobody listens on any address', networkError('', 'ECONNREFUSED')],
		['the name is unknown', networkError('getaddrinfo ENOTFOUND a.invalid', 'ENOTFOUND')],
		['the name server is silent', networkError('getaddrinfo EAI_AGAIN a.example', 'EAI_AGAIN')],
		['no route', networkError('connect EHOSTUNREACH 10.0.0.1:443', 'EHOSTUNREACH')],
		['no network', networkError('connect ENETUNREACH 10.0.0.1:443', 'ENETUNREACH')],
		['nobody answers the connect', networkError('connect ETIMEDOUT 10.0.0.1:443', 'ETIMEDOUT')],
		['no TLS at that port', networkError(`write EPROTO 8058:error:${tls}`, 'EPROTO')],
		['an expired certificate', networkError('certificate has expired', 'CERT_HAS_EXPIRED')],
		['an unknown issuer', networkError('unable to verify', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
		['a self-signed one', networkError('self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT')],
		['another name', networkError('does not match', 'ERR_TLS_CERT_ALTNAME_INVALID')],
		[
			'a reset during the handshake',
			networkError(
				'Client network socket disconnected before secure TLS connection was established',
				'ECONNRESET',
			),
		],
		['no address', networkError('Invalid URL', 'ERR_INVALID_URL')],
		[
			'layers of n8n',
			{ message: 'The service refused the connection', cause: { cause: { code: 'ECONNREFUSED' } } },
		],
		['the messages of n8n', { messages: [1, 'getaddrinfo ENOTFOUND a.invalid'] }],
		['the code of n8n', { httpCode: 'ENOTFOUND' }],
		['the response of n8n', { errorResponse: { code: 'ECONNREFUSED' } }],
	])('never left when there was %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('unsent');
		expect(record).toMatchObject({ status: 0, billed: 'no', retry_can_help: true });
		expect(record.message).toBe('Could not create the video: the gateway could not be reached');
	});

	it.each<[string, unknown]>([
		['a reset', networkError('read ECONNRESET', 'ECONNRESET')],
		['a hang-up', networkError('socket hang up', 'ECONNRESET')],
		['a silence', networkError('timeout of 60000ms exceeded', 'ECONNABORTED')],
		['a dead connection', networkError('read ETIMEDOUT', 'ETIMEDOUT')],
		['a broken pipe', networkError('write EPIPE', 'EPIPE')],
		['no HTTP', networkError('Parse Error: Expected HTTP/', 'HPE_INVALID_CONSTANT')],
		['nothing known', new Error('it broke')],
		['no error at all', undefined],
		['a text', 'it broke'],
	])('may have arrived when there was %s', (_, cause) => {
		const { record, reach } = noResponse(create, cause);
		expect(reach).toBe('lost');
		expect(record).toMatchObject({ status: 0, billed: 'unknown', retry_can_help: false });
		expect(record.advice).toContain('may have been accepted');
		expect(noResponse(list, cause).record).toMatchObject({ billed: 'no' });
		expect(noResponse(list, cause).record.advice).not.toContain('may have been accepted');
	});

	// As seen with a proxy that breaks the connection after the service has the whole request.
	it.each([
		['EHOSTUNREACH', 'read EHOSTUNREACH'],
		['ENETDOWN', 'read ENETDOWN'],
		[
			'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
			'801C:error:0A000119:SSL routines:ssl3_get_record:decryption failed or bad record mac',
		],
	])('may have arrived when an open connection broke with %s', (code, message) => {
		expect(noResponse(create, networkError(message, code)).reach).toBe('lost');
	});

	it('never left when no address of the host answers the connect', () => {
		const cause = new AggregateError([
			networkError('connect ETIMEDOUT 192.0.2.1:443', 'ETIMEDOUT'),
			networkError('connect ENETUNREACH 2001:db8::1:443', 'ENETUNREACH'),
		]);
		const failure = noResponse(create, Object.assign(cause, { code: 'ETIMEDOUT' }));
		expect(failure.reach).toBe('unsent');
	});

	it('names what the network said, once', () => {
		const cause = networkError('read ECONNRESET', 'ECONNRESET');
		const wrapped = Object.assign(new Error('read ECONNRESET', { cause }), { code: 'ECONNRESET' });
		expect(noResponse(list, wrapped).record.advice).toBe(
			`The network said: ECONNRESET, read ECONNRESET. ${unbilled}`,
		);
	});

	it('ends even when the layers of the error lead in a circle', () => {
		const cause: { message: string; cause?: unknown } = { message: 'round' };
		cause.cause = cause;
		expect(noResponse(list, cause).record.advice).toBe(`The network said: round. ${unbilled}`);
	});
});

describe('a refusal', () => {
	const refusal = (status: number, error: unknown, headers = {}) =>
		refused(create, { status, headers, text: JSON.stringify({ error }) });

	it.each([
		[{ code: 'rate_limit_exceeded' }, 'Lower Parallel Requests', true],
		[{ type: 'overloaded_error' }, 'run again later', true],
		[{ code: 'server_error' }, 'run again later', true],
		[{ type: 'invalid_request_error' }, 'Correct the value', false],
	])('that came with a 2xx status is read by its words: %j', (said, advice, heals) => {
		const { record } = refusal(200, { message: 'No', ...said });
		expect(record.advice).toContain(advice);
		expect(record).toMatchObject({ status: 200, retry_can_help: heals });
	});

	it.each([
		['Insufficient capacity right now, please slow down', true],
		['Insufficient account credit', false],
		['You have an insufficient quota', false],
	])('tells the rate limit from an empty account: %s', (message, heals) => {
		expect(refusal(429, { message }).record.retry_can_help).toBe(heals);
	});

	it.each(Object.entries(errorCodes))(
		'knows the code %s',
		(code, { meaning, refusal: kind, isTransient: heals }) => {
			expect(refusal(500, { code }).record).toMatchObject({
				message: `Could not create the video: ${meaning} (HTTP 500, ${code})`,
				advice: adviceOf([{ about: 'refusal', refusal: kind }]),
				code,
				billed: 'no',
				// A server in trouble may be wrong about all but the account.
				retry_can_help: heals || code !== 'quota_exceeded',
			});
		},
	);

	it.each([
		[400, 'the request was refused', false],
		[401, 'the API key is not valid', false],
		[402, 'the request was refused', false],
		[403, 'not permitted', false],
		[404, 'not found', false],
		[429, 'too many requests, or the balance is insufficient', true],
		[500, 'the service had an error', true],
		[504, 'the service had an error', true],
	])('says what %d means where the body does not', (status, meaning, retryCanHelp) => {
		const { record } = refused(list, { status, headers: {}, text: '<html>' });
		expect(record.message).toBe(
			`Could not list the models: ${meaning}, without saying why (HTTP ${status})`,
		);
		expect(record).toMatchObject({ status, retry_can_help: retryCanHelp, raw_body: '<html>' });
	});

	it('goes by the code rather than by the status', () => {
		const { record } = refusal(400, { message: 'no', code: 'upstream_error' });
		expect(record).toMatchObject({
			retry_can_help: true,
			advice: adviceOf([{ about: 'refusal', refusal: 'providerError' }]),
		});
	});

	it('has no field that the answer does not have', () => {
		expect(Object.keys(refusal(400, { message: 'no' }).record).sort()).toEqual(
			['advice', 'billed', 'message', 'raw_body', 'retry_can_help', 'status'].sort(),
		);
	});

	it('stays on one line however long the reason', () => {
		const { record } = refusal(400, { message: 'a\n\tb '.repeat(1000) });
		expect(record.message).toMatch(
			/^Could not create the video: a b a b .{280,300}… \(HTTP 400\)$/,
		);
	});

	it('for want of balance is not healed by trying again', () => {
		const { record } = refusal(429, { message: 'Insufficient balance' });
		expect(record.retry_can_help).toBe(false);
	});

	it('by a proxy may hide a job that was accepted', () => {
		const failure = refused(create, { status: 502, headers: {}, text: '<html>' });
		expect(failure.reach).toBe('lost');
		expect(failure.record.billed).toBe('unknown');
		expect(failure.record.advice).toContain('may have been accepted');
	});

	it.each([
		[504, { message: 'Endpoint request timed out' }],
		[502, { message: 'An invalid response was received from upstream', request_id: 'r1' }],
		[502, { statusCode: 502, error: 'Bad Gateway', message: 'connect ECONNREFUSED' }],
		[504, { type: 'about:blank', title: 'Gateway Timeout', detail: 'No answer', status: 504 }],
		[408, { message: 'Request timeout' }],
	])('by a proxy that speaks JSON may hide one too: %i %j', (status, body) => {
		const failure = refused(create, { status, headers: {}, text: JSON.stringify(body) });
		expect(failure.reach).toBe('lost');
		expect(failure.record.billed).toBe('unknown');
	});

	it.each([
		[500, { error: { message: 'No media' } }],
		[500, { message: 'No luck', code: 'upstream_error' }],
		[400, { message: 'No such ratio' }],
	])('in words of the service is its answer: %i %j', (status, body) => {
		const failure = refused(create, { status, headers: {}, text: JSON.stringify(body) });
		expect(failure).toMatchObject({ reach: 'answered', record: { billed: 'no' } });
	});

	it('keeps what the service asked to wait, and says it', () => {
		const wait = (milliseconds: number) =>
			refused(list, { status: 429, headers: {}, text: '' }, milliseconds);
		expect(wait(7000).retryAfter).toBe(7000);
		expect(wait(7000).record.advice).toMatch(/ The service asks to wait 7 s first\.$/);
		expect(wait(599_000).record.advice).toContain('10 minutes');
	});
});

describe('a 2xx status with a bad body', () => {
	it('keeps the body and the request id', () => {
		const answer = { status: 200, headers: { 'x-request-id': 'r1' }, text: '<html>' };
		const { record, reach } = unreadable(create, answer, 'is a web page');
		expect(record).toMatchObject({
			message: 'Could not create the video: the answer is a web page (HTTP 200)',
			request_id: 'r1',
			billed: 'unknown',
			raw_body: '<html>',
		});
		expect(reach).toBe('unreadable');
	});
});
