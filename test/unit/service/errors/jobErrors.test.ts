import type { Failure } from '../../../../nodes/shared/service/errors/gatewayError';
import { jobStatusUnclear, linkNotFound } from '../../../../nodes/shared/service/errors/jobErrors';
import type { JobKind } from '../../../../nodes/shared/service/protocol/jobs';
import { refusal } from '../../../support/time/simulatedJobs';

const job = (kind?: JobKind) => ({ id: 'job_1', kind, status: 'completed' });
const failure = (message: string, more: Partial<Failure> = {}): Failure => ({
	...refusal(404).failure,
	message,
	...more,
});
const ofJob = failure('Video job job_1 finished, but nobody knows');
const content = failure('Could not get the content');
const denied = (said: Failure): Failure => ({ ...said, denies: 'request' });
const kept = { made: 'video', billed: 'yes' };
const nothing = { made: 'nothing', billed: 'unknown', retry_can_help: false };

describe('a finished job without a link', () => {
	it.each<[JobKind, Parameters<typeof linkNotFound>[1], message: string, object]>([
		['video', { job: ofJob }, ofJob.message, kept],
		['task', { job: ofJob, content }, ofJob.message, kept],
		['task', { job: denied(ofJob) }, ofJob.message, nothing],
		['video', { content: denied(content) }, 'Could not get the content', nothing],
		// The content endpoint knows nothing of a task.
		['task', { job: ofJob, content: denied(content) }, ofJob.message, kept],
	])('of kind %s says what its own endpoint said: %j', (kind, failures, message, facts) => {
		const error = linkNotFound(job(kind), failures, {});
		expect(error.failure).toMatchObject({ ...facts, job: job(kind) });
		expect(error.message).toContain(message);
		expect(error.message.match(/job_1/g)).toHaveLength(1);
	});

	it('shows the response that said so, if it was kept', () => {
		const bodyOf = (fields: object) =>
			linkNotFound(job('task'), { job: { ...ofJob, raw_body: 'of the last' } }, { ...fields })
				.failure.raw_body;
		expect([{ a: 1 }, {}].map(bodyOf)).toEqual(['{"a":1}', 'of the last']);
	});
});

it('quotes a status that may be that of anything', () => {
	const { failure: unclear } = jobStatusUnclear(job(), { status: 'all well', text: 'the body' });
	expect(unclear.message).toBe('Video job job_1: the response has no job status (all well)');
	expect(unclear).toMatchObject({ raw_body: 'the body', job: job() });
});
