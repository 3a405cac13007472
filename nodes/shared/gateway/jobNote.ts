import type { JobKind } from './protocol';

/** Where a job stands, as far as we know: enough to collect it later. */
export interface JobNote {
	kind?: JobKind;
	id: string;
	status?: string;
	/** Percent. */
	progress?: number;
	request_id?: string;
}

export function nameOf({ kind, id }: JobNote): string {
	return `${kind === 'video' ? 'Video job' : kind === 'task' ? 'Video task' : 'Job'} ${id}`;
}

/** Where a job stands, for somebody who waits: "Video task …: running, 40 %". */
export function progressOf(job: JobNote): string {
	const { status = 'no status yet', progress } = job;
	const standing = status.toLowerCase().replaceAll('_', ' ');
	return `${nameOf(job)}: ${standing}${progress === undefined ? '' : `, ${progress} %`}`;
}

export function standingOf({ status, progress }: JobNote): string {
	if (status === undefined) return 'no status seen yet';
	return `last status ${status}${progress === undefined ? '' : `, ${progress} %`}`;
}
