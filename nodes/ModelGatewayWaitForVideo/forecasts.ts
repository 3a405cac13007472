import type { IExecuteFunctions } from 'n8n-workflow';
import type { Clock } from '../shared/service/client/http';
import { describeProgress, jobName, type JobSummary } from '../shared/service/errors/jobSummary';
import { expectationOf, type JobWork } from '../shared/service/jobs/expectation';
import { isFinal, phaseOf } from '../shared/service/protocol/jobs';
import type { LiveText } from '../shared/n8n/agent/liveText';
import type { NodeLog } from '../shared/n8n/log/nodeLog';
import { asMarkdown } from '../shared/n8n/display/plainText';
import { JobLengths } from './jobLengths';
import { secondsSince, type Forecast } from './request';
import { jobOf, type StoredItem } from './state';

/**
 * The length of a job is learned only if a poll saw its end at most this late: milliseconds, because n8n resumes a parked
 * execution up to a minute late, or a part of the length. The end is seen later after n8n was down, or with few polls.
 */
const maxUnseen = 120_000;
const maxUnseenPart = 0.2;

/** The forecasts of a pass for running jobs, and the lengths that it learns from those that end. */
export class Forecasts {
	private readonly lengths: JobLengths;
	/** The last reported progress, by the name of the job. */
	private readonly reported = new Map<string, string>();
	private readonly learnedIds = new Set<string>();

	constructor(
		context: IExecuteFunctions,
		private readonly clock: Clock,
	) {
		this.lengths = new JobLengths(context);
	}

	/** Looks up what is known about jobs like this one. To be repeated after a poll, which may tell its kind. */
	async prepare(item: StoredItem): Promise<void> {
		await this.lengths.read(workOf(item));
	}

	/** @param shown how the name of a model is shown, such as in Markdown */
	of(item: StoredItem, now = this.clock.now(), shown?: (text: string) => string): Forecast {
		const work = workOf(item);
		const waited = secondsSince(item.begun?.start, now) ?? 0;
		return { ...expectationOf(work, this.lengths.like(work), waited, shown), waited };
	}

	/** Reports a change of a job once, even if several items wait for it, and once that it takes too long. */
	async report(item: StoredItem, { index, hasChanged, isRunning, live, log }: Poll): Promise<void> {
		const job = jobOf(item);
		await this.prepare(item);
		const forecast = this.of(item, undefined, asMarkdown);
		const news = `${describeProgress(job)} ${forecast.isOverdue}`;
		const isNews = hasChanged || forecast.isOverdue;
		if (!isNews || this.reported.get(jobName(job)) === news) return;
		this.reported.set(jobName(job), news);
		if (hasChanged) {
			const { waited: waitedSeconds, secondsLeft } = forecast;
			const expectedSeconds = secondsLeft && Math.round(secondsLeft);
			log.write('job progress', { item: index, job, waitedSeconds, expectedSeconds });
		}
		const line = describeProgress(job, asMarkdown);
		const text = isRunning && forecast.text ? `. ${forecast.text}` : '';
		// Markdown needs an empty line between two lines.
		await live.add(`${line}${text}\n\n`);
	}

	/** The job has succeeded. @param seenRunningAt when a poll last found it running */
	learn(item: StoredItem, seenRunningAt = -Infinity): void {
		const { start } = item.begun ?? {};
		const { id } = jobOf(item);
		const now = this.clock.now();
		if (!start?.isCreation || this.learnedIds.has(id)) return;
		const length = now - start.at;
		if (now - seenRunningAt > Math.max(maxUnseen, maxUnseenPart * length)) return;
		this.learnedIds.add(id);
		this.lengths.learn(workOf(item), length / 1000);
	}

	/** For the next process and other workers. */
	async save(): Promise<void> {
		await this.lengths.save();
	}
}

interface Poll {
	/** Of the item. */
	index: number;
	/** Whether the status or the progress of its job has changed. */
	hasChanged: boolean;
	isRunning: boolean;
	live: LiveText;
	log: NodeLog;
}

/** Whether the last poll found the job running. */
export const isUnfinished = ({ status }: JobSummary): boolean =>
	status !== undefined && !isFinal(phaseOf(status));

/** The order of an item's job, as far as it is known by now. */
function workOf(item: StoredItem): JobWork {
	const { kind, model, seconds } = item.begun?.start ?? {};
	return { kind: jobOf(item).kind ?? kind, model, seconds };
}
