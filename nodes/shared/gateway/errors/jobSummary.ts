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

export function jobName({ kind, id }: JobSummary): string {
	return `${kind === 'video' ? 'Video job' : kind === 'task' ? 'Video task' : 'Job'} ${id}`;
}

/** The progress of a job, for progress messages: "Video task …: running, 40 %". */
export function describeProgress(job: JobSummary): string {
	const { status = 'no status yet', progress } = job;
	const state = status.toLowerCase().replaceAll('_', ' ');
	return `${jobName(job)}: ${state}${progress === undefined ? '' : `, ${progress} %`}`;
}

export function describeStatus({ status, progress }: JobSummary): string {
	if (status === undefined) return 'no status seen yet';
	return `last status ${status}${progress === undefined ? '' : `, ${progress} %`}`;
}
