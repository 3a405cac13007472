import { excerpt, withoutUndefined, type JsonObject } from '../json';
import type { ErrorObject } from './errorObject';
import { GatewayError, stopped, type Failure, type Remedy } from './gatewayError';
import { describeStatus, jobName, type JobSummary } from './jobSummary';
import { truncateBody } from './requestErrors';
import { meaningOf } from './verdict';

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

/** The user pressed Stop. */
export function jobStopped(job: JobSummary): GatewayError {
	const { message, isStopped } = stopped().failure;
	const remedies: Remedy[] = [{ about: 'jobMayRun', id: job.id, canWaitLonger: false }];
	return jobError(job, { message, isStopped, remedies });
}

/** @param status the fields of the job, and the reason of its failure where it could be read */
export function jobFailed(
	job: JobSummary,
	{ failure: reason, fields }: { failure?: ErrorObject; fields: JsonObject },
): GatewayError {
	const { refusal, meaning = 'the service gave no reason' } = meaningOf(reason ?? {}) ?? {};
	return jobError(job, {
		...withoutUndefined(reason ?? {}),
		message: `${jobName(job)} failed: ${excerpt(reason?.message ?? meaning)}`,
		remedies: [{ about: 'jobFailed', refusal }],
		billed: 'no',
		retry_can_help: false,
		raw_body: truncateBody(JSON.stringify(fields)),
	});
}

/**
 * @param timeout milliseconds
 * @param lastPoll why the last poll went wrong
 */
export function deadlinePassed(
	job: JobSummary,
	timeout: number,
	lastPoll?: Pick<Failure, 'message'>,
): GatewayError {
	const minutes = Math.round(timeout / 6_000) / 10;
	const { id } = job;
	return jobError(job, {
		message: `${jobName(job)} did not finish within ${minutes} minutes (${describeStatus(job)})`,
		remedies: [
			{ about: 'jobMayRun', id, canWaitLonger: true },
			...(lastPoll ? [{ about: 'lastPollFailed', message: lastPoll.message } as const] : []),
		],
	});
}

export function linkMissing(job: JobSummary): GatewayError {
	const message = `${jobName(job)} finished, but the answer has no link to the file`;
	return jobError(job, { message, remedies: [], reach: 'unreadable', pollCanHelp: true });
}

/** The request for the link failed, but the video is finished and kept. */
export function linkNotFound(job: JobSummary, { failure }: GatewayError): GatewayError {
	const { message, remedies } = failure;
	return jobError(job, {
		...failure,
		message: message.startsWith(jobName(job)) ? message : `${jobName(job)} finished. ${message}`,
		remedies: [...remedies, { about: 'videoIsKept', id: job.id }],
		job,
		billed: 'yes',
	});
}
