/**
 * The wait for one job as a pure function, without a clock, promises or randomness. A driver performs the action that
 * `step` returns, and passes in the event that results, until the wait is parked or over.
 *
 *     passStarted ─► wait ─► poll ─┬─► running ─► wait …, or park until another pass
 *                                  ├─► failed, refused, deadline ─► fail
 *                                  └─► succeeded ─► fetch the link ─► finish … linkExpired ─► fetch the link
 *
 * Times are in milliseconds. Points in time are counted from 1970, by a clock that does not step during a pass.
 */
import type { FileSource } from '../client/fileRequest';
import { withOwnFields, type ResponseFields } from '../client/response';
import { GatewayError, type Failure } from '../errors/gatewayError';
import {
	deadlinePassed,
	hasJobFailed,
	isJobUnknown,
	jobFailed,
	jobLinkCarriesKey,
	jobStopped,
	jobStatusUnclear,
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
	/** Whether the job certainly exists, because the item comes from its creation. */
	readonly isCreated?: boolean;
	/** The kind whose endpoint is polled: a guess until a poll has found the job. */
	readonly kind: JobKind;
	/** Time between two polls. Default: what the service recommends for the kind of job. */
	readonly pollInterval?: number;
	/** From `since` to the deadline. */
	readonly timeout: number;
	/** When the timeout started, without the time in which no poll could be sent. */
	readonly since: number;
	/** At the deadline at the latest. */
	readonly nextPollAt: number;
	readonly lastPolledAt?: number;
	/** Whether the last poll got no response. */
	readonly isUnanswered?: boolean;
	/** The polls in a row whose refusal was about this job or this key; null: the last one was not refused so. */
	readonly refused?: { readonly since: number; readonly count: number } | null;
	/** Polls that are due later are left to another pass. Null: this pass lasts until the wait is over. */
	readonly passEndsAt: number | null;
	readonly stage: Stage;
}

type Stage =
	| { readonly name: 'polling' }
	/** The endpoint of one kind gave no status of the job; the endpoint of the other kind is polled next. */
	| { readonly name: 'tryingOtherKind'; readonly refusal: Failure }
	| Linking;

/** The job has succeeded. Its link is in the job itself, or the content endpoint gives it. */
interface Linking {
	readonly name: 'linking';
	/** Until when the link is looked for, although the service says that there is none. */
	readonly deadline: number;
	/** The fields of the response that said so. */
	readonly fields: ResponseFields;
	/** The link in that response. */
	readonly link?: string;
	/** Where the link is looked for next. */
	readonly source: LinkSource;
	/** Why the last look there gave none. */
	readonly failures: Readonly<Partial<Record<LinkSource, Failure>>>;
}

type LinkSource = 'job' | 'content';

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

/** A job that succeeds has this much time to give its link, also after the deadline of the wait. */
const linkGrace = 60_000;

/** How long limits may hold back the polls of a pass: meanwhile, the execution may keep others from running. */
const maxPassPatience = 20_000;

/** A poll is later than this only when it could not be sent because n8n was down, or when n8n's clock was set forward. */
const maxLateness = 180_000;

/**
 * A refusal ends the wait when it was repeated, in a row, at least as often and over at least as long (milliseconds). A
 * job that certainly exists has a minute, in which a key may work again. For any other one, the endpoint of its kind must
 * say twice that it is unknown, and that of the other kind once.
 */
const lasting = { known: { polls: 3, time: 60_000 }, unknown: { polls: 3, time: 2 * minInterval } };

const polling: Stage = { name: 'polling' };

interface NewWait extends Pick<PollerState, 'timeout' | 'pollInterval' | 'isCreated'> {
	now: number;
	/** Which kind to poll first when the job's kind is unknown. */
	guess?: JobKind;
}

/** A wait whose timeout starts now. If the kind of the job is unknown, its polls find out. */
export function startWait(
	job: Pick<JobSummary, 'id' | 'kind'>,
	{ now, guess = 'task', pollInterval, timeout, isCreated }: NewWait,
): PollerState {
	const kind = job.kind ?? guess;
	const schedule = { pollInterval, timeout, since: now, nextPollAt: now, passEndsAt: null };
	return { job, isCreated, kind, ...schedule, stage: polling };
}

