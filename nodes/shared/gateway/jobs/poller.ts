/**
 * The life of a wait for one job, as a pure function: no clock, no promise and no chance in it. A driver does
 * what `step` asks for, and comes back with the event that this led to, until the wait is parked or over.
 *
 *     passStarted ─► wait ─► poll ─┬─► running ─► wait …, or park until another pass
 *                                  ├─► failed, refused, deadline ─► fail
 *                                  └─► succeeded ─► fetch the link ─► finish … linkExpired ─► fetch the link
 *
 * Times are in milliseconds, moments since 1970.
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

/** What is known of a wait. It is plain data: it survives JSON, and with it a restart. */
export interface PollerState {
	/** Where the job stands. Its kind is absent while nobody has told it. */
	readonly job: JobSummary;
	/** The kind whose endpoint is polled: a guess until a poll has seen the job. */
	readonly kind: JobKind;
	/** Between two polls; absent: as the service recommends for the kind of job. */
	readonly pollInterval?: number;
	/** From `since` to the deadline. */
	readonly timeout: number;
	/** When the timeout began to run. It moves on by the time in which nobody could poll. */
	readonly since: number;
	/** At the deadline at the latest. */
	readonly nextPollAt: number;
	readonly lastPolledAt?: number;
	/** Polls that are due later are left to another pass. Null: this pass lasts to the end. */
	readonly passEndsAt: number | null;
	readonly stage: Stage;
}

type Stage =
	| { readonly name: 'polling' }
	/** The endpoint of one kind said nothing of the job; that of the other kind is asked next. */
	| { readonly name: 'tryingOtherKind'; readonly refusal: Failure }
	/** The job has succeeded; `fields` are those of the response that said so. */
	| { readonly name: 'linking'; readonly deadline: number; readonly fields: ResponseFields };

export type PollerEvent =
	/** A pass of the wait begins; it sends no poll in its first `delay` milliseconds. */
	| { type: 'passStarted'; now: number; delay?: number; endsAt?: number }
	/** What the last action waited for has come. */
	| { type: 'due'; now: number }
	| { type: 'polled'; now: number; status: JobStatus }
	| { type: 'contentReceived'; content: VideoContent }
	/** The poll, or the request for the content, went wrong. */
	| { type: 'requestFailed'; now: number; error: GatewayError }
	/** The link of a finished job leads nowhere any more, and another one is needed. */
	| { type: 'linkExpired'; now: number }
	/** The user pressed Stop, or waiting on makes no sense. */
	| { type: 'stopped' };

export type PollerAction =
	| { do: 'wait'; until: number }
	/** One poll, without retries. Limits of the credential may hold it back for that many milliseconds of patience. */
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
	/** What the service said of the job, and its link. */
	fields: ResponseFields;
}

const minInterval = limits.minPollSeconds * 1000;
const maxPollTimeout = 60_000;
const minPollTimeout = 5_000;

/** A job that succeeds at the last moment still gets this long to tell where its file is. */
const linkGrace = 60_000;

/** How long limits may hold back a poll of a pass: while the execution is open, no other one can run. */
const maxPassPatience = 30_000;

/** A poll is later than that only when nobody was there to send it, as when n8n was down. */
const maxLateness = 180_000;

const polling: Stage = { name: 'polling' };

interface NewWait extends Pick<PollerState, 'timeout' | 'pollInterval'> {
	now: number;
	/** Which kind to ask for first where the job has none. */
	guess?: JobKind;
}

/** A wait whose timeout begins to run now. Without a kind, the service is asked which one the job is of. */
export function startWait(
	job: Pick<JobSummary, 'id' | 'kind'>,
	{ now, guess = 'task', pollInterval, timeout }: NewWait,
): PollerState {
	const kind = job.kind ?? guess;
	const [since, nextPollAt] = [now, now];
	return { job, kind, pollInterval, timeout, since, nextPollAt, passEndsAt: null, stage: polling };
}

/** What comes of an event: the new state, and the one thing to do next. */
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

/** @param earliest when the next poll may be sent, though it be due before */
function waitForPoll(state: PollerState, now: number, earliest = now): Step {
	const { nextPollAt, passEndsAt } = state;
	// To leave a poll that is nearly due to another pass takes longer than to wait for it.
	if (passEndsAt !== null && nextPollAt > passEndsAt + minInterval) {
		return { state, action: { do: 'park', until: nextPollAt } };
	}
	return waitUntil(state, now, Math.max(nextPollAt, Math.min(earliest, deadlineOf(state))));
}

/** @param time of the next request, which is later where it would follow the last poll too closely */
function waitUntil(state: PollerState, now: number, time = now): Step {
	const { lastPolledAt = -Infinity } = state;
	const until = Math.max(time, lastPolledAt + minInterval);
	return until > now ? { state, action: { do: 'wait', until } } : sendRequest(state, now);
}

