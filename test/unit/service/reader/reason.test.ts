import * as reader from '../../../../nodes/shared/service/reader/reason';
import { read } from '../../../../nodes/shared/service/reader/values';
import { words } from '../../../../nodes/shared/service/words';
import { unlessEndless } from '../../../support/data/endless';
import { counted } from '../../../support/data/counted';

const reasonIn = (body: unknown) => reader.reasonIn(read(body));
const jobReasonIn = (job: unknown) => reader.jobReasonIn(read(job));
const hasError = (answer: unknown) => reader.hasError(read(answer));

describe('the error object', () => {
	it.each<[body: unknown, message: string | undefined]>([
		[7, undefined],
		// The least nested reason, a title before its details, and each list by itself.
		[{ data: { message: 'within' }, error: { message: 'No luck' } }, 'No luck'],
		[{ detail: 'too long', title: '1. Bad prompt.' }, '1. Bad prompt: too long'],
		[{ errors: ['a', 'b'], details: ['c', 'd'] }, 'a; b: c; d'],
		[{ detail: [{ loc: Array(30).fill('a'), msg: 'b' }] }, `${Array(20).fill('a').join('.')}: b`],
		[{ fields: { type: 't', param: 'p', status: 's', size: 'too large' } }, 'size: too large'],
	])('has the reason as a person reads it: %j', (body, message) => {
		expect(reasonIn(body)?.message).toBe(message);
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

	it('reads no more of JSON within an error than is opened', () => {
		const inner = (count: number) =>
			JSON.stringify({ padding: 'a'.repeat(count), error: { message: 'no' } });
		const messageOf = (count: number) => reasonIn({ error: { message: inner(count) } })?.message;
		expect(messageOf(400_000)).toBe('no');
		expect(messageOf(10_000_000)).toBe(inner(10_000).slice(0, 2_000));
	});
});

describe('the reason why a job failed', () => {
	it.each<[string, object, string | undefined]>([
		[
			'a cause before a remark within',
			{ error_msg: 'No luck', output: { message: 'Sent' } },
			'No luck',
		],
		[
			'the remark that is furthest inside',
			{ message: 'Sent', output: { message: 'No luck' } },
			'No luck',
		],
		[
			'the fields of an error',
			{ error: { x: ['too long'] }, other: { y: ['Sent'] } },
			'x: too long',
		],
		['no word for success', { message: ' OK' }, undefined],
		['a sentence that ends like one', { message: 'Error 200' }, 'Error 200'],
		['a sentence that begins like one', { message: '200 frames needed' }, '200 frames needed'],
		['no stack of a program', { message: 'No luck \n    at run (a.js:1:2)' }, 'No luck'],
	])('is %s', (_, job, message) => {
		expect(jobReasonIn({ status: 'failed', ...job }).message).toBe(message);
	});
});

describe('each name that services use for a reason', () => {
	it.each(
		words(`
			error errors error_description error_message error_msg err_msg fail_msg fail_reason failed_reason
			failure_reason fail_message failure_message failure reasons title message msg status_message
			status_msg task_status_msg detail reason fault_string description exception details
		`),
	)('reads it in %s', (name) => {
		const said = { [name]: 'No luck at all', type: 'a', param: 'b', code: 7 };
		expect(reasonIn(said)).toEqual({ message: 'No luck at all', type: 'a', param: 'b', code: '7' });
		expect(jobReasonIn({ status: 'failed', [name]: 'No luck at all' })).toEqual({
			message: 'No luck at all',
		});
	});

	it.each(
		words('fault base_resp response response_metadata result output data task job content_filter'),
	)('reads it within %s, and the code beside it', (name) => {
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

	it.each([null, false, 0, '', 'none', 'No error', 'OK', ' success '])(
		'takes the error %j for none',
		(error) => {
			expect(hasError({ status: 'completed', error })).toBe(false);
		},
	);

	it.each([{ message: 'No' }, 'No luck', 7, true])('takes the error %j for one', (error) => {
		expect(hasError({ data: { error } })).toBe(true);
	});
});
