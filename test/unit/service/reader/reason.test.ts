import * as reader from '../../../../nodes/shared/service/reader/reason';
import { read } from '../../../../nodes/shared/service/reader/values';
import { unlessEndless } from '../../../support/data/endless';
import { counted } from '../../../support/data/counted';

const reasonIn = (body: unknown) => reader.reasonIn(read(body));
const jobReasonIn = (job: unknown) => reader.jobReasonIn(read(job));
const hasError = (answer: unknown) => reader.hasError(read(answer));

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
		const messageOf = (count: number) => reasonIn({ error: { message: inner(count) } })?.message;
		expect(messageOf(400_000)).toBe('no');
		expect(messageOf(10_000_000)).toBe(inner(10_000).slice(0, 2_000));
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
			expect(reader.requestIdOf(headers as Record<string, string>, body)).toBe(expected);
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

describe('each name that services use for a reason', () => {
	const causes = [
		...['error', 'errors', 'error_description', 'error_message', 'error_msg', 'err_msg'],
		...['fail_msg', 'fail_reason', 'failed_reason', 'failure_reason', 'fail_message'],
		...['failure_message', 'failure', 'reasons'],
	];
	const remarks = [
		...['title', 'message', 'msg', 'status_message', 'status_msg', 'task_status_msg', 'detail'],
		...['reason', 'fault_string', 'description', 'exception', 'details'],
	];

	it.each([...causes, ...remarks])('reads it in %s', (name) => {
		const said = { [name]: 'No luck at all', type: 'a', param: 'b', code: 7 };
		expect(reasonIn(said)).toEqual({ message: 'No luck at all', type: 'a', param: 'b', code: '7' });
		expect(jobReasonIn({ status: 'failed', [name]: 'No luck at all' })).toEqual({
			message: 'No luck at all',
		});
	});

	it.each([
		...['fault', 'base_resp', 'response', 'response_metadata', 'result', 'output', 'data'],
		...['task', 'job', 'content_filter'],
	])('reads it within %s, and the code beside it', (name) => {
		const said = { ok: false, [name]: { message: 'No luck at all', status_code: 7 } };
		expect(reasonIn(said)).toEqual({ message: 'No luck at all', code: '7' });
	});

	it.each(['code', 'error_code', 'err_code', 'fail_code', 'failure_code'])(
		'reads the code in %s',
		(name) => {
			expect(reasonIn({ [name]: 'a_code' })).toEqual({ code: 'a_code' });
			expect(jobReasonIn({ output: { [name]: 'a_code' } })).toEqual({ code: 'a_code' });
		},
	);

	it.each<[string, object, string]>([
		['a title first', { detail: 'The rest', title: 'Bad' }, 'Bad: The rest'],
		[
			'the general first',
			{ error: { message: 'Bad', details: { reason: 'Small' } } },
			'Bad: Small',
		],
		['no text twice', { message: 'Bad size', detail: 'size', error: 'Bad size!' }, 'Bad size!'],
		['the field beside it', { detail: [{ loc: ['body', 'n'], msg: 'Bad' }] }, 'body.n: Bad'],
		['three of a list', { errors: ['a', 'b', 'c', 'a', 'd'] }, 'a; b; c; …'],
		['what the provider said', { error: { metadata: { raw: 'Bad' } } }, 'Bad'],
		[
			'by the names of fields',
			{ prompt: ['is long'], n: ['is odd'] },
			'prompt: is long; n: is odd',
		],
		['a page in a text', { error: { message: '<html><title>Bad</title>' } }, 'Bad'],
		['the error rather than what is beside it', { message: 'a', error: { message: 'b' } }, 'b'],
	])('gives %s', (_, body, message) => {
		expect(reasonIn(body)?.message).toBe(message);
	});

	it('takes a word beside a reason for a code', () => {
		const said = { error: 'access_denied', error_description: 'No luck' };
		expect(reasonIn(said)).toEqual({ code: 'access_denied', message: 'No luck' });
		expect(reasonIn({ error: 'access_denied' })).toEqual({ message: 'access_denied' });
		expect(reasonIn({ error: { message: 'No', status: 'NOT_FOUND' } })?.code).toBe('NOT_FOUND');
		expect(reasonIn({ message: 'No', status: 'NOT_FOUND' })?.code).toBeUndefined();
	});

	it('takes what says that all is well for no reason of a job', () => {
		const call = { code: 200, message: 'success', msg: 'ok' };
		expect(jobReasonIn({ ...call, status: 'failed' })).toEqual({});
		expect(jobReasonIn({ ...call, data: { status: 'failed', message: 'No luck' } })).toMatchObject({
			message: 'No luck',
		});
		expect(jobReasonIn({ error: { why: 'No luck' } })).toEqual({ message: 'why: No luck' });
	});

	it.each([null, false, 0, '', 'none', 'No error', 'OK', 'success'])(
		'takes the error %j for none',
		(error) => {
			expect(hasError({ status: 'completed', error })).toBe(false);
		},
	);

	it.each([{ message: 'No' }, 'No luck', 7, true])('takes the error %j for one', (error) => {
		expect(hasError({ data: { error } })).toBe(true);
	});
});
