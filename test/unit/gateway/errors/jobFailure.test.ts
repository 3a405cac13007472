import { jobFailureReason } from '../../../../nodes/shared/gateway/errors/jobFailure';
import { unlessEndless } from '../../../support/data/endless';

describe('the reason why a job failed', () => {
	it.each<[string, unknown, object]>([
		['a text', { error: 'no' }, { message: 'no' }],
		[
			'the native form in output',
			{ output: { task_status: 'FAILED', code: 'InternalError', message: 'no' } },
			{ message: 'no', code: 'InternalError' },
		],
		['an object with unknown fields', { error: { why: 'no' } }, { message: 'why: no' }],
		['a list', { error: ['no', { message: 'not at all' }] }, { message: 'no; not at all' }],
		['fail_reason', { status: 'FAILURE', fail_reason: 'no' }, { message: 'no' }],
		[
			'fail_reason in data, beside the message of the call',
			{ code: 'success', message: 'ok, here it is', data: { fail_reason: 'no' } },
			{ message: 'no' },
		],
		['none in the success of the call', { code: 200, message: 'success', status: 'failed' }, {}],
		['null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['none in a job without a reason', { status: 'failed' }, {}],
		['none in a text instead of a job', 'failed', {}],
	])('reads the reason why a job failed: %s', (_, job, expected) => {
		expect(jobFailureReason(job)).toEqual(expected);
	});

	it('compares only the beginnings of reasons that repeat themselves', () => {
		const part = 'a'.repeat(2_000_000);
		const job = { status: 'failed', message: part.repeat(4), detail: `${part}b${part}` };
		expect(unlessEndless(() => jobFailureReason(job))).toEqual({ message: 'a'.repeat(2_000) });
	});
});
