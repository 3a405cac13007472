import type { FileSource } from '../client/fileRequest';
import type { ResponseFields } from '../client/response';
import type { Failure, GatewayError } from '../errors/gatewayError';
import type { JobSummary } from '../errors/jobSummary';
import { jobKinds, type JobKind } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import type { JobStatus, VideoContent } from './responses';

/** The state of a wait: plain data that survives JSON, and so a restart. Times are in milliseconds. */
export interface PollerState {
	/** As last known. Its kind is absent while it is unknown. */
	readonly job: JobSummary;
	/** Whether the item comes from the creation of the job, so that it certainly exists. */
	readonly isCreated?: boolean;
	/** The endpoint that is polled: a guess until a poll has found the job. */
	readonly kind: JobKind;
	/** Default: what the service recommends for the kind of job. */
	readonly pollInterval?: number;
	/** From `since` to the deadline. */
	readonly timeout: number;
	/** When the timeout started, without the time in which no poll could be sent. */
	readonly since: number;
	/** At the deadline at the latest. */
	readonly nextPollAt: number;
	readonly lastPolledAt?: number;
	/** Whether the last poll got no response, or only a part, which may hold the video. */
	readonly isUnanswered?: boolean;
	/** The last polls, all refused because of this job or this key; null: the last one was not. */
	readonly refused?: { readonly since: number; readonly count: number } | null;
	/** Later polls are left to another pass. Null: this pass lasts until the wait is over. */
	readonly passEndsAt: number | null;
	readonly stage: Stage;
}

export type Stage =
	| { readonly name: 'polling' }
	/** The endpoint of one kind gave no status of the job; the endpoint of the other kind is polled next. */
	| { readonly name: 'tryingOtherKind'; readonly refusal: Failure }
	| Linking;

/** The job has succeeded. Its link is in the job itself, or the content endpoint gives it. */
export interface Linking {
	readonly name: 'linking';
	/** Until when the link is looked for, although the service says that there is none. */
	readonly deadline: number;
	/** Those of the response that said so, and its link. */
	readonly fields: ResponseFields;
	readonly link?: string;
	/** The link is looked for there next. */
	readonly source: LinkSource;
	/** Why the last look gave none. */
	readonly failures: Readonly<Partial<Record<LinkSource, Failure>>>;
}

type LinkSource = 'job' | 'content';

export type PollerEvent =
	/** A pass of the wait begins; it sends no poll in its first `delay` milliseconds. */
	| { type: 'passStarted'; now: number; delay?: number; endsAt?: number }
	/** The end of a `wait`. */
	| { type: 'due'; now: number }
	| { type: 'polled'; now: number; status: JobStatus }
	| { type: 'contentReceived'; content: VideoContent }
	| { type: 'requestFailed'; now: number; error: GatewayError }
	| { type: 'linkExpired'; now: number }
	/** The user pressed Stop, or it makes no sense to wait longer. */
	| { type: 'stopped' };

export type PollerAction =
	| { do: 'wait'; until: number }
	/** One poll, without retries. Limits of the credential may hold it back for at most `patience` milliseconds. */
	| { do: 'poll'; kind: JobKind; timeout: number; patience?: number }
	| { do: 'fetchContent' }
	/** The next poll belongs to another pass, which begins then or later. */
	| { do: 'park'; until: number }
	| { do: 'finish'; finished: FinishedJob }
	| { do: 'fail'; error: GatewayError };

export interface Step {
	state: PollerState;
	action: PollerAction;
}

export interface FinishedJob {
	source: FileSource;
	fields: ResponseFields;
}

export const polling: Stage = { name: 'polling' };

interface NewWait extends Pick<PollerState, 'timeout' | 'pollInterval' | 'isCreated'> {
	now: number;
	/** The kind to poll first when the job's is unknown. */
	guess?: JobKind;
}

export function startWait(
	job: Pick<JobSummary, 'id' | 'kind'>,
	{ now, guess = 'task', pollInterval, timeout, isCreated }: NewWait,
): PollerState {
	const kind = job.kind ?? guess;
	const schedule = { pollInterval, timeout, since: now, nextPollAt: now, passEndsAt: null };
	return { job, isCreated, kind, ...schedule, stage: polling };
}

