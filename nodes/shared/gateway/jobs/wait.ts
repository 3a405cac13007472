import type { FileSource } from '../client/fileRequest';
import type { Clock } from '../client/http';
import type { InTurn } from '../client/sendInTurn';
import { asGatewayError } from '../errors/gatewayError';
import type { JobSummary } from '../errors/jobSummary';
import { jobKinds, type JobKind } from '../protocol/jobs';
import {
	step,
	type FinishedJob,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from './poller';
import type { JobStatus, VideoContent } from './responses';

/** A status, and when it arrived, in milliseconds since 1970: another wait may have asked for it. */
export interface ReceivedStatus extends JobStatus {
	receivedAt: number;
}

/** The two requests of a wait, without retries. */
export interface JobSource {
	/**
	 * @param options milliseconds: `timeout` of the request, `patience` while other requests hold it back, and which
	 * earlier response will do
	 */
	poll(
		kind: JobKind,
		id: string,
		options: Pick<InTurn, 'patience' | 'reuse'> & { timeout: number },
	): Promise<ReceivedStatus>;
	/** @param since milliseconds since 1970: the response must have arrived later */
	content(id: string, since?: number): Promise<VideoContent>;
}

export interface WaitSettings {
	clock: Clock;
	/** Aborts when the user presses Stop, or when it makes no sense to wait longer. */
	signal?: AbortSignal;
	/** Milliseconds before the first poll of a pass, so that many jobs are not polled at the same moment. */
	firstPollAfter?: number;
	/** Called with the job whenever its status or its progress has changed. */
	onChange?: (job: JobSummary) => Promise<void> | void;
}

/** Drives the poller of one job in real time: performs its actions, and passes it the events that result. */
export class JobWait {
	/** When each endpoint last responded or failed, in milliseconds since 1970. */
	private readonly receivedAt = new Map<JobKind | 'content', number>();

	constructor(
		private readonly source: JobSource,
		/** The state from which the next pass starts. */
		public state: PollerState,
		private readonly settings: WaitSettings,
	) {
		const { kind, lastPolledAt } = state;
		if (lastPolledAt !== undefined) this.receivedAt.set(kind, lastPolledAt);
	}

	/**
	 * Waits until the job ends.
	 * @throws GatewayError about the job: it failed, the deadline passed, Stop, or a refusal
	 */
	async hold(): Promise<FinishedJob> {
		return (await this.pass()) as FinishedJob;
	}

	/**
	 * One pass of a wait that is parked between its polls.
	 * @param endsAt milliseconds since 1970; a poll that is due later is left to another pass
	 * @returns undefined when the job is still running then
	 * @throws GatewayError as {@link hold} does
	 */
	async pollUntil(endsAt: number): Promise<FinishedJob | undefined> {
		return await this.pass(endsAt);
	}

	/** A new link to the file of the finished job, after the last one has expired. @throws GatewayError */
	async freshSource(): Promise<FileSource> {
		const now = this.settings.clock.now();
		const { source } = (await this.run({ type: 'linkExpired', now })) as FinishedJob;
		return source;
	}

	private async pass(endsAt?: number): Promise<FinishedJob | undefined> {
		const { clock, firstPollAfter: delay } = this.settings;
		return await this.run({ type: 'passStarted', now: clock.now(), delay, endsAt });
	}

	/** Undefined when the wait is parked. */
	private async run(first: PollerEvent): Promise<FinishedJob | undefined> {
		for (let event = first; ;) {
			const { state, action } = step(this.state, event);
			const before = this.state.job;
			this.state = state;
			if (event.type === 'polled') await this.reportChange(before, event.status);
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

	private async reportChange(before: JobSummary, { status, progress }: JobStatus): Promise<void> {
		const { job } = this.state;
		const hasChanged = status !== before.status || progress !== before.progress;
		// A response that says that the job is unknown has no status of the job.
		if (hasChanged && status === job.status) await this.settings.onChange?.(job);
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
					const reuse = this.reuseFor(kind);
					const status = await this.source.poll(kind, id, { timeout, patience, reuse });
					this.receivedAt.set(kind, status.receivedAt);
					return { type: 'polled', now: status.receivedAt, status };
				}
				case 'fetchContent': {
					const content = await this.source.content(id, this.reuseFor('content')?.since);
					this.receivedAt.set('content', clock.now());
					return { type: 'contentReceived', content };
				}
			}
		} catch (error) {
			if (signal?.aborted) return { type: 'stopped' };
			this.receivedAt.set(action.do === 'poll' ? action.kind : 'content', clock.now());
			return { type: 'requestFailed', now: clock.now(), error: asGatewayError(error) };
		}
	}

	/** Which response that another wait has requested will do: any that is newer than the last one of this wait. */
	private reuseFor(endpoint: JobKind | 'content'): InTurn['reuse'] {
		const last = this.receivedAt.get(endpoint);
		if (last !== undefined) return { since: last };
		// A wait that was at the other endpoint first polls together with the others from then on.
		const isLate = endpoint !== 'content' && this.receivedAt.size > 0;
		return isLate ? { since: 0, maxAge: 1000 * jobKinds[endpoint].pollSeconds } : undefined;
	}
}
