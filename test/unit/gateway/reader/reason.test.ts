import { jobReasonIn, reasonIn, requestIdOf } from '../../../../nodes/shared/gateway/reader/reason';
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
		expect(JSON.stringify(sorted(reasonIn(body)))).toBe(JSON.stringify(sorted(expected)));
	});

	it.each<[string, unknown, object]>([
		['a text', 'no', { message: 'no' }],
		['a list of texts', ['no', 'not at all'], { message: 'no; not at all' }],
		['an error in data', { code: 7, data: { error_msg: 'no' } }, { message: 'no', code: '7' }],
		['a text that looks like markup', { error: '<x> is unknown' }, { message: '<x> is unknown' }],
		['nothing when all is well', { base_resp: { status_code: 0, status_msg: 'success' } }, {}],
	])('reads the reason in the form of other services: %s', (_, body, expected) => {
		expect(reasonIn(body) ?? {}).toEqual(expected);
	});

	it('compares only the beginnings of reasons that repeat themselves', () => {
		const part = 'a'.repeat(2_000_000);
		const error = { message: part.repeat(4), detail: `${part}b${part}` };
		const { message = '' } = unlessEndless(() => reasonIn({ error })) ?? {};
		expect(message).toBe('a'.repeat(2_000));
	});

	it('looks at a bounded number of objects among the names of reasons', () => {
		const names = ['title', 'message', 'msg', 'detail', 'reason', 'description', 'details'];
		const tree = (depth: number): object =>
			Object.fromEntries(names.map((name) => [name, depth === 0 ? {} : tree(depth - 1)]));
		const { value, seen } = counted({ error: tree(4) });
		reasonIn(value);
		expect(seen.objects).toBeLessThan(2_000);
	});

	it('looks at a bounded number of lists within lists', () => {
		const lists = (depth: number): unknown[] =>
			Array.from({ length: 20 }, () => (depth === 0 ? [] : lists(depth - 1)));
		const { value, seen } = counted({ error: lists(3) });
		reasonIn(value);
		expect(seen.objects).toBeLessThan(2_500);
	});

	it('reads no more of JSON within an error than is opened', () => {
		const inner = (count: number) =>
			JSON.stringify({ padding: 'a'.repeat(count), error: { message: 'no' } });
		const read = (count: number) => reasonIn({ error: { message: inner(count) } })?.message;
		expect(read(400_000)).toBe('no');
		expect(read(10_000_000)).toBe(inner(10_000).slice(0, 2_000));
	});

	const sorted = (fields: object | undefined) =>
		fields && Object.fromEntries(Object.entries(fields).sort());
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

describe('the reason why a job failed', () => {
	it('is none in a text instead of a job', () => {
		expect(jobReasonIn('failed')).toEqual({});
	});

	it('compares only the beginnings of reasons that repeat themselves', () => {
		const part = 'a'.repeat(2_000_000);
		const job = { status: 'failed', message: part.repeat(4), detail: `${part}b${part}` };
		expect(unlessEndless(() => jobReasonIn(job))).toEqual({ message: 'a'.repeat(2_000) });
	});
});
