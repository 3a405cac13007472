import { Distribution } from './distribution';

/** What came of the waits. Times in milliseconds. */
export class Tally {
	/** How many jobs ended how. */
	readonly outcomes = { finished: 0, failed: 0, timedOut: 0, linkNotFound: 0 };
	/** How often a promise was broken. */
	readonly broken = { pollTooSoon: 0, pollAfterEnd: 0, noticedTooLate: 0, jobLost: 0 };
	/** The most jobs that were waited for at the same time. */
	maxAtOnce = 0;
	/** Between two polls of one job. */
	shortestGap = Infinity;
	/** Of one job. */
	readonly polls: Distribution;
	/** Of one job, had nothing gone wrong and had its kind been known: one at once, and one in each interval. */
	readonly faultlessPolls: Distribution;
	/** From the end of a job to the answer that told it. */
	readonly delays: Distribution;

	constructor(jobs: number) {
		this.polls = new Distribution(jobs);
		this.faultlessPolls = new Distribution(jobs);
		this.delays = new Distribution(jobs);
	}
}
