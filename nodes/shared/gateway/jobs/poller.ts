import type { FileSource } from '../client/fileRequest';
import type { Clock } from '../client/http';
import type { ResponseFields } from '../client/response';
import { asGatewayError, GatewayError } from '../errors/gatewayError';
import {
	deadlinePassed,
	jobFailed,
	linkMissing,
	linkNotFound,
	jobStopped,
} from '../errors/jobErrors';
import type { JobSummary } from '../errors/jobSummary';
import { isFinal, jobKinds, type JobKind } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import type { JobStatus } from './responses';

/** The two questions a wait asks of the service; handed in, so that a test can answer them. */
export interface JobSource {
	/** One poll, without retries. @param timeout milliseconds */
	poll(kind: JobKind, id: string, timeout: number): Promise<JobStatus>;
	/** Where the file of a finished video job is. */
	content(id: string): Promise<{ source: FileSource; fields: ResponseFields }>;
}

export interface WaitSettings {
	clock: Clock;
	/** Aborts when the user presses Stop, or when waiting on makes no sense. */
	signal?: AbortSignal;
	/** Milliseconds between polls; default: as the service recommends for the kind of job. */
	pollInterval?: number;
	/** Milliseconds from {@link WaitedJob.since} to the deadline. */
	timeout: number;
	/** Milliseconds before the first poll, so that many jobs do not ask at the same moment. */
	firstPollAfter?: number;
	/** Told whenever the status or the progress has changed. */
	onChange?: (note: JobSummary) => Promise<void> | void;
}

export interface FinishedJob {
	fields: ResponseFields;
	source: FileSource;
}

/** A job that is waited for, as far as it is known; it survives JSON, and with it a restart. */
export interface WaitedJob {
	/** Milliseconds since 1970: the timeout counts from here. It moves on by the time in which nobody could ask. */
	since: number;
	/** When it is to be asked for next, in milliseconds since 1970. */
	due: number;
	/** When it was asked for last. */
	asked?: number;
	/** Without a kind, only the service can tell which one it is. */
	note: JobSummary;
}

const minInterval = limits.minPollSeconds * 1000;
const pollTimeLimit = 60_000;
const minTimeLimit = 5_000;

/** A job that ended at the last moment still gets this long to tell where its file is. */
const graceForLink = 60_000;

/** A poll is later than that only when nobody was there to ask, as when n8n was down. */
const latestPoll = 180_000;

/**
 * Waits for one job; a node runs one of these for each item, side by side. It survives every poll that
 * goes wrong, and whichever way it ends, the job's note tells where it stands.
 */
export class JobWatch {
	/** Which kind of job the id seems to belong to; undefined when only the service can tell. */
	private readonly told?: JobKind;
	private kind: JobKind;
	private trouble?: GatewayError;

	/** @param job kept up to date */
	constructor(
		private readonly source: JobSource,
		private readonly job: WaitedJob,
		private readonly settings: WaitSettings,
	) {
		this.told = job.note.kind;
		this.kind = this.told ?? 'task';
	}

	/**
	 * Asks for the job whenever that is due.
	 * @param until milliseconds since 1970; a poll that is due later is left to another watch of this job
	 * @returns undefined when the job still runs then
	 * @throws GatewayError about the job: it failed, the deadline passed, Stop, or a refusal
	 */
	async wait(): Promise<FinishedJob>;
	async wait(until: number): Promise<FinishedJob | undefined>;
	async wait(until = Infinity): Promise<FinishedJob | undefined> {
		const { job, settings } = this;
		const { clock, timeout, firstPollAfter = 0 } = settings;
		const late = clock.now() - job.due;
		if (late > latestPoll) job.since += late;
		const deadline = job.since + timeout;
		const earliest = clock.now() + firstPollAfter;
		for (;;) {
			// To leave a poll that is nearly due to another watch takes longer than to wait for it.
			if (Math.min(job.due, deadline) > until + minInterval) return undefined;
			const next = Math.min(Math.max(job.due, earliest), deadline);
			await this.pause(next - clock.now());
			const isLast = next === deadline || clock.now() >= deadline;
			const timeLimit = Math.max(minTimeLimit, deadline - clock.now());
			const sight = await this.look(Math.min(pollTimeLimit, timeLimit));
			if (sight && isFinal(sight.phase)) return await this.outcomeOf(sight, deadline);
			if (isLast) throw deadlinePassed(job.note, timeout, this.trouble?.failure);
			job.due = clock.now() + Math.max(this.interval, this.trouble?.failure.retryAfter ?? 0);
		}
	}

	/** The file's address anew, for a link that has expired. */
	async freshSource(): Promise<FileSource> {
		await this.pause(0);
		const sight = this.kind === 'task' ? await this.look(pollTimeLimit) : undefined;
		const deadline = this.settings.clock.now() + graceForLink;
		return (await this.untilLinked({ fields: {}, ...sight }, deadline)).source;
	}

