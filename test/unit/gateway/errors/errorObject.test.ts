import {
	jobFailureReason,
	readErrorObject,
	readReason,
	requestIdOf,
} from '../../../../nodes/shared/gateway/errors/errorObject';
import { fc } from '../../../support/data/fuzz';

describe('the error object', () => {
	const full = { message: 'no', code: 'a_code', type: 'a_type', param: 'model' };

	it.each<[string, unknown, object | undefined]>([
		['in the form of the specification', { error: full }, full],
		['with param null', { error: { ...full, param: null } }, { ...full, param: undefined }],
		['at the top level', full, full],
		['that is a text', { error: ' no ' }, { message: 'no' }],
		[
			'that is a text beside its code',
			{ error: 'no', code: 'a_code' },
			{ message: 'no', code: 'a_code' },
		],
		[
			'with a number as code',
			{ error: { message: 'no', code: 1101 } },
			{ message: 'no', code: '1101' },
		],
		['with a code only', { error: { code: 'a_code' } }, { code: 'a_code' }],
		['in the form of web frameworks', { detail: 'no' }, { message: 'no' }],
		[
			'with other field names',
			{ msg: 'no', error_code: 'a_code' },
			{ message: 'no', code: 'a_code' },
		],
		['that is null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['that is true beside a message', { error: true, message: 'no' }, { message: 'no' }],
		['none when it is empty', { error: {} }, undefined],
		['none when it is an empty text', { error: ' ' }, undefined],
		['none in an empty body', {}, undefined],
		['none in a list of numbers', [7], undefined],
		['none in null', null, undefined],
		['none in an empty text', ' ', undefined],
	])('reads the error object of a body: %s', (_, body, expected) => {
		// JSON text, because absent and undefined fields mean the same here.
		expect(JSON.stringify(sorted(readErrorObject(body)))).toBe(JSON.stringify(sorted(expected)));
	});

	const raw = JSON.stringify({ error: { message: 'max_tokens too large', code: 'inner' } });
	const loc = ['body', 'messages', 0];

	it.each<[string, unknown, object]>([
		['a text', 'no', { message: 'no' }],
		['a list of texts', ['no', 'not at all'], { message: 'no; not at all' }],
		['Baidu', { error_code: 17, error_msg: 'no' }, { message: 'no', code: '17' }],
		['camel case', { errorCode: 'a_code', errorMessage: 'no' }, { message: 'no', code: 'a_code' }],
		['AWS', { __type: 'Throttling', Message: 'no' }, { message: 'no', type: 'Throttling' }],
		['capitals', { Error: { Code: 'a', Message: 'no' } }, { message: 'no', code: 'a' }],
		['errors', { errors: [{ message: 'no', code: 1003 }] }, { message: 'no', code: '1003' }],
		['errors as texts', { errors: ['a', 'b', 'a', 'c', 'd'] }, { message: 'a; b; c; …' }],
		[
			'errors beside a message',
			{ message: 'Refused.', errors: [{ message: 'no' }] },
			{ message: 'Refused: no' },
		],
		[
			'errors by field',
			{ errors: { prompt: ['a', 'b'], n: 'c' } },
			{ message: 'prompt: a; b; n: c' },
		],
		['Django', { prompt: ['is required'] }, { message: 'prompt: is required' }],
		['Gemini', [{ error: { code: 400, message: 'no' } }], { message: 'no', code: '400' }],
		[
			'FastAPI',
			{
				detail: [
					{ loc, msg: 'field required', type: 'missing' },
					{ loc: ['body', 'n'], msg: 'no' },
				],
			},
			{ message: 'body.messages.0: field required; body.n: no' },
		],
		['detail as an object', { detail: { error: { message: 'no' } } }, { message: 'no' }],
		[
			'ElevenLabs',
			{ detail: { status: 'quota_exceeded', message: 'no' } },
			{ message: 'no', code: 'quota_exceeded' },
		],
		[
			'OpenRouter, with JSON',
			{ error: { message: 'Provider returned error', code: 400, metadata: { raw } } },
			{ message: 'Provider returned error: max_tokens too large', code: '400' },
		],
		[
			'OpenRouter, with an object',
			{ error: { message: 'Provider returned error', metadata: { raw: { error: 'no' } } } },
			{ message: 'Provider returned error: no' },
		],
		[
			'OpenRouter, with a text',
			{ error: { message: 'Provider returned error', metadata: { raw: 'no' } } },
			{ message: 'Provider returned error: no' },
		],
		[
			'OAuth',
			{ error: 'invalid_token', error_description: 'It has expired' },
			{ message: 'It has expired', code: 'invalid_token' },
		],
		[
			'NestJS',
			{ statusCode: 400, error: 'Bad Request', message: ['n must be 1', 'no'] },
			{ message: 'Bad Request: n must be 1; no' },
		],
		[
			'RFC 9457',
			{ type: 'about:blank', title: 'Out of credit.', status: 403, detail: 'It is 30.' },
			{ message: 'Out of credit: It is 30.', type: 'about:blank' },
		],
		[
			'a fault',
			{ fault: { faultstring: 'no', detail: { errorcode: 'a' } } },
			{ message: 'no', code: 'a' },
		],
		['success: false', { success: false, msg: 'no' }, { message: 'no' }],
		[
			'MiniMax',
			{ base_resp: { status_code: 1008, status_msg: 'no' } },
			{ message: 'no', code: '1008' },
		],
		['DashScope', { code: 'Arrearage', message: 'no' }, { message: 'no', code: 'Arrearage' }],
		[
			'Tencent',
			{ Response: { Error: { Code: 'a', Message: 'no' }, RequestId: 'r' } },
			{ message: 'no', code: 'a' },
		],
		['an error in data', { code: 7, data: { error_msg: 'no' } }, { message: 'no', code: '7' }],
		['a code beside data', { code: 'a', data: { id: 'b' } }, { code: 'a' }],
		['a page in an error', { error: '<html><title>No &amp; no</title>' }, { message: 'No & no' }],
		['a text that looks like markup', { error: '<x> is unknown' }, { message: '<x> is unknown' }],
		['nothing when all is well', { base_resp: { status_code: 0, status_msg: 'success' } }, {}],
	])('reads the reason in the form of other services: %s', (_, body, expected) => {
		expect(readErrorObject(body) ?? {}).toEqual(expected);
	});

	it('gives up on an error within very many others', () => {
		let body: unknown = 'no';
		for (let level = 0; level < 50; level++) body = { error: { error: [{ details: body }] } };
		expect(readErrorObject(body)).toBeUndefined();
	});

	const sorted = (fields: object | undefined) =>
		fields && Object.fromEntries(Object.entries(fields).sort());

	it('never throws on any error object', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (error) => {
				readErrorObject(error);
				readErrorObject({ error });
			}),
		);
	});
});

