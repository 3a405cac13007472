import type { JobKind } from '../protocol/jobs';

/** The last known status of a job, with all that is needed to collect it later. */
export interface JobSummary {
	kind?: JobKind;
	id: string;
	status?: string;
	/** Percent. */
	progress?: number;
	request_id?: string;
}

export const jobName = ({ id }: JobSummary) => `Video job ${onOneLine(id)}`;

/** Without line breaks and escape sequences, with which a server could write its own lines into n8n's log. */
const onOneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** The progress of a job, for progress messages: "Video job …: running, 40 %". */
export function describeProgress(job: JobSummary): string {
	const { status = 'waiting for the first status check', progress } = job;
	const state = onOneLine(status.toLowerCase().replaceAll('_', ' '));
	return `${jobName(job)}: ${state}${progress === undefined ? '' : `, ${progress} %`}`;
}

export function describeStatus({ status, progress }: JobSummary): string {
	if (status === undefined) return 'no status check yet';
	return `last status ${onOneLine(status)}${progress === undefined ? '' : `, ${progress} %`}`;
}
