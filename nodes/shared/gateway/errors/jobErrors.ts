import { excerpt, withoutUndefined, type JsonObject } from '../json';
import { meaningOf } from '../protocol/errorCodes';
import { phaseOf } from '../protocol/jobs';
import type { ErrorObject } from '../reader/reason';
import { GatewayError, type Failure } from './gatewayError';
import { describeStatus, jobName, type JobSummary } from './jobSummary';
import { truncateBody } from './requestErrors';

function jobError(
	job: JobSummary,
	fields: Pick<Failure, 'message'> & Partial<Failure>,
): GatewayError {
	const { request_id } = job;
	return new GatewayError({
		...{ reach: 'none', status: 0 },
		...(request_id && { request_id }),
		...{ billed: 'unknown', retry_can_help: true, job },
		...fields,
	});
}

/** The user pressed Stop. */
export function jobStopped(job: JobSummary): GatewayError {
	const message = 'The execution was stopped';
	return jobError(job, { message, isStopped: true, waitEnded: 'stopped' });
}

/** Another execution has resumed the wait for the job. */
export function takenUp(job: JobSummary, execution: string): GatewayError {
	return jobError(job, {
		message: `Execution ${execution} has resumed and goes on with ${jobName(job)}`,
		advice:
			'After a restart, n8n shows an execution that resumes as crashed for a moment. That execution delivers the video, so this Retry has nothing to do.',
		retry_can_help: false,
	});
}

/** The fields of a job, and the reason for its failure if it could be read. */
interface FailedStatus {
	failure?: ErrorObject;
	/** The body as it arrived. */
	text: string;
}

/** Failed calls are not charged. For a job that fails after it was accepted, the specification does not say. */
export function jobFailed(job: JobSummary, { failure: reason, text }: FailedStatus): GatewayError {
	const { refusal } = meaningOf(reason ?? {}) ?? {};
	return jobError(job, {
		...withoutUndefined({ ...reason, refusal }),
		message: `${jobName(job)} failed: ${failureReason(reason)}`,
		retry_can_help: false,
		raw_body: truncateBody(text),
	});
}

/** Why a job failed, in the service's words as far as it gave any. */
export const failureReason = (reason: ErrorObject = {}): string =>
	excerpt(
		reason.message ?? meaningOf(reason)?.meaning ?? reason.code ?? 'the service gave no reason',
	);

/** A response with an unknown status, which may be about anything. */
export function jobStatusUnclear(
	job: JobSummary,
	{ status, text }: { status: string; text: string },
): GatewayError {
	return jobError(job, {
		message: `${jobName(job)}: the response has no job status (${excerpt(status, 100)})`,
		reach: 'unreadable',
		raw_body: truncateBody(text),
	});
}

/** Whether the service did not find the job of this request. A 404 may also say that its video is not finished yet. */
export function isJobUnknown({ refusal }: Pick<Failure, 'refusal'>): boolean {
	return refusal === 'notFound' || refusal === 'unknownJob';
}

/**
 * @param timeout milliseconds
 * @param lastPoll why the last poll failed
 */
export function deadlinePassed(job: JobSummary, timeout: number, lastPoll?: Failure): GatewayError {
	const count = Math.round(timeout / 6_000) / 10;
	const minutes = count === 1 ? '1 minute' : `${count} minutes`;
	return jobError(job, {
		message: `${jobName(job)} did not finish within ${minutes} (${describeStatus(job)})`,
		waitEnded: 'timeout',
		// Its body may be large, and it says nothing about the job.
		...(lastPoll && { lastPoll: { ...lastPoll, job, billed: 'unknown', raw_body: undefined } }),
	});
}

/** Whether the job itself has failed. */
export const hasJobFailed = ({ job, reach }: Failure): boolean =>
	reach === 'none' && phaseOf(job?.status ?? '') === 'failed';

/** @param denial why the service says that there is no file, if it does */
export function linkMissing(
	job: JobSummary,
	{ text }: { text: string },
	denial?: ErrorObject,
): GatewayError {
	const reason = denial ? failureReason(denial) : 'the response has no link to the file';
	return jobError(job, {
		reach: 'unreadable',
		...(denial && { ...denial, made: 'nothing' }),
		message: `${jobName(job)} finished, but ${reason}`,
		raw_body: truncateBody(text),
	});
}

/** The video is finished, but its link is neither used nor shown. */
export function jobLinkCarriesKey(job: JobSummary): GatewayError {
	return jobError(job, {
		message: `${jobName(job)} finished, but its link carries the API key`,
		...{ reach: 'unreadable', linkCarriesKey: true, made: 'video' },
		...{ billed: 'yes', retry_can_help: false },
	});
}

/**
 * The video is finished and kept, but no link to it can be used.
 * @param failures why there is none in the job, and why the content endpoint gives none
 * @param fields those of the response that said that the job is finished; empty if it was not kept
 */
export function linkNotFound(
	job: JobSummary,
	{ job: ofJob, content }: { job?: Failure; content?: Failure },
	fields: JsonObject,
): GatewayError {
	const [failure] = [content, ofJob].filter((each) => each !== undefined);
	const ofJobMessage = ofJob?.message ?? `${jobName(job)} finished`;
	const message = [ofJobMessage, content?.message].filter(Boolean).join('. ');
	// The job may hold its link in a field that is not known here, so its response says more than a failed request.
	const isKept = Object.keys(fields).length > 0;
	const raw_body = isKept
		? truncateBody(JSON.stringify(fields))
		: (ofJob?.raw_body ?? content?.raw_body);
	const isDenied = ofJob?.made === 'nothing' || deniesFile(job.kind === 'video' ? content : ofJob);
	return jobError(job, {
		...failure,
		message: message.startsWith(jobName(job)) ? message : `${jobName(job)} finished. ${message}`,
		...withoutUndefined({ raw_body }),
		...(isDenied
			? { made: 'nothing', billed: 'unknown', retry_can_help: false }
			: { made: 'video', billed: 'yes' }),
		job,
	});
}

/** Whether the service itself refuses to give the file, and not only knows nothing of it yet. A task is unknown to the other endpoint. */
const deniesFile = ({ reach, status, isPage }: Partial<Failure> = {}) =>
	reach === 'answered' && !isPage && [400, 410, 422].includes(status ?? 0);
