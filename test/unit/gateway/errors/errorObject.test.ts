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
		['none when it is empty', { error: {} }, undefined],
	])('reads the error object of a body: %s', (_, body, expected) => {
		// JSON text, because absent and undefined fields mean the same here.
		expect(JSON.stringify(sorted(readErrorObject(body)))).toBe(JSON.stringify(sorted(expected)));
	});

	it.each<[string, unknown, object]>([
		['a text', 'no', { message: 'no' }],
		['a list of texts', ['no', 'not at all'], { message: 'no; not at all' }],
		['an error in data', { code: 7, data: { error_msg: 'no' } }, { message: 'no', code: '7' }],
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