	private async outcomeOf(sight: JobStatus, deadline: number): Promise<FinishedJob> {
		if (sight.phase === 'failed') throw jobFailed(this.job.note, sight);
		const grace = this.settings.clock.now() + graceForLink;
		return await this.untilLinked(sight, Math.max(deadline, grace));
	}

	/** One poll that may go wrong: undefined then, unless it says that no later one can do better. */
	private async look(timeLimit: number): Promise<JobStatus | undefined> {
		let outcome = await this.attempt(timeLimit);
		if (outcome instanceof GatewayError && this.mayBeOfOtherKind(outcome)) {
			outcome = await this.lookElsewhere(outcome, timeLimit);
		}
		if (!(outcome instanceof GatewayError)) {
			this.trouble = undefined;
			return outcome;
		}
		this.trouble = outcome;
		if (!isPassing(outcome)) throw outcome.with({ job: this.job.note });
		return undefined;
	}

	/** Until the job was seen, its kind is a guess. */
	private mayBeOfOtherKind(refusal: GatewayError): boolean {
		if (this.job.note.status !== undefined) return false;
		return !isPassing(refusal) || (!this.told && saysUnknown.test(refusal.failure.raw_body ?? ''));
	}

	/** Asks the endpoint of the other kind, and stays with it unless that refuses the job for good. */
	private async lookElsewhere(
		refusal: GatewayError,
		timeLimit: number,
	): Promise<JobStatus | GatewayError> {
		this.turn();
		await this.pause(0);
		const outcome = await this.attempt(timeLimit);
		if (!(outcome instanceof GatewayError) || isPassing(outcome)) return outcome;
		this.turn();
		// Where the kind is a mere trial, "not found" says less than any other refusal.
		return this.told || refusal.failure.status !== 404 ? refusal : outcome;
	}

	private async attempt(timeLimit: number): Promise<JobStatus | GatewayError> {
		const outcome = await this.poll(timeLimit).catch(asGatewayError);
		if (outcome instanceof GatewayError && this.settings.signal?.aborted)
			throw jobStopped(this.job.note);
		return outcome;
	}

	private turn(): void {
		this.kind = this.kind === 'task' ? 'video' : 'task';
	}

	private async poll(timeLimit: number): Promise<JobStatus> {
		const { clock, onChange } = this.settings;
		const { kind, job } = this;
		const { note } = job;
		job.asked = clock.now();
		const sight = await this.source.poll(kind, note.id, timeLimit);
		const { status, progress, fields, failure } = sight;
		// Some say so with a good status.
		if (!note.status && failure && saysUnknown.test(JSON.stringify(failure))) {
			throw jobFailed(note, sight);
		}
		const changed = status !== note.status || progress !== note.progress;
		Object.assign(note, { kind, status });
		if (progress !== undefined) note.progress = progress;
		if (fields.request_id) note.request_id = fields.request_id;
		if (changed) await onChange?.(note);
		return sight;
	}

	/** The state is final and is not asked for again, unless the link itself is missing from it. */
	private async untilLinked(
		sight: Pick<JobStatus, 'link' | 'fields'>,
		deadline: number,
	): Promise<FinishedJob> {
		const { clock } = this.settings;
		const { id } = this.job.note;
		for (let link = sight.link; ;) {
			try {
				if (this.kind === 'video') {
					const { source, fields } = await this.source.content(id);
					return { source, fields: { ...sight.fields, ...fields, id, url: source.url } };
				}
				if (link === undefined) throw linkMissing(this.job.note);
				return {
					source: { url: link, authenticated: false },
					fields: { ...sight.fields, task_id: id, result_url: link },
				};
			} catch (error) {
				const failure = asGatewayError(error);
				const wait = Math.max(this.interval, failure.failure.retryAfter ?? 0);
				if (!isPassing(failure) || clock.now() + wait > deadline) {
					throw linkNotFound(this.job.note, failure);
				}
				await this.pause(wait);
			}
			if (this.kind === 'task') link = (await this.look(pollTimeLimit))?.link;
		}
	}

	private get lastPoll(): number {
		return this.job.asked ?? -Infinity;
	}

	private get interval(): number {
		const recommended = jobKinds[this.kind].pollSeconds * 1000;
		return Math.max(minInterval, this.settings.pollInterval ?? recommended);
	}

	/** Sleeps, and longer if the last poll was less than the shortest interval ago. */
	private async pause(milliseconds: number): Promise<void> {
		const { clock, signal } = this.settings;
		const wait = Math.max(milliseconds, this.lastPoll + minInterval - clock.now());
		if (signal?.aborted) throw jobStopped(this.job.note);
		if (wait > 0) await clock.sleep(wait, signal).catch(() => undefined);
		if (signal?.aborted) throw jobStopped(this.job.note);
	}
}

/** Whether a later poll may do better. */
function isPassing({ failure }: GatewayError): boolean {
	return failure.pollCanHelp ?? false;
}

/** Which status and code an unknown job gets is not shown. */
const saysUnknown = /n[o']t.{0,6}(found|exist)/i;
