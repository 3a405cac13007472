import type { FileSource } from '../client/fileRequest';
import type { Clock } from '../client/http';
import { asGatewayError } from '../errors/gatewayError';
import type { JobSummary } from '../errors/jobSummary';
import type { JobKind } from '../protocol/jobs';
import {
	step,
	type FinishedJob,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from './poller';
import type { JobStatus, VideoContent } from './responses';

/** The two requests of a wait, handed in by whoever sends them. Both are sent without retries. */
export interface JobSource {
	/**
	 * @param timeout milliseconds
	 * @param patience milliseconds for which other requests may hold it back
	 */
	poll(kind: JobKind, id: string, timeout: number, patience?: number): Promise<JobStatus>;
	content(id: string): Promise<VideoContent>;
}

export interface WaitSettings {
	clock: Clock;
	/** Aborts when the user presses Stop, or when waiting on makes no sense. */
	signal?: AbortSignal;
	/** Milliseconds before the first poll of a pass, so that many jobs are not polled at the same moment. */
	firstPollAfter?: number;
	/** Called with the job whenever its status or its progress has changed. */
	onChange?: (job: JobSummary) => Promise<void> | void;
}

/** Drives the poller of one job in real time: does what it asks for, and tells it what came of that. */
export class JobWait {
	constructor(
		private readonly source: JobSource,
		/** What the next pass has to be given. */
		public state: PollerState,
		private readonly settings: WaitSettings,
	) {}

	/**
	 * Waits to the end.
	 * @throws GatewayError about the job: it failed, the deadline passed, Stop, or a refusal
	 */
	async hold(): Promise<FinishedJob> {
		return (await this.pass()) as FinishedJob;
	}

	/**
	 * One pass of a wait that is parked between its polls.
	 * @param endsAt milliseconds since 1970; a poll that is due later is left to another pass
	 * @returns undefined when the job still runs then
	 * @throws GatewayError as {@link hold} does
	 */
	async pollUntil(endsAt: number): Promise<FinishedJob | undefined> {
		return await this.pass(endsAt);
	}

	/** The file's address anew, for a link of the finished job that has expired. @throws GatewayError */
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
		// A status that says that the job is unknown is not the job's.
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
					const status = await this.source.poll(action.kind, id, action.timeout, action.patience);
					return { type: 'polled', now: status.receivedAt ?? clock.now(), status };
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
