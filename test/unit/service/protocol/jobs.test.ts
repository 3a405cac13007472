import { phaseOf } from '../../../../nodes/shared/service/protocol/jobs';

describe('the phase of a state', () => {
	it.each([
		['queued', 'created, waiting, Scheduled, Accepted, IN_QUEUE, Queueing, NOT_START'],
		['running', 'In Progress, in-progress, IN  PROGRESS, generating, Rendering, starting'],
		['succeeded', 'SUCCESS, succeed, Successful, complete, Done, FINISHED,  ready '],
		['failed', 'FAILURE, fail, Error, CANCELED, cancelled, EXPIRED, rejected, aborted'],
		['failed', 'timeout, timed_out, Timed out, timed-out'],
	])('knows the words of other services for the phase %s: %s', (phase, states) => {
		expect(new Set(states.split(', ').map(phaseOf))).toEqual(new Set([phase]));
	});

	it.each([
		['TASK_STATUS_SUCCEED', 'succeeded'],
		['TASK_STATUS_IN_PROGRESS', 'running'],
		['JOB_STATE_FAILED', 'failed'],
	])('knows the phase of a state with a prefix: %s', (state, phase) => {
		expect(phaseOf(state)).toBe(phase);
	});

	it.each([
		'',
		'UNKNOWN',
		'constructor',
		'__proto__',
		'TASK_STATUS_',
		'TASK_STATUS_UNSPECIFIED',
		'rendering_pass_2',
		'success_rate',
		'not ready',
		'almost done',
		'OK',
		'200',
		'true',
	])('gives no phase for the unknown state "%s"', (state) => {
		expect(phaseOf(state)).toBeUndefined();
	});
});
