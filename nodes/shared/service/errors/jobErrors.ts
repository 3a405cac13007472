import { excerpt, withoutUndefined, type JsonObject } from '../json';
import { refusalOfCode, refusals } from '../protocol/errorCodes';
import { isFinal, phaseOf, type Phase } from '../protocol/jobs';
import type { ErrorObject } from '../reader/reason';
import { GatewayError, type Failure } from './gatewayError';
import { describeStatus, jobName, type JobSummary } from './jobSummary';
import { truncateBody } from './requestErrors';

/** A job that exists may be charged. */
function jobError(job: JobSummary, message: string, facts: Partial<Failure>): GatewayError {
	const { request_id } = job;
	const known = { ...withoutUndefined({ request_id }), billed: 'unknown' } as const;
	return new GatewayError({ ...known, retry_can_help: true, ...facts, message, job });
}

const unusable = (text: string) =>
	({ reach: 'unreadable', kind: 'unreadable', raw_body: truncateBody(text) }) as const;

export const jobStopped = (job: JobSummary): GatewayError =>
	jobError(job, 'The execution was stopped', { isStopped: true, waitEnded: 'stopped' });

/** After the job was created, its output could not be made, for a reason that is not the service's. */
export const outputFailed = (job: JobSummary, message: string): GatewayError =>
	jobError(job, message, { waitEnded: 'stopped' });

/** Another execution has resumed the wait for the job. */
export const takenUp = (job: JobSummary, execution: string): GatewayError =>
	jobError(job, `Execution ${execution} has resumed and goes on with ${jobName(job)}`, {
		advice:
			'After a restart, n8n shows an execution that resumes as crashed for a moment. That execution delivers the video, so this Retry has nothing to do.',
		retry_can_help: false,
	});

/** The specification does not say whether a job that fails after it was accepted is charged. @param text the body */
export const jobFailed = (
	job: JobSummary,
	{ failure: reason, text }: { failure?: ErrorObject; text: string },
): GatewayError =>
	jobError(job, `${jobName(job)} failed: ${failureReason(reason)}`, {
		...reason,
		retry_can_help: false,
		raw_body: truncateBody(text),
	});

/** In the service's words as far as it gave any. */
export function failureReason(reason: ErrorObject = {}): string {
	const kind = refusalOfCode(reason);
	const meaning = kind && refusals[kind].meaning;
	return excerpt(reason.message ?? meaning ?? reason.code ?? 'the service gave no reason');
}

/** The response may be about anything. */
export const jobStatusUnclear = (
	job: JobSummary,
	{ status, text }: { status: string; text: string },
): GatewayError => {
	const problem = `the response has no job status (${excerpt(status, 100)})`;
	return jobError(job, `${jobName(job)}: ${problem}`, unusable(text));
};

/**
 * @param timeout milliseconds
 * @param last `lastPoll`: why the last poll failed; `url`: the link that it gave under an unknown state
 */
export function deadlinePassed(
	job: JobSummary,
	timeout: number,
	{ lastPoll, url }: { lastPoll?: Failure; url?: string } = {},
): GatewayError {
	const count = Math.round(timeout / 6_000) / 10;
	const minutes = count === 1 ? '1 minute' : `${count} minutes`;
	return jobError(
		job,
		`${jobName(job)} did not finish within ${minutes} (${describeStatus(job)})`,
		{
			waitEnded: 'timeout',
			...withoutUndefined({ url }),
			// Its body may be large, and it says nothing about the job.
			...(lastPoll && { lastPoll: { ...lastPoll, job, billed: 'unknown', raw_body: undefined } }),
		},
	);
}

export const hasJobFailed = ({ job, reach }: Failure): boolean =>
	reach === 'none' && phaseOf(job?.status ?? '') === 'failed';

/** A 404 that says that the video is not finished yet has another kind. */
export const isJobUnknown = ({ kind }: Failure): boolean => kind === 'notFound' || kind === 'gone';

/** Neither endpoint knows the ID. @param error what one of them responded */
export const jobUnknown = (job: JobSummary, error: GatewayError): GatewayError =>
	error.with({
		message: `${jobName(job)} is unknown: neither a reference video nor a video has this ID (HTTP ${error.failure.status})`,
		param: undefined,
	});

/**
 * A job that goes on again may still give a link.
 * @param denial why the service says that there is no file, if it does
 */
export function linkMissing(
	job: JobSummary,
	{ phase, text }: { phase?: Phase; text: string },
	denial?: ErrorObject,
): GatewayError {
	const problem = denial ? failureReason(denial) : 'the response has no link to the file';
	return jobError(job, `${jobName(job)} finished, but ${problem}`, {
		...denial,
		...(isFinal(phase) ? unusable(text) : { raw_body: truncateBody(text) }),
		...(denial && { denies: 'request' }),
	});
}

/** Its link is neither used nor shown. */
export const jobLinkCarriesKey = (job: JobSummary): GatewayError =>
	jobError(job, `${jobName(job)} finished, but its link carries the API key`, {
		reach: 'unreadable',
		kind: 'linkCarriesKey',
		made: 'video',
		billed: 'yes',
		retry_can_help: false,
	});

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
	const isVideo = job.kind === 'video';
	const failure = (isVideo ? (content ?? ofJob) : (ofJob ?? content)) as Failure;
	const { message } = failure;
	const isNamed = message.startsWith(jobName(job));
	// The content endpoint knows nothing of a task.
	const isDenied = ofJob?.denies === 'request' || (isVideo && content?.denies === 'request');
	return jobError(job, isNamed ? message : `${jobName(job)} finished. ${message}`, {
		...failure,
		// The job may hold its link in an unknown field, so its response says more than a failed request.
		...(Object.keys(fields).length > 0 && { raw_body: truncateBody(JSON.stringify(fields)) }),
		...(isDenied
			? { made: 'nothing', billed: 'unknown', retry_can_help: false }
			: { made: 'video', billed: 'yes' }),
	});
}