describe('the reason why a job failed', () => {
	it.each<[string, unknown, object]>([
		['an object', { error: { code: 'a_code', message: 'no' } }, { code: 'a_code', message: 'no' }],
		['a text', { error: 'no' }, { message: 'no' }],
		['a text in output', { output: { error: 'no' } }, { message: 'no' }],
		['an object in data', { data: { error: { message: 'no' } } }, { message: 'no' }],
		[
			'the native form in output',
			{ output: { task_status: 'FAILED', code: 'InternalError', message: 'no' } },
			{ message: 'no', code: 'InternalError' },
		],
		['failure_reason', { failure_reason: 'no' }, { message: 'no' }],
		['an object with unknown fields', { error: { why: 'no' } }, { message: 'why: no' }],
		['an object without a text', { error: { number: 7 } }, { message: '{"number":7}' }],
		['a list', { error: ['no', { message: 'not at all' }] }, { message: 'no; not at all' }],
		['fail_reason', { status: 'FAILURE', fail_reason: 'no' }, { message: 'no' }],
		['failReason', { failReason: 'no' }, { message: 'no' }],
		['error_msg', { error_code: 7, error_msg: 'no' }, { message: 'no', code: '7' }],
		['a message in output', { output: { message: 'no' } }, { message: 'no' }],
		[
			'fail_reason in data, beside the message of the call',
			{ code: 'success', message: 'ok, here it is', data: { fail_reason: 'no' } },
			{ message: 'no' },
		],
		[
			'a message in data, beside that of the call',
			{ code: 0, message: 'SUCCEED', data: { task_status: 'failed', task_status_msg: 'no' } },
			{ message: 'no' },
		],
		[
			'a list in data',
			{ data: { errors: [{ msg: 'no' }, { msg: 'never' }] } },
			{ message: 'no; never' },
		],
		[
			'an error beside its progress',
			{ message: 'Rendering', error: { message: 'no' } },
			{ message: 'no' },
		],
		['a code only', { error: { code: 'a_code' } }, { code: 'a_code' }],
		['none in the success of the call', { code: 200, message: 'success', status: 'failed' }, {}],
		['a number', { error: 7 }, { message: '7' }],
		['null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['none in a job without a reason', { status: 'failed' }, {}],
		['none when it is null', { error: null }, {}],
		['none in a text instead of a job', 'failed', {}],
	])('reads the reason why a job failed: %s', (_, job, expected) => {
		expect(jobFailureReason(job)).toEqual(expected);
	});

	it.each([{ error: '' }, { error: {} }, { error: [] }])(
		'finds no reason why a job failed in %j',
		(job) => {
			expect(jobFailureReason(job)).toEqual({});
		},
	);

	it('never throws on any reason why a job failed, and returns it as text', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				for (const job of [
					value,
					{ error: value },
					{ output: value },
					{ data: { error: value } },
				]) {
					const { message = '' } = jobFailureReason(job);
					expect(typeof message).toBe('string');
				}
			}),
		);
	});
});