/** The state when the clock by which its times were stored is set. @param milliseconds negative when it is set back */
export function moved(state: PollerState, milliseconds: number): PollerState {
	const { since, nextPollAt, lastPolledAt, refused, stage } = state;
	return withChanges(state, {
		since: since + milliseconds,
		nextPollAt: nextPollAt + milliseconds,
		lastPolledAt: lastPolledAt === undefined ? undefined : lastPolledAt + milliseconds,
		refused: refused && { ...refused, since: refused.since + milliseconds },
		stage: stage.name === 'linking' ? { ...stage, deadline: stage.deadline + milliseconds } : stage,
	});
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
			return waitUntil(startLinking(state, event.now), event.now);
		case 'stopped':
			return fail(state, jobStopped(state.job));
	}
}

function startPass(
	state: PollerState,
	{ now, delay = 0, endsAt }: Extract<PollerEvent, { type: 'passStarted' }>,
): Step {
	const lateness = now - state.nextPollAt;
	const resumed = lateness > maxLateness ? moved(state, lateness) : state;
	return waitForPoll(withChanges(resumed, { passEndsAt: endsAt ?? null }), now, now + delay);
}

/** @param earliest the next poll is not sent before this time, even if it is due */
function waitForPoll(state: PollerState, now: number, earliest = now): Step {
	const { nextPollAt, passEndsAt } = state;
	// Waiting for a poll that is nearly due is faster than leaving it to another pass.
	const isSoon = isDoubtful(state) && nextPollAt <= now + minInterval;
	if (passEndsAt !== null && nextPollAt > passEndsAt + minInterval && !isSoon) {
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
	if (stage.name === 'linking' && stage.source === 'content')
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
	// Some services respond so about an ID of the other kind.
	const isUnknown = status.failure && notFoundWords.test(JSON.stringify(status.failure));
	const isGuess = before.job.kind === undefined && before.stage.name === 'polling';
	if (isUnknown && isGuess && !namesJob(status.fields, before.job.id)) {
		return tryOtherKind(before, jobFailed(withStatus(before, status).job, status), now);
	}
	if (isStatusUnclear(before, status))
		return handleFailure(before, jobStatusUnclear(before.job, status), now);

	if (before.stage.name === 'linking') return handleLink(before, status, now);
	const state = withStatus(before, status);
	if (status.phase === 'failed') return fail(state, jobFailed(state.job, status));
	if (status.phase !== 'succeeded') return pollAgain(state, now);
	const linking = startLinking(state, now, status);
	return state.kind === 'video' ? sendRequest(linking, now) : handleLink(linking, status, now);
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

/** The link of a task is in the task, and that of a video job comes from the content endpoint ("Endpoints" 2 and 13). */
function startLinking(
	state: PollerState,
	now: number,
	{ link, linkCarriesKey, fields = {} }: Partial<JobStatus> = {},
): PollerState {
	const source = state.kind === 'video' ? 'content' : 'job';
	const known = linkCarriesKey ? {} : withoutUndefined({ link });
	const deadline = now + linkGrace;
	return withChanges(state, {
		stage: { name: 'linking', deadline, fields, ...known, source, failures: {} },
	});
}

/** The status is final; the job is polled again only for its link. */
function handleLink(state: PollerState, status: JobStatus, now: number): Step {
	const { job } = state;
	const { link, linkCarriesKey, fields } = status;
	if (linkCarriesKey) return fail(state, jobLinkCarriesKey(job));
	if (link === undefined)
		return handleFailure(
			state,
			linkMissing(job, status, status.phase === 'succeeded' ? status.failure : undefined),
			now,
		);
	return finishWithLink(state, link, fields);
}

/** Finishes with the link that the job itself carries. */
function finishWithLink(state: PollerState, url: string, fields: ResponseFields): Step {
	const isVideo = state.kind === 'video';
	const source: FileSource = { url, authenticated: false, ...(isVideo && { mayNeedKey: true }) };
	return finish(state, { source, fields: withOwnFields(fields, idAndLink(state, url)) });
}

function handleContent(state: PollerState, { source, fields }: VideoContent): Step {
	const known = state.stage.name === 'linking' ? state.stage.fields : {};
	const shown = withOwnFields({ ...known, ...fields }, idAndLink(state, source.url));
	return finish(state, { source, fields: shown });
}

const idAndLink = ({ kind, job: { id } }: PollerState, url: string) =>
	kind === 'video' ? { id, url } : { task_id: id, result_url: url };

function handleFailure(state: PollerState, error: GatewayError, now: number): Step {
	const { stage, job } = state;
	switch (stage.name) {
		case 'polling':
			return mayBeOfOtherKind(state, error)
				? tryOtherKind(state, error, now)
				: pollAfterFailure(state, [error], now);
		case 'tryingOtherKind': {
			if (isHeldBack(error)) return pollAgain(state, now, error);
			const back = switchKind(state, polling);
			const first = new GatewayError(stage.refusal);
			if (hasJobFailed(first.failure)) return fail(back, first);
			// When the kind was a guess, any other error says more than "not found".
			const isFirst = job.kind !== undefined || isJobUnknown(error.failure);
			if (isFirst || !isJobUnknown(stage.refusal)) {
				// The pause for which the first refusal asked has already passed.
				const reported = first.with({ retryAfter: error.failure.retryAfter });
				return pollAfterFailure(back, [reported, error], now);
			}
			return pollAfterFailure(withChanges(state, { stage: polling }), [error, first], now);
		}
		case 'linking':
			return linkAfterFailure(state, stage, error, now);
	}
}

/** Looks for the link in the other place, and after a pause in the first one again. */
function linkAfterFailure(
	state: PollerState,
	stage: Linking,
	error: GatewayError,
	now: number,
): Step {
	const { link, fields, deadline } = stage;
	if (link !== undefined) return finishWithLink(state, link, fields);
	const failures = { ...stage.failures, [stage.source]: error.failure };
	const isSure = Object.values(failures).every(saysThereIsNoLink);
	const until = isSure ? deadline : Math.max(deadline, deadlineOf(state));
	if (error.failure.kind === 'linkCarriesKey' || now >= until)
		return fail(state, linkNotFound(state.job, failures, fields));
	const source = stage.source === 'job' ? 'content' : 'job';
	const last = failures[source];
	const next = last ? Math.min(now + pauseAfter(state, last), until) : now;
	return waitUntil(withChanges(state, { stage: { ...stage, source, failures } }), now, next);
}

/** Whether the service responded, and would respond so again. */
const saysThereIsNoLink = ({ reach, retry_can_help, kind }: Failure) =>
	(reach === 'unreadable' && kind !== 'cut') || (reach === 'answered' && !retry_can_help);

/** Polls the other endpoint, even after the deadline: without that, it is unknown whether the job exists. */
function tryOtherKind(state: PollerState, error: GatewayError, now: number): Step {
	const { failure } = error;
	// The poll may have been sent late: to the backup URL, when the base URL could not be reached.
	const soonest = now + minInterval;
	const requestedTime = Math.min(now + (failure.retryAfter ?? 0), deadlineOf(state));
	const nextPollAt = Math.max(soonest, requestedTime);
	const other = switchKind(state, { name: 'tryingOtherKind', refusal: failure });
	const refused = isSureRefusal(state, failure) ? { since: now, count: 1 } : null;
	const next = withChanges(other, { nextPollAt, refused });
	// Both endpoints are polled in one pass, unless the service asks for a longer pause.
	return nextPollAt > soonest ? waitForPoll(next, now) : waitUntil(next, now, nextPollAt);
}

/** @param errors those of the endpoints that were polled; the first one is reported */
function pollAfterFailure(state: PollerState, errors: GatewayError[], now: number): Step {
	const [error] = errors;
	if (!errors.every((each) => isSureRefusal(state, each.failure))) {
		return pollAgain(withChanges(state, { refused: null }), now, error);
	}
	const { since = now, count = 0 } = state.refused ?? {};
	const refused = { since, count: count + 1 };
	const { polls, time } = isKnown(state) ? lasting.known : lasting.unknown;
	// No grace is longer than the wait that it is part of.
	const grace = Math.min(time, state.timeout / 2);
	const hasLasted = refused.count >= polls && now >= since + grace;
	if (hasLasted || now >= deadlineOf(state)) return fail(state, error.about(state.job));
	// The poll that decides comes after the whole time.
	const decides = refused.count + 1 >= polls;
	const retryAfter = decides ? since + grace - now : error.failure.retryAfter;
	return pollAgain(withChanges(state, { refused }), now, error.with({ retryAfter }));
}

/** Whether the job certainly exists. */
const isKnown = ({ job, isCreated }: PollerState) => isCreated === true || job.status !== undefined;

/** Whether the service has just said that the job is unknown. A few seconds later, it has said it for good. */
const isDoubtful = (state: PollerState) => Boolean(state.refused) && !isKnown(state);

/**
 * Whether the service itself refuses this key, or a job that may not exist. Anything else is a poll that did not work:
 * the page of a proxy, an error of the service, or a refusal of a job that was created or seen.
 */
function isSureRefusal(state: PollerState, { denies }: Failure): boolean {
	return denies === 'key' || (denies !== undefined && !isKnown(state));
}

/** @param error why the last poll failed */
function pollAgain(state: PollerState, now: number, error?: GatewayError): Step {
	const { job, timeout, lastPolledAt = now, passEndsAt } = state;
	const deadline = deadlineOf(state);
	const wasHeldBack = error !== undefined && isHeldBack(error);
	if ((wasHeldBack ? now : lastPolledAt) >= deadline)
		return fail(state, deadlinePassed(job, timeout, error?.failure));
	if (wasHeldBack && passEndsAt !== null) {
		// In the next pass, this job is polled before those that were polled in this pass.
		const next = withChanges(state, { nextPollAt: passEndsAt, stage: polling });
		return { state: next, action: { do: 'park', until: passEndsAt } };
	}
	const nextPollAt = Math.min(now + pauseAfter(state, error?.failure), deadline);
	const isUnanswered = error?.failure.status === 0;
	const { refused = null } = error ? state : {};
	return waitForPoll(
		withChanges(state, { nextPollAt, isUnanswered, refused, stage: polling }),
		now,
	);
}

/** Whether the poll was not sent in time. */
const isHeldBack = ({ failure }: GatewayError) => failure.kind === 'heldBack';

/** Milliseconds until the next request: the interval, or longer if the service asks for it. */
function pauseAfter(state: PollerState, failure?: Failure): number {
	const { pollInterval = jobKinds[state.kind].pollSeconds * 1000 } = state;
	const interval = isDoubtful(state) ? minInterval : pollInterval;
	return Math.max(minInterval, interval, failure?.retryAfter ?? 0);
}

function switchKind(state: PollerState, stage: Stage): PollerState {
	return withChanges(state, { kind: state.kind === 'task' ? 'video' : 'task', stage });
}

/**
 * Until a poll has found the job, its kind is a guess, even when the item gives one. When the item gives none, the
 * endpoint of the wrong kind may respond with anything, even with an error that looks temporary.
 */
function mayBeOfOtherKind(state: PollerState, error: GatewayError): boolean {
	const { job, isCreated } = state;
	const { failure } = error;
	if (job.status !== undefined || isHeldBack(error) || state.refused) return false;
	const isGuess = !isCreated && job.kind === undefined;
	return isGuess || isJobUnknown(failure) || (!isCreated && isSureRefusal(state, failure));
}

/** Whether the status may be that of anything, such as a proxy: it is unknown, and no field names the job. */
function isStatusUnclear({ job }: PollerState, { phase, fields }: JobStatus): boolean {
	const isGuess = job.kind === undefined && job.status === undefined;
	return isGuess && phase === undefined && !namesJob(fields, job.id);
}

/** A copy with changes. It is written out because a spread takes ten times as long, and every poll makes two. */
function withChanges(state: PollerState, changes: Partial<PollerState>): PollerState {
	const { isCreated, pollInterval, timeout } = state;
	const {
		job = state.job,
		kind = state.kind,
		since = state.since,
		nextPollAt = state.nextPollAt,
		lastPolledAt = state.lastPolledAt,
		isUnanswered = state.isUnanswered,
		refused = state.refused,
		passEndsAt = state.passEndsAt,
		stage = state.stage,
	} = changes;
	return {
		job,
		isCreated,
		kind,
		pollInterval,
		timeout,
		since,
		nextPollAt,
		lastPolledAt,
		isUnanswered,
		refused,
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
