import {
	readErrorObject,
	readReason,
	requestIdOf,
} from '../../../../nodes/shared/gateway/errors/errorObject';
import { unlessEndless } from '../../../support/data/endless';
import { counted } from '../../../support/data/counted';

describe('the error object', () => {
	const full = { message: 'no', code: 'a_code', type: 'a_type', param: 'model' };

	it.each<[string, unknown, object | undefined]>([
		['in the form of the specification', { error: full }, full],
		['at the top level', full, full],
		['that is a text', { error: ' no ' }, { message: 'no' }],
		['with a number', { error: { message: 'no', code: 1101 } }, { message: 'no', code: '1101' }],
		['with a code only', { error: { code: 'a_code' } }, { code: 'a_code' }],
		['in the form of web frameworks', { detail: 'no' }, { message: 'no' }],
		['none when it is empty', { error: {} }, undefined],
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
		['AWS', { __type: 'Throttling', Message: 'no' }, { message: 'no', type: 'Throttling' }],
		['errors', { errors: [{ message: 'no', code: 1003 }] }, { message: 'no', code: '1003' }],
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
		[
			'OpenRouter, with JSON',
			{ error: { message: 'Provider returned error', code: 400, metadata: { raw } } },
			{ message: 'Provider returned error: max_tokens too large', code: '400' },
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
		['an error in data', { code: 7, data: { error_msg: 'no' } }, { message: 'no', code: '7' }],
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

	it('compares only the beginnings of reasons that repeat themselves', () => {
		const part = 'a'.repeat(2_000_000);
		const error = { message: part.repeat(4), detail: `${part}b${part}` };
		const { message = '' } = unlessEndless(() => readErrorObject({ error })) ?? {};
		expect(message).toBe('a'.repeat(2_000));
	});

	it('looks at a bounded number of objects among the names of reasons', () => {
		const names = ['title', 'message', 'msg', 'detail', 'reason', 'description', 'details'];
		const tree = (depth: number): object =>
			Object.fromEntries(names.map((name) => [name, depth === 0 ? {} : tree(depth - 1)]));
		const { value, seen } = counted({ error: tree(4) });
		readErrorObject(value);
		expect(seen.objects).toBeLessThan(2_000);
	});

	it('looks at a bounded number of lists within lists', () => {
		const lists = (depth: number): unknown[] =>
			Array.from({ length: 20 }, () => (depth === 0 ? [] : lists(depth - 1)));
		const { value, seen } = counted({ error: lists(3) });
		readErrorObject(value);
		expect(seen.objects).toBeLessThan(2_500);
	});

	it('reads no more of JSON within an error than its budget allows', () => {
		const inner = (count: number) =>
			JSON.stringify({ padding: 'a'.repeat(count), error: { message: 'no' } });
		const read = (count: number) => readErrorObject({ error: { message: inner(count) } })?.message;
		expect(read(100_000)).toBe('no');
		expect(read(10_000_000)).toBe(inner(10_000).slice(0, 2_000));
	});

	const sorted = (fields: object | undefined) =>
		fields && Object.fromEntries(Object.entries(fields).sort());
});

describe('the reason in a body that is not JSON', () => {
	const html = (...parts: string[]) => `<!DOCTYPE html>\n<html><head>${parts.join('')}</html>`;

	it.each<[string, string, string, string | undefined]>([
		['a text', 'text/plain', 'Too many\n requests\n', 'Too many requests'],
		[
			'a title',
			'text/html',
			html('<title>\n413 Too&#32;Large </title>', '<h1>Other</h1>'),
			'413 Too Large',
		],
		['a heading', 'text/html', '<h1 class="a">Bad <b>Gateway</b></h1><p>nginx</p>', 'Bad Gateway'],
		['text behind a bare title', '', html('<title>Error</title>', '<body><pre>No</pre>'), 'No'],
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
		['a heading after an empty title', '', html('<title> </title>', '<h1>No</h1>'), 'No'],
		['other XML', 'application/xml', '<problem><what>No</what></problem>', 'No'],
	])('reads the reason in %s', (_, type, text, expected) => {
		expect(readReason(text, { 'content-type': type })).toBe(expected);
	});

	it('shortens a long reason', () => {
		expect(readReason(`<title>${'no '.repeat(500)}</title>`, {})).toHaveLength(201);
		expect(readReason('no '.repeat(500), {})).toHaveLength(201);
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
