import { beginningOf } from '../json';
import { oneLine } from '../oneLine';
import type { JobKind } from '../protocol/jobs';

/** The last known status of a job, and what is needed to collect it later. */
export interface JobSummary {
	kind?: JobKind;
	id: string;
	status?: string;
	/** Percent. */
	progress?: number;
	request_id?: string;
}

/** In characters of an ID: a service can write any text there. */
const maxShownLength = 500;

/** @param shown makes words of the service safe to show, such as in Markdown */
export const jobName = ({ id }: JobSummary, shown = oneLine) => `Video job ${shownId(id, shown)}`;

export const shownId = (id: string, shown = oneLine): string =>
	id.length > maxShownLength ? `${shown(beginningOf(id, maxShownLength))}…` : shown(id);

/** "Video job …: running, 40 %" */
export function describeProgress(job: JobSummary, shown = oneLine): string {
	return `${jobName(job, shown)}: ${describeState(job, shown)}`;
}

export function describeState({ status, progress }: JobSummary, shown = oneLine): string {
	if (status === undefined) return 'waiting for the first status check';
	const state = shown(status.toLowerCase().replaceAll('_', ' '));
	return `${state}${progress === undefined ? '' : `, ${progress} %`}`;
}

export function describeStatus({ status, progress }: JobSummary): string {
	if (status === undefined) return 'no status check yet';
	return `last status ${oneLine(status)}${progress === undefined ? '' : `, ${progress} %`}`;
}
