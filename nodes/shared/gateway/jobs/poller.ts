/**
 * The wait for one job as a pure function, without a clock, promises or randomness. A driver performs the action that
 * `step` returns, and passes in the event that results, until the wait is parked or over.
 *
 *     passStarted ─► wait ─► poll ─┬─► running ─► wait …, or park until another pass
 *                                  ├─► failed, refused, deadline ─► fail
 *                                  └─► succeeded ─► fetch the link ─► finish … linkExpired ─► fetch the link
 *
 * Times are in milliseconds; points in time are counted from 1970.
 */
import type { FileSource } from '../client/fileRequest';
import { withOwnFields, type ResponseFields } from '../client/response';
import { GatewayError, type Failure } from '../errors/gatewayError';
import {
	deadlinePassed,
	isJobUnknown,
	jobFailed,
	jobLinkCarriesKey,
	jobStopped,
	jobStatusUnclear,
	jobUnknown,
	linkMissing,
	linkNotFound,
} from '../errors/jobErrors';
import type { JobSummary } from '../errors/jobSummary';
import { withoutUndefined } from '../json';
import { notFoundWords } from '../protocol/errorCodes';
import { jobKinds, type JobKind } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import { namesJob } from './jobIdentity';
import type { JobStatus, VideoContent } from './responses';

/** The state of a wait. It is plain data that survives JSON, and so a restart. */
export interface PollerState {
	/** The last known status of the job. Its kind is absent while it is unknown. */
	readonly job: JobSummary;
	/** The kind whose endpoint is polled: a guess until a poll has found the job. */
	readonly kind: JobKind;
	/** Time between two polls. Default: what the service recommends for the kind of job. */
	readonly pollInterval?: number;
	/** From `since` to the deadline. */
	readonly timeout: number;
	/** When the timeout started. It is moved forward by the time in which no poll could be sent. */
	readonly since: number;
	/** At the deadline at the latest. */
	readonly nextPollAt: number;
	readonly lastPolledAt?: number;
	/** Whether the last poll got no response. */
	readonly isUnanswered?: boolean;
	/** Polls that are due later are left to another pass. Null: this pass lasts until the wait is over. */
	readonly passEndsAt: number | null;
	readonly stage: Stage;
}

type Stage =
	| { readonly name: 'polling' }
	/** The endpoint of one kind gave no status of the job; the endpoint of the other kind is polled next. */
	| { readonly name: 'tryingOtherKind'; readonly refusal: Failure }
	/** The job has succeeded; `fields` are those of the response that said so. */
	| { readonly name: 'linking'; readonly deadline: number; readonly fields: ResponseFields };

export type PollerEvent =
	/** A pass of the wait begins; it sends no poll in its first `delay` milliseconds. */
	| { type: 'passStarted'; now: number; delay?: number; endsAt?: number }
	/** The time for which the last action waited has come. */
	| { type: 'due'; now: number }
	| { type: 'polled'; now: number; status: JobStatus }
	| { type: 'contentReceived'; content: VideoContent }
	/** The poll, or the request for the content, failed. */
	| { type: 'requestFailed'; now: number; error: GatewayError }
	/** The link of a finished job has expired, and a new one is needed. */
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

interface Step {
	state: PollerState;
	action: PollerAction;
}

export interface FinishedJob {
	source: FileSource;
	/** The service's fields about the job, with its link. */
	fields: ResponseFields;
}

const minInterval = limits.minPollSeconds * 1000;
const maxPollTimeout = 60_000;
const minPollTimeout = 5_000;
/**
 * Time limit of a poll in a pass, unless the poll before it got no response either. With the time for which limits hold
 * a poll back, a pass takes less than the 30 s after which n8n kills a process that is to stop.
 */
const passPollTimeout = 8_000;

/** A job that succeeds just before the deadline has this much more time to give its link. */
const linkGrace = 60_000;

/** How long limits may hold back the polls of a pass: meanwhile, the execution may keep others from running. */
const maxPassPatience = 20_000;

