import type { JobSight } from './answers';
import { GatewayError, canceled, type ErrorRecord } from './errors';
import { rawBody } from './failedRequests';
import { nameOf, standingOf, type JobNote } from './jobNote';
import { defined, excerpt } from './json';
import { limits } from './protocol';
import { meaningOf } from './serviceErrors';

function aboutJob(
	job: JobNote,
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

export function stopped(job: JobNote): GatewayError {
	return aboutJob(job, {
		message: canceled().message,
		advice: `It may still be running and paid for: wait for it by its id ${job.id} within ${limits.taskIdHours} hours.`,
	});
}

export function jobFailed(job: JobNote, { failure, fields }: JobSight): GatewayError {
	const known = meaningOf(failure ?? {});
	const reason = failure?.message ?? known?.meaning ?? 'the service gave no reason';
	return aboutJob(job, {
		...defined(failure ?? {}),
		message: `${nameOf(job)} failed: ${excerpt(reason)}`,
		advice: `${known?.advice ?? 'Change the prompt or the media if the reason names them.'} To try again, create a new job; a failed one never finishes.`,
		billed: 'no',
		retry_can_help: false,
		raw_body: rawBody(JSON.stringify(fields)),
	});
}

export function deadlinePassed(
	job: JobNote,
	timeout: number,
	trouble?: GatewayError,
): GatewayError {
	const minutes = Math.round(timeout / 6_000) / 10;
	const doubt = trouble ? ` The last poll went wrong: ${trouble.message}.` : '';
	return aboutJob(job, {
		message: `${nameOf(job)} did not finish within ${minutes} minutes (${standingOf(job)})`,
		advice: `It may still be running and paid for: wait for it again by its id ${job.id} within ${limits.taskIdHours} hours, or raise Timeout (Minutes).${doubt}`,
	});
}

export function linkMissing(job: JobNote): GatewayError {
	const message = `${nameOf(job)} finished, but the answer has no link to the file`;
	return new GatewayError(aboutJob(job, { message, advice: '' }).record, 'unreadable');
}

/** However the question for the link ended, the video is there. */
export function linkNotFound(job: JobNote, { record, reach }: GatewayError): GatewayError {
	const { message, advice } = record;
	const told = aboutJob(job, {
		...record,
		message: message.startsWith(nameOf(job)) ? message : `${nameOf(job)} finished. ${message}`,
		advice:
			`${advice} The video is paid for and is not lost: wait for it again by its id ${job.id} within ${limits.taskIdHours} hours.`.trim(),
		billed: 'yes',
	});
	return new GatewayError(told.record, reach);
}
