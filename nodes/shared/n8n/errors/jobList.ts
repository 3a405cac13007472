import { GatewayError } from '../../service/errors/gatewayError';
import { isJobUnknown } from '../../service/errors/jobErrors';
import { describeStatus, shownId, type JobSummary } from '../../service/errors/jobSummary';
import { phaseOf } from '../../service/protocol/jobs';

/** What to expect of a job. */
type Outlook = 'open' | 'finished' | 'failed' | 'unknown';

export interface ItemJob extends JobSummary {
	/** The item that the job belongs to; undefined for a job of an earlier try that belongs to none. */
	item?: number;
	outlook: Outlook;
}

/** @param error the error of its item, if that failed */
export function outlookOf({ status = '' }: JobSummary, error: unknown): Outlook {
	const phase = phaseOf(status);
	const failure = error instanceof GatewayError ? error.failure : undefined;
	if (phase === 'failed') return 'failed';
	// Only fetching a finished video can fail after it was billed.
	if (phase === 'succeeded' || failure?.billed === 'yes') return 'finished';
	return failure && isJobUnknown(failure) ? 'unknown' : 'open';
}

const headings: Record<Outlook, string> = {
	open: 'Jobs that can be waited for again by ID',
	finished: 'Finished jobs, which Wait for Video fetches by ID',
	failed: 'Jobs that failed and will not finish',
	unknown: 'Jobs that the service did not find',
};

/**
 * Lists all jobs, even if there are many, since each is charged.
 * @param areKept whether a retry reuses these jobs
 * @param itemCount number of items of the node; a single item is not named
 */
export function describeJobs(jobs: ItemJob[], areKept: boolean, itemCount?: number): string {
	const nameOf = ({ item }: ItemJob) => {
		if (item === undefined) return 'of an earlier try: ';
		return itemCount === 1 ? '' : `item ${item}: `;
	};
	const listed = (ofKind: ItemJob[]) =>
		ofKind.map((job) => `${nameOf(job)}${shownId(job.id)} (${describeStatus(job)})`).join('; ');
	if (areKept && jobs.length > 0) {
		return `Jobs already created, which a retry does not create again: ${listed(jobs)}.`;
	}
	return (Object.keys(headings) as Outlook[])
		.map((outlook) => [headings[outlook], jobs.filter((job) => job.outlook === outlook)] as const)
		.filter(([, ofKind]) => ofKind.length > 0)
		.map(([heading, ofKind]) => `${heading}: ${listed(ofKind)}.`)
		.join(' ');
}
