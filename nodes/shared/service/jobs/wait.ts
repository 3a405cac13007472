import type { FileSource } from '../client/fileRequest';
import type { Clock } from '../client/http';
import { asGatewayError } from '../errors/gatewayError';
import type { JobSummary } from '../errors/jobSummary';
import { isFinal, type JobKind } from '../protocol/jobs';
import { step } from './poller';
import type { FinishedJob, PollerAction, PollerEvent, PollerState } from './pollerState';
import type { JobStatus, VideoContent } from './responses';

/** The two requests of a wait, without retries. */
export interface JobSource {
	/** @param options milliseconds: `timeout` of the request, `patience` while limits hold it back */
	poll(
		kind: JobKind,
		id: string,
		options: { timeout: number; patience?: number },
	): Promise<JobStatus>;
	content(id: string): Promise<VideoContent>;
}

export interface WaitSettings {
	clock: Clock;
	/** Aborts on Stop, or when it makes no sense to wait longer. */
	signal?: AbortSignal;
	/** Milliseconds, so that many jobs are not polled at the same moment. */
	firstPollAfter?: number;
	/** Called when a poll gave the job's status; `hasChanged` tells of that and the progress. */
	onPoll?: (job: JobSummary, hasChanged: boolean, isRunning: boolean) => Promise<void> | void;
}

/** Drives the poller of one job in real time. */
export class JobWait {
	constructor(
		private readonly source: JobSource,
		public state: PollerState,
		private readonly settings: WaitSettings,
	) {}

	/**
	 * Waits until the job ends.
	 * @throws GatewayError about the job: it failed, the deadline passed, Stop, or a refusal
	 */
	async hold(): Promise<FinishedJob> {
		return (await this.pollUntil()) as FinishedJob;
	}

	/**
	 * One pass of a wait that is parked between its polls.
	 * @param endsAt milliseconds since 1970; a poll that is due later is left to another pass. Default: there is no other
	 * @returns undefined when the job is still running then
	 * @throws GatewayError as {@link hold} does
	 */
	async pollUntil(endsAt?: number): Promise<FinishedJob | undefined> {
		const { clock, firstPollAfter: delay } = this.settings;
		return await this.run({ type: 'passStarted', now: clock.now(), delay, endsAt });
	}

	/** A new link to the file of the finished job. @throws GatewayError */
	async freshSource(): Promise<FileSource> {
		const now = this.settings.clock.now();
		const { source } = (await this.run({ type: 'linkExpired', now })) as FinishedJob;
		return source;
	}

	private async run(first: PollerEvent): Promise<FinishedJob | undefined> {
		for (let event = first; ;) {
			const { state, action } = step(this.state, event);
			const before = this.state.job;
			this.state = state;
			if (event.type === 'polled') await this.reportPoll(before, event.status);
			switch (action.do) {
				case 'finish':
					return action.finished;
				case 'fail':
					throw action.error;
				case 'park':
					return undefined;
				default:
					event = await this.perform(action);
			}
		}
	}

	private async reportPoll(
		before: JobSummary,
		{ status, progress, phase }: JobStatus,
	): Promise<void> {
		const { job } = this.state;
		const hasChanged = status !== before.status || progress !== before.progress;
		// A response that says that the job is unknown has no status of the job.
		if (status === job.status) await this.settings.onPoll?.(job, hasChanged, !isFinal(phase));
	}

	private async perform(
		action: Extract<PollerAction, { do: 'wait' | 'poll' | 'fetchContent' }>,
	): Promise<PollerEvent> {
		const { clock, signal } = this.settings;
		if (signal?.aborted) return { type: 'stopped' };
		const { id } = this.state.job;
		try {
			switch (action.do) {
				case 'wait':
					await clock.sleep(Math.max(0, action.until - clock.now()), signal);
					return { type: 'due', now: clock.now() };
				case 'poll': {
					const { kind, timeout, patience } = action;
					const status = await this.source.poll(kind, id, { timeout, patience });
					return { type: 'polled', now: clock.now(), status };
				}
				case 'fetchContent':
					return { type: 'contentReceived', content: await this.source.content(id) };
			}
		} catch (error) {
			if (signal?.aborted) return { type: 'stopped' };
			return { type: 'requestFailed', now: clock.now(), error: asGatewayError(error) };
		}
	}
}