describe('the reason in a body that is not JSON', () => {
	const html = (...parts: string[]) => `<!DOCTYPE html>\n<html><head>${parts.join('')}</html>`;

	it.each<[string, string, string, string | undefined]>([
		['a text', 'text/plain', 'Too many\n requests\n', 'Too many requests'],
		['a text of unknown type', '', 'no healthy upstream', 'no healthy upstream'],
		[
			'a title',
			'text/html',
			html('<title>\n413 Too&#32;Large </title>', '<h1>Other</h1>'),
			'413 Too Large',
		],
		['a title with attributes', '', html('<TITLE lang="en">No</TITLE>'), 'No'],
		['a title that breaks off', 'text/html', '<html><title>Bad Gatew', 'Bad Gatew'],
		['a heading', 'text/html', '<h1 class="a">Bad <b>Gateway</b></h1><p>nginx</p>', 'Bad Gateway'],
		['a heading after an empty title', '', html('<title> </title>', '<h1>No</h1>'), 'No'],
		[
			'the text after a title that says nothing',
			'',
			html('<title>Error</title>', '<body><pre>No</pre>'),
			'No',
		],
		[
			'the text of a page without its style and script',
			'text/html',
			html(
				'<style>p { a: b }</style><script>if (a < b) c();</script>',
				'<body><p>No</p> <p>luck</p>',
			),
			'No luck',
		],
		[
			'entities',
			'text/html',
			'<h1>&quot;a&quot; &lt; b &amp; c&#x2F;d &#039;e&#39; &nbsp;&ndash; &unknown; &#99999999;</h1>',
			`"a" < b & c/d 'e' – &unknown; &#99999999;`,
		],
		[
			'XML',
			'application/xml',
			'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>No such key</Message></Error>',
			'NoSuchKey: No such key',
		],
		['XML in small letters', '', '<error><message>No</message></error>', 'No'],
		['SOAP', 'text/xml', '<s:Fault><faultstring xml:lang="en">No</faultstring></s:Fault>', 'No'],
		['XML with CDATA', '', '<a:Error><a:Message><![CDATA[a < b]]></a:Message></a:Error>', 'a < b'],
		['other XML', 'application/xml', '<problem><what>No</what></problem>', 'No'],
		['a byte order mark', 'text/plain', '\ufeffNo', 'No'],
		['nothing in an empty text', 'text/plain', ' \n', undefined],
		['nothing in an empty page', 'text/html', '<html></html>', undefined],
		['nothing in a file', 'image/png', 'PNG', undefined],
		['nothing in bytes', '', 'a\u0000b', undefined],
	])('reads the reason in %s', (_, type, text, expected) => {
		expect(readReason(text, { 'content-type': type })).toBe(expected);
	});

	it('shortens a long reason', () => {
		expect(readReason(`<title>${'no '.repeat(500)}</title>`, {})).toHaveLength(201);
		expect(readReason('no '.repeat(500), {})).toHaveLength(201);
	});

	it('never throws on any text, and returns one short line', () => {
		const parts = fc.constantFrom(
			...[
				'<',
				'>',
				'</',
				'title',
				'<title>',
				'</title>',
				'<h1>',
				'Message',
				'<Message>',
				'<![CDATA[',
			],
			...[
				']]>',
				'&',
				'&#',
				'&#x',
				';',
				'&amp;',
				'<script>',
				'</script',
				'<!--',
				' ',
				'\n',
				'a',
				':',
			],
		);
		const texts = fc.oneof(
			fc.string(),
			fc.array(parts).map((all) => all.join('')),
		);
		fc.assert(
			fc.property(texts, (text) => {
				expect(readReason(text, {}) ?? 'no').toMatch(/^[^\n]{1,201}$/);
			}),
		);
	});
});

describe('the request id', () => {
	it.each([
		[{ 'x-request-id': ' r1 ' }, { request_id: 'r2' }, 'r1'],
		[{}, { request_id: 'r2' }, 'r2'],
		[{}, { error: { request_id: 'r3' } }, 'r3'],
		[{ 'x-request-id': '' }, undefined, undefined],
	])(
		'looks for the request ID in the headers %j, then in the body %j',
		(headers, body, expected) => {
			expect(requestIdOf(headers as Record<string, string>, body)).toBe(expected);
		},
	);
});