/** A poll is later than this only when it could not be sent, for example because n8n was down. */
const maxLateness = 180_000;

const polling: Stage = { name: 'polling' };

interface NewWait extends Pick<PollerState, 'timeout' | 'pollInterval'> {
	now: number;
	/** Which kind to poll first when the job's kind is unknown. */
	guess?: JobKind;
}

/** A wait whose timeout starts now. If the kind of the job is unknown, its polls find out. */
export function startWait(
	job: Pick<JobSummary, 'id' | 'kind'>,
	{ now, guess = 'task', pollInterval, timeout }: NewWait,
): PollerState {
	const kind = job.kind ?? guess;
	const [since, nextPollAt] = [now, now];
	return { job, kind, pollInterval, timeout, since, nextPollAt, passEndsAt: null, stage: polling };
}

/** Handles an event: returns the new state, and the one thing to do next. */
export function step(state: PollerState, event: PollerEvent): Step {
	switch (event.type) {
		case 'passStarted':
			return startPass(state, event);
		case 'due':
			return sendRequest(state, event.now);
		case 'polled':
			return handleStatus(state, event.status, event.now);
		case 'contentReceived':
			return handleContent(state, event.content);
		case 'requestFailed':
			return handleFailure(state, event.error, event.now);
		case 'linkExpired':
			return waitUntil(startLinking(state, event.now + linkGrace), event.now);
		case 'stopped':
			return fail(state, jobStopped(state.job));
	}
}

function startPass(
	state: PollerState,
	{ now, delay = 0, endsAt }: Extract<PollerEvent, { type: 'passStarted' }>,
): Step {
	const lateness = now - state.nextPollAt;
	const since = state.since + (lateness > maxLateness ? lateness : 0);
	return waitForPoll(withChanges(state, { since, passEndsAt: endsAt ?? null }), now, now + delay);
}

/** @param earliest the next poll is not sent before this time, even if it is due */
function waitForPoll(state: PollerState, now: number, earliest = now): Step {
	const { nextPollAt, passEndsAt } = state;
	// Waiting for a poll that is nearly due is faster than leaving it to another pass.
	if (passEndsAt !== null && nextPollAt > passEndsAt + minInterval) {
		return { state, action: { do: 'park', until: nextPollAt } };
	}
	return waitUntil(state, now, Math.max(nextPollAt, Math.min(earliest, deadlineOf(state))));
}

/** @param time of the next request, which is sent later if it would follow the last poll too closely */
function waitUntil(state: PollerState, now: number, time = now): Step {
	const { lastPolledAt = -Infinity } = state;
	const until = Math.max(time, lastPolledAt + minInterval);
	return until > now ? { state, action: { do: 'wait', until } } : sendRequest(state, now);
}

function sendRequest(state: PollerState, now: number): Step {
	const { stage, kind, passEndsAt, isUnanswered } = state;
	if (stage.name === 'linking' && kind === 'video')
		return { state, action: { do: 'fetchContent' } };
	const isLinking = stage.name === 'linking';
	const timeLeft = Math.max(minPollTimeout, isLinking ? maxPollTimeout : deadlineOf(state) - now);
	const isShort = passEndsAt !== null && !isLinking && !isUnanswered;
	const timeout = Math.min(isShort ? passPollTimeout : maxPollTimeout, timeLeft);
	// All polls of a pass give up at the same moment: otherwise, the first one would, just before its turn.
	const leftOfPass = (passEndsAt ?? Infinity) + maxPassPatience - now;
	const maxPatience = Math.max(0, Math.min(leftOfPass, timeLeft));
	// A finished video is not left to another pass.
	const patience = isLinking ? undefined : maxPatience;
	const action: PollerAction = { do: 'poll', kind, timeout, patience };
	return { state: withChanges(state, { lastPolledAt: now }), action };
}