function sendRequest(state: PollerState, now: number): Step {
	const { stage, kind, passEndsAt } = state;
	if (stage.name === 'linking' && kind === 'video')
		return { state, action: { do: 'fetchContent' } };
	const isLinking = stage.name === 'linking';
	const timeLeft = Math.max(minPollTimeout, isLinking ? maxPollTimeout : deadlineOf(state) - now);
	const timeout = Math.min(maxPollTimeout, timeLeft);
	// A video that is finished is not left to another pass.
	const maxPatience = passEndsAt === null ? timeLeft : Math.min(maxPassPatience, timeLeft);
	const patience = isLinking ? undefined : maxPatience;
	const action: PollerAction = { do: 'poll', kind, timeout, patience };
	return { state: withChanges(state, { lastPolledAt: now }), action };
}

function handleStatus(before: PollerState, status: JobStatus, now: number): Step {
	// Some services report a job that they do not know with a 2xx status.
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

/** The same state where the status says nothing new. */
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

/** The status is final; a task is polled again only when the link itself is missing from it. */
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
			// Where the kind was a guess, "not found" says less than anything else.
			const isFirst = job.kind !== undefined || isJobUnknown(error.failure);
			const saysMore = isFirst || !isJobUnknown(stage.refusal) ? first : error;
			const last = [first, error].find(isTemporary) ?? saysMore;
			// What the first one asked for has been waited for already.
			const { retryAfter } = error.failure;
			return pollAfterFailure(switchKind(state, polling), last.with({ retryAfter }), now);
		}
		case 'linking': {
			const next = now + pauseAfter(state, error);
			const mayRetry = isTemporary(error) && next <= stage.deadline;
			return mayRetry ? waitUntil(state, now, next) : fail(state, linkNotFound(job, error));
		}
	}
}

/** Asks the other endpoint, also past the deadline: before that, nobody knows whether there is such a job. */
function tryOtherKind(state: PollerState, error: GatewayError, now: number): Step {
	const { failure } = error;
	// The poll may have gone out late: to the backup URL, when the other could not be reached.
	const soonest = now + minInterval;
	const asked = Math.min(now + (failure.retryAfter ?? 0), deadlineOf(state));
	const nextPollAt = Math.max(soonest, asked);
	const other = switchKind(state, { name: 'tryingOtherKind', refusal: failure });
	const next = withChanges(other, { nextPollAt });
	// Both are asked in one pass, unless the service wants a longer pause.
	return nextPollAt > soonest ? waitForPoll(next, now) : waitUntil(next, now, nextPollAt);
}

function pollAfterFailure(state: PollerState, error: GatewayError, now: number): Step {
	return isTemporary(error)
		? pollAgain(state, now, error)
		: fail(state, error.with({ job: state.job }));
}

/** @param error what went wrong with the last poll */
function pollAgain(state: PollerState, now: number, error?: GatewayError): Step {
	const { job, timeout, lastPolledAt = now, passEndsAt } = state;
	const deadline = deadlineOf(state);
	const isHeldBack = error?.failure.isHeldBack ?? false;
	if ((isHeldBack ? now : lastPolledAt) >= deadline)
		return fail(state, deadlinePassed(job, timeout, error?.failure));
	if (isHeldBack && passEndsAt !== null) {
		// In the next pass, it goes before those that this one has polled.
		const next = withChanges(state, { nextPollAt: passEndsAt, stage: polling });
		return { state: next, action: { do: 'park', until: passEndsAt } };
	}
	const nextPollAt = Math.min(now + pauseAfter(state, error), deadline);
	return waitForPoll(withChanges(state, { nextPollAt, stage: polling }), now);
}

/** Milliseconds until the next request: the interval, or longer where the service asks for it. */
function pauseAfter({ kind, pollInterval }: PollerState, error?: GatewayError): number {
	const interval = pollInterval ?? jobKinds[kind].pollSeconds * 1000;
	return Math.max(minInterval, interval, error?.failure.retryAfter ?? 0);
}

function switchKind(state: PollerState, stage: Stage): PollerState {
	return withChanges(state, { kind: state.kind === 'task' ? 'video' : 'task', stage });
}

/**
 * Until a poll has seen the job, its kind is a guess, even where the item tells one. Where it does not, an endpoint
 * of the other kind may say anything, such as an error that would pass.
 */
function mayBeOfOtherKind({ status, kind }: JobSummary, error: GatewayError): boolean {
	if (status !== undefined || error.failure.isHeldBack) return false;
	return kind === undefined || !isTemporary(error);
}

/** Whether the status may be that of anything, such as of a proxy: nobody knows it, and nothing names the job. */
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
		passEndsAt = state.passEndsAt,
		stage = state.stage,
	} = changes;
	return { job, kind, pollInterval, timeout, since, nextPollAt, lastPolledAt, passEndsAt, stage };
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

/** Whether a later request may do better. */
function isTemporary({ failure }: GatewayError): boolean {
	return failure.pollCanHelp ?? false;
}