/** The state after the clock was set. @param milliseconds negative when it was set back */
export function moved(state: PollerState, milliseconds: number): PollerState {
	const { since, nextPollAt, lastPolledAt, refused, stage } = state;
	return {
		...state,
		since: since + milliseconds,
		nextPollAt: nextPollAt + milliseconds,
		lastPolledAt: lastPolledAt === undefined ? undefined : lastPolledAt + milliseconds,
		refused: refused && { ...refused, since: refused.since + milliseconds },
		stage: stage.name === 'linking' ? { ...stage, deadline: stage.deadline + milliseconds } : stage,
	};
}

export const deadlineOf = ({ since, timeout }: PollerState): number => since + timeout;

export const isKnown = ({ job, isCreated }: PollerState) =>
	isCreated === true || job.status !== undefined;

/** Whether the service has just said that the job is unknown. Said again a few seconds later, it is final. */
const isDoubtful = (state: PollerState) => Boolean(state.refused) && !isKnown(state);

export const fail = (state: PollerState, error: GatewayError): Step => ({
	state,
	action: { do: 'fail', error },
});

// ── When the next request is sent ────────────────────────────────────────────────────────────────

export const minInterval = limits.minPollSeconds * 1000;
const maxPollTimeout = 60_000;
const minPollTimeout = 5_000;
/**
 * For a poll in a pass, unless the one before got no response either. With `maxPassPatience`, a pass takes less than
 * the 30 s after which n8n kills a process that is to stop.
 */
const passPollTimeout = 8_000;

/** For limits that hold back the polls of a pass: meanwhile, the execution may keep others from running. */
const maxPassPatience = 20_000;

/** A poll is later than this only when n8n was down, or its clock was set forward. */
const maxLateness = 180_000;

export function startPass(
	state: PollerState,
	{ now, delay = 0, endsAt }: Extract<PollerEvent, { type: 'passStarted' }>,
): Step {
	const lateness = now - state.nextPollAt;
	const resumed = lateness > maxLateness ? moved(state, lateness) : state;
	return waitForPoll({ ...resumed, passEndsAt: endsAt ?? null }, now, now + delay);
}

/** @param earliest the next poll is not sent before this time, even if it is due */
export function waitForPoll(state: PollerState, now: number, earliest = now): Step {
	const { nextPollAt, passEndsAt } = state;
	// Waiting for a poll that is nearly due is faster than leaving it to another pass.
	const isSoon = isDoubtful(state) && nextPollAt <= now + minInterval;
	if (passEndsAt !== null && nextPollAt > passEndsAt + minInterval && !isSoon) {
		return { state, action: { do: 'park', until: nextPollAt } };
	}
	return waitUntil(state, now, Math.max(nextPollAt, Math.min(earliest, deadlineOf(state))));
}

/** @param time of the next request, which is later when it would follow the last poll too closely */
export function waitUntil(state: PollerState, now: number, time = now): Step {
	const { lastPolledAt = -Infinity } = state;
	const until = Math.max(time, lastPolledAt + minInterval);
	return until > now ? { state, action: { do: 'wait', until } } : sendRequest(state, now);
}

export function sendRequest(state: PollerState, now: number): Step {
	const { stage, kind, passEndsAt, isUnanswered } = state;
	const polled = { ...state, lastPolledAt: now };
	if (stage.name === 'linking') {
		if (stage.source === 'content') return { state, action: { do: 'fetchContent' } };
		// A finished video is not left to another pass.
		return {
			state: polled,
			action: { do: 'poll', kind, timeout: maxPollTimeout, patience: undefined },
		};
	}
	const timeLeft = Math.max(minPollTimeout, deadlineOf(state) - now);
	const isShort = passEndsAt !== null && !isUnanswered;
	const timeout = Math.min(isShort ? passPollTimeout : maxPollTimeout, timeLeft);
	// All polls of a pass give up at the same moment: otherwise, the first one would, just before its turn.
	const leftOfPass = (passEndsAt ?? Infinity) + maxPassPatience - now;
	const patience = Math.max(0, Math.min(leftOfPass, timeLeft));
	return { state: polled, action: { do: 'poll', kind, timeout, patience } };
}

export function pauseAfter(state: PollerState, failure?: Failure): number {
	const { pollInterval = jobKinds[state.kind].pollSeconds * 1000 } = state;
	const interval = isDoubtful(state) ? minInterval : pollInterval;
	return Math.max(minInterval, interval, failure?.retryAfter ?? 0);
}
