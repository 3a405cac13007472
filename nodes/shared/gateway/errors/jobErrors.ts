import { withoutUndefined, excerpt, type JsonObject } from '../json';
import { limits } from '../protocol/limits';
import { meaningOf, type ErrorObject } from './errorObject';
import { canceled, GatewayError, type ErrorRecord } from './gatewayError';
import { jobName, describeStatus, type JobSummary } from './jobSummary';
import { truncateBody } from './requestErrors';

function aboutJob(
	job: JobSummary,
	record: Pick<ErrorRecord, 'message' | 'advice'> & Partial<ErrorRecord>,
): GatewayError {
	const { request_id } = job;
	return new GatewayError({
		status: 0,
		...(request_id && { request_id }),
		billed: 'unknown',
		retry_can_help: true,
		job,
		...record,
	});
}

export function stopped(job: JobSummary): GatewayError {
	return aboutJob(job, {
		message: canceled().message,
		advice: `It may still be running and paid for: wait for it by its id ${job.id} within ${limits.taskIdHours} hours.`,
	});
}

/** @param answer what the service says of the job, and why it failed, where that could be read */
export function jobFailed(
	job: JobSummary,
	{ failure, fields }: { failure?: ErrorObject; fields: JsonObject },
): GatewayError {
	const known = meaningOf(failure ?? {});
	const reason = failure?.message ?? known?.meaning ?? 'the service gave no reason';
	return aboutJob(job, {
		...withoutUndefined(failure ?? {}),
		message: `${jobName(job)} failed: ${excerpt(reason)}`,
		advice: `${known?.advice ?? 'Change the prompt or the media if the reason names them.'} To try again, create a new job; a failed one never finishes.`,
		billed: 'no',
		retry_can_help: false,
		raw_body: truncateBody(JSON.stringify(fields)),
	});
}

export function deadlinePassed(
	job: JobSummary,
	timeout: number,
	trouble?: GatewayError,
): GatewayError {
	const minutes = Math.round(timeout / 6_000) / 10;
	const doubt = trouble ? ` The last poll went wrong: ${trouble.message}.` : '';
	return aboutJob(job, {
		message: `${jobName(job)} did not finish within ${minutes} minutes (${describeStatus(job)})`,
		advice: `It may still be running and paid for: wait for it again by its id ${job.id} within ${limits.taskIdHours} hours, or raise Timeout (Minutes).${doubt}`,
	});
}

export function linkMissing(job: JobSummary): GatewayError {
	const message = `${jobName(job)} finished, but the answer has no link to the file`;
	return new GatewayError(aboutJob(job, { message, advice: '' }).record, 'unreadable');
}

/** However the question for the link ended, the video is there. */
export function linkNotFound(job: JobSummary, { record, reach }: GatewayError): GatewayError {
	const { message, advice } = record;
	const told = aboutJob(job, {
		...record,
		message: message.startsWith(jobName(job)) ? message : `${jobName(job)} finished. ${message}`,
		advice:
			`${advice} The video is paid for and is not lost: wait for it again by its id ${job.id} within ${limits.taskIdHours} hours.`.trim(),
		billed: 'yes',
	});
	return new GatewayError(told.record, reach);
}
