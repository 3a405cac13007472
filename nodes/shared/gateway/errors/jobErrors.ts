import { excerpt, withoutUndefined, type JsonObject } from '../json';
import type { ErrorObject } from './errorObject';
import { GatewayError, stopped, type Failure, type KnownJob, type Remedy } from './gatewayError';
import { describeStatus, jobName, type JobSummary } from './jobSummary';
import { truncateBody } from './requestErrors';
import { meaningOf } from './refusal';

function jobError(
	job: JobSummary,
	fields: Pick<Failure, 'message' | 'remedies'> & Partial<Failure>,
): GatewayError {
	const { request_id } = job;
	return new GatewayError({
		reach: 'none',
		status: 0,
		...(request_id && { request_id }),
		billed: 'unknown',
		retry_can_help: true,
		job,
		...fields,
	});
}

const knownJob = ({ id, kind }: JobSummary): KnownJob => ({ id, kind });

/** The user pressed Stop. */
export function jobStopped(job: JobSummary): GatewayError {
	const { message, isStopped } = stopped().failure;
	const remedies: Remedy[] = [{ about: 'jobMayRun', job: knownJob(job), canWaitLonger: false }];
	return jobError(job, { message, isStopped, remedies });
}

/** Another execution has resumed the wait for the job. */
export function takenUp(job: JobSummary, execution: string): GatewayError {
	const text =
		'After a restart, n8n shows an execution that resumes as crashed for a moment. That execution delivers the video, so this Retry has nothing to do.';
	return jobError(job, {
		message: `Execution ${execution} has resumed and goes on with ${jobName(job)}`,
		remedies: [{ about: 'other', text }],
		retry_can_help: false,
	});
}

/** The fields of a job, and the reason for its failure if it could be read. */
interface FailedStatus {
	failure?: ErrorObject;
	fields: JsonObject;
}

/** Failed calls are not charged. For a job that fails after it was accepted, the specification does not say. */
export function jobFailed(
	job: JobSummary,
	{ failure: reason, fields }: FailedStatus,
): GatewayError {
	const { refusal, meaning = 'the service gave no reason' } = meaningOf(reason ?? {}) ?? {};
	return jobError(job, {
		...withoutUndefined(reason ?? {}),
		message: `${jobName(job)} failed: ${excerpt(reason?.message ?? meaning)}`,
		remedies: [{ about: 'jobFailed', refusal }],
		retry_can_help: false,
		raw_body: truncateBody(JSON.stringify(fields)),
	});
}

/** The service reports a job as failed because it does not know it. */
export function jobUnknown(
	job: JobSummary,
	{ failure: reason = {}, fields }: FailedStatus,
): GatewayError {
	const refusal = 'unknownJob';
	return jobError(job, {
		...withoutUndefined(reason),
		message: `${jobName(job)} is not known to the service: ${excerpt(reason.message ?? 'not found')}`,
		remedies: [{ about: 'refusal', refusal }],
		refusal,
		retry_can_help: false,
		raw_body: truncateBody(JSON.stringify(fields)),
	});
}

/** A response with an unknown status, which may be about anything. */
export function jobStatusUnclear(
	job: JobSummary,
	{ status, fields }: { status: string; fields: JsonObject },
): GatewayError {
	return jobError(job, {
		message: `${jobName(job)}: the response has no job status (${excerpt(status, 100)})`,
		remedies: [{ about: 'rawBody' }],
		reach: 'unreadable',
		pollCanHelp: true,
		raw_body: truncateBody(JSON.stringify(fields)),
	});
}

/** Whether the service did not find the job of this request. */
export function isJobUnknown({ status, refusal }: Pick<Failure, 'status' | 'refusal'>): boolean {
	return status === 404 || refusal === 'notFound' || refusal === 'unknownJob';
}

/**
 * @param timeout milliseconds
 * @param lastPoll why the last poll failed
 */
export function deadlinePassed(
	job: JobSummary,
	timeout: number,
	lastPoll?: Pick<Failure, 'message'>,
): GatewayError {
	const count = Math.round(timeout / 6_000) / 10;
	const minutes = count === 1 ? '1 minute' : `${count} minutes`;
	return jobError(job, {
		message: `${jobName(job)} did not finish within ${minutes} (${describeStatus(job)})`,
		remedies: [
			{ about: 'jobMayRun', job: knownJob(job), canWaitLonger: true },
			...(lastPoll ? [{ about: 'lastPollFailed', message: lastPoll.message } as const] : []),
		],
	});
}

/** Whether only the wait is over: the job may still run. */
export const isDeadlinePassed = ({ remedies }: Failure): boolean =>
	remedies.some((remedy) => remedy.about === 'jobMayRun' && remedy.canWaitLonger);

/** Whether the job itself has failed. */
export const hasJobFailed = ({ remedies }: Failure): boolean =>
	remedies.some(({ about }) => about === 'jobFailed');

export function linkMissing(job: JobSummary): GatewayError {
	const message = `${jobName(job)} finished, but the response has no link to the file`;
	return jobError(job, { message, remedies: [], reach: 'unreadable', pollCanHelp: true });
}

/** The video is finished, but its link is neither used nor shown. */
export function jobLinkCarriesKey(job: JobSummary): GatewayError {
	return jobError(job, {
		message: `${jobName(job)} finished, but its link carries the API key`,
		remedies: [{ about: 'linkCarriesKey' }, { about: 'videoIsKept', job: knownJob(job) }],
		reach: 'unreadable',
		billed: 'yes',
		retry_can_help: false,
	});
}

/** The request for the link failed, but the video is finished and kept. */
export function linkNotFound(job: JobSummary, { failure }: GatewayError): GatewayError {
	const { message } = failure;
	// The job has finished, so advice about a wrong ID would be false.
	const remedies = isJobUnknown(failure)
		? []
		: failure.remedies.filter(({ about }) => about !== 'videoIsKept');
	return jobError(job, {
		...failure,
		message: message.startsWith(jobName(job)) ? message : `${jobName(job)} finished. ${message}`,
		remedies: [...remedies, { about: 'videoIsKept', job: knownJob(job) }],
		job,
		billed: 'yes',
	});
}
