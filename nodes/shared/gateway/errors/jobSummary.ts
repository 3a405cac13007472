import type { JobKind } from '../protocol/jobs';

/** Where a job stands, as far as we know: enough to collect it later. */
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

/** Where a job stands, for somebody who waits: "Video task …: running, 40 %". */
export function describeProgress(job: JobSummary): string {
	const { status = 'no status yet', progress } = job;
	const standing = status.toLowerCase().replaceAll('_', ' ');
	return `${jobName(job)}: ${standing}${progress === undefined ? '' : `, ${progress} %`}`;
}

export function describeStatus({ status, progress }: JobSummary): string {
	if (status === undefined) return 'no status seen yet';
	return `last status ${status}${progress === undefined ? '' : `, ${progress} %`}`;
}