function handleStatus(before: PollerState, status: JobStatus, now: number): Step {
	// Some services report an unknown job with a 2xx status.
	const isUnknown = status.failure && notFoundWords.test(JSON.stringify(status.failure));
	if (isUnknown && before.job.status === undefined) {
		return handleFailure(before, jobUnknown(before.job, status), now);
	}
	if (isStatusUnclear(before, status))
		return handleFailure(before, jobStatusUnclear(before.job, status), now);

	const state = withStatus(before, status);
	if (state.stage.name === 'linking') return handleLink(state, status, now);
	if (status.phase === 'failed') return fail(state, jobFailed(state.job, status));
	if (status.phase !== 'succeeded') return pollAgain(state, now);
	const deadline = Math.max(deadlineOf(state), now + linkGrace);
	return handleLink(startLinking(state, deadline, status.fields), status, now);
}

/** Returns the same state when the status is nothing new. */
function withStatus(state: PollerState, { status, progress, fields }: JobStatus): PollerState {
	const { job, kind } = state;
	const known = {
		progress: progress ?? job.progress,
		request_id: fields.request_id || job.request_id,
	};
	const isSame =
		status === job.status && known.progress === job.progress && known.request_id === job.request_id;
	return isSame
		? state
		: withChanges(state, { job: { id: job.id, kind, status, ...withoutUndefined(known) } });
}

function startLinking(
	state: PollerState,
	deadline: number,
	fields: ResponseFields = {},
): PollerState {
	return withChanges(state, { stage: { name: 'linking', deadline, fields } });
}

/** The status is final; a task is polled again only when its link is missing. */
function handleLink(
	state: PollerState,
	{ link, linkCarriesKey, fields }: JobStatus,
	now: number,
): Step {
	const { job, kind } = state;
	if (kind === 'video') return sendRequest(state, now);
	if (linkCarriesKey) return fail(state, jobLinkCarriesKey(job));
	if (link === undefined) return handleFailure(state, linkMissing(job), now);
	const source = { url: link, authenticated: false };
	const shown = withOwnFields(fields, { task_id: job.id, result_url: link });
	return finish(state, { source, fields: shown });
}

function handleContent(state: PollerState, { source, fields }: VideoContent): Step {
	const known = state.stage.name === 'linking' ? state.stage.fields : {};
	const { id } = state.job;
	const shown = withOwnFields({ ...known, ...fields }, { id, url: source.url });
	return finish(state, { source, fields: shown });
}

function handleFailure(state: PollerState, error: GatewayError, now: number): Step {
	const { stage, job } = state;
	switch (stage.name) {
		case 'polling':
			return mayBeOfOtherKind(job, error)
				? tryOtherKind(state, error, now)
				: pollAfterFailure(state, error, now);
		case 'tryingOtherKind': {
			if (error.failure.isHeldBack) return pollAgain(state, now, error);
			const first = new GatewayError(stage.refusal);
			// When the kind was a guess, any other error says more than "not found".
			const isFirst = job.kind !== undefined || isJobUnknown(error.failure);
			const moreSpecific = isFirst || !isJobUnknown(stage.refusal) ? first : error;
			const reported = [first, error].find(isTemporary) ?? moreSpecific;
			// The pause for which the first refusal asked has already passed.
			const { retryAfter } = error.failure;
			return pollAfterFailure(switchKind(state, polling), reported.with({ retryAfter }), now);
		}
		case 'linking': {
			const next = now + pauseAfter(state, error);
			const mayRetry = isTemporary(error) && next <= stage.deadline;
			return mayRetry ? waitUntil(state, now, next) : fail(state, linkNotFound(job, error));
		}
	}
}

/** Polls the other endpoint, even after the deadline: without that, it is unknown whether the job exists. */
function tryOtherKind(state: PollerState, error: GatewayError, now: number): Step {
	const { failure } = error;
	// The poll may have been sent late: to the backup URL, when the base URL could not be reached.
	const soonest = now + minInterval;
	const requestedTime = Math.min(now + (failure.retryAfter ?? 0), deadlineOf(state));
	const nextPollAt = Math.max(soonest, requestedTime);
	const other = switchKind(state, { name: 'tryingOtherKind', refusal: failure });
	const next = withChanges(other, { nextPollAt });
	// Both endpoints are polled in one pass, unless the service asks for a longer pause.
	return nextPollAt > soonest ? waitForPoll(next, now) : waitUntil(next, now, nextPollAt);
}

function pollAfterFailure(state: PollerState, error: GatewayError, now: number): Step {
	return isTemporary(error)
		? pollAgain(state, now, error)
		: fail(state, error.with({ job: state.job }));
}

/** @param error why the last poll failed */
function pollAgain(state: PollerState, now: number, error?: GatewayError): Step {
	const { job, timeout, lastPolledAt = now, passEndsAt } = state;
	const deadline = deadlineOf(state);
	const isHeldBack = error?.failure.isHeldBack ?? false;
	if ((isHeldBack ? now : lastPolledAt) >= deadline)
		return fail(state, deadlinePassed(job, timeout, error?.failure));
	if (isHeldBack && passEndsAt !== null) {
		// In the next pass, this job is polled before those that were polled in this pass.
		const next = withChanges(state, { nextPollAt: passEndsAt, stage: polling });
		return { state: next, action: { do: 'park', until: passEndsAt } };
	}
	const nextPollAt = Math.min(now + pauseAfter(state, error), deadline);
	const isUnanswered = error?.failure.status === 0;
	return waitForPoll(withChanges(state, { nextPollAt, isUnanswered, stage: polling }), now);
}

/** Milliseconds until the next request: the interval, or longer if the service asks for it. */
function pauseAfter({ kind, pollInterval }: PollerState, error?: GatewayError): number {
	const interval = pollInterval ?? jobKinds[kind].pollSeconds * 1000;
	return Math.max(minInterval, interval, error?.failure.retryAfter ?? 0);
}

function switchKind(state: PollerState, stage: Stage): PollerState {
	return withChanges(state, { kind: state.kind === 'task' ? 'video' : 'task', stage });
}

/**
 * Until a poll has found the job, its kind is a guess, even when the item gives one. When the item gives none, the
 * endpoint of the wrong kind may respond with anything, even with an error that looks temporary.
 */
function mayBeOfOtherKind({ status, kind }: JobSummary, error: GatewayError): boolean {
	if (status !== undefined || error.failure.isHeldBack) return false;
	return kind === undefined || !isTemporary(error);
}

/** Whether the status may be that of anything, such as a proxy: it is unknown, and no field names the job. */
function isStatusUnclear({ job }: PollerState, { phase, fields }: JobStatus): boolean {
	const isGuess = job.kind === undefined && job.status === undefined;
	return isGuess && phase === undefined && !namesJob(fields, job.id);
}

/** A copy with changes. It is written out because a spread takes ten times as long, and every poll makes two. */
function withChanges(state: PollerState, changes: Partial<PollerState>): PollerState {
	const { pollInterval, timeout } = state;
	const {
		job = state.job,
		kind = state.kind,
		since = state.since,
		nextPollAt = state.nextPollAt,
		lastPolledAt = state.lastPolledAt,
		isUnanswered = state.isUnanswered,
		passEndsAt = state.passEndsAt,
		stage = state.stage,
	} = changes;
	return {
		job,
		kind,
		pollInterval,
		timeout,
		since,
		nextPollAt,
		lastPolledAt,
		isUnanswered,
		passEndsAt,
		stage,
	};
}

function finish(state: PollerState, finished: FinishedJob): Step {
	return { state, action: { do: 'finish', finished } };
}

function fail(state: PollerState, error: GatewayError): Step {
	return { state, action: { do: 'fail', error } };
}

function deadlineOf({ since, timeout }: PollerState): number {
	return since + timeout;
}

/** Whether a later request may succeed. */
function isTemporary({ failure }: GatewayError): boolean {
	return failure.pollCanHelp ?? false;
}
