/**
 * The wait for one job as a pure function, without a clock, promises or randomness. A driver performs the action that
 * `step` returns and passes in the resulting event, until the wait is parked or over.
 *
 *     passStarted ─► wait ─► poll ─┬─► running ─► wait …, or park until another pass
 *                                  ├─► failed, refused, deadline ─► fail
 *                                  └─► succeeded ─► fetch the link ─► finish … linkExpired ─► fetch the link
 *
 * Times are in milliseconds. Points in time are counted from 1970, by a clock that does not step during a pass.
 */
import { linkTo } from '../client/fileRequest';
import { GatewayError, type Failure } from '../errors/gatewayError';
import {
	deadlinePassed,
	hasJobFailed,
	isJobUnknown,
	jobFailed,
	jobStopped,
	jobUnknown,
	jobStatusUnclear,
} from '../errors/jobErrors';
import { withoutUndefined } from '../json';
import { notFoundWords } from '../protocol/errorCodes';
import { namesJob } from './jobIdentity';
import { handleContent, handleLink, linkAfterFailure, startLinking } from './linking';
import {
	deadlineOf,
	fail,
	isKnown,
	minInterval,
	pauseAfter,
	polling,
	sendRequest,
	startPass,
	waitForPoll,
	waitUntil,
	type PollerEvent,
	type PollerState,
	type Stage,
	type Step,
} from './pollerState';
import type { JobStatus } from './responses';

/**
 * A refusal ends the wait when it came at least as often in a row, over at least as many milliseconds. A job that
 * certainly exists has a minute, in which a key may work again. Any other must be unknown twice to the endpoint of its
 * kind, and once to that of the other kind.
 */
const lasting = { known: { polls: 3, time: 60_000 }, unknown: { polls: 3, time: 2 * minInterval } };

/** Returns the new state, and the one thing to do next. */
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

function handleStatus(before: PollerState, status: JobStatus, now: number): Step {
	// Some services respond so about an ID of the other kind.
	const isUnknown = status.failure && notFoundWords.test(JSON.stringify(status.failure));
	const isGuess = before.job.kind === undefined && before.stage.name === 'polling';
	if (isUnknown && isGuess && !namesJob(status.fields, before.job.id)) {
		return tryOtherKind(before, jobFailed(withStatus(before, status).job, status), now);
	}
	if (isStatusUnclear(before, status))
		return handleFailure(before, jobStatusUnclear(before.job, status), now);

	if (before.stage.name === 'linking') return handleLink(before, before.stage, status, now);
	const state = withStatus(before, status);
	if (status.phase === 'failed') return fail(state, jobFailed(state.job, status));
	if (status.phase !== 'succeeded') {
		const mayBeReady = status.phase === undefined && !status.linkCarriesKey;
		const url = mayBeReady && status.link ? linkTo({ url: status.link }) : undefined;
		return pollAgain(state, now, { url });
	}
	const linking = startLinking(state, now, status);
	return state.kind === 'video'
		? sendRequest(linking, now)
		: handleLink(linking, linking.stage, status, now);
}

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
		: { ...state, job: { id: job.id, kind, status, ...withoutUndefined(known) } };
}

function handleFailure(state: PollerState, error: GatewayError, now: number): Step {
	const { stage, job } = state;
	switch (stage.name) {
		case 'polling':
			return mayBeOfOtherKind(state, error)
				? tryOtherKind(state, error, now)
				: pollAfterFailure(state, [error], now);
		case 'tryingOtherKind': {
			if (isHeldBack(error)) return pollAgain(state, now, { error });
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
			return pollAfterFailure({ ...state, stage: polling }, [error, first], now);
		}
		case 'linking':
			return linkAfterFailure(state, stage, error, now);
	}
}

/** Polls the other endpoint, even after the deadline: else it is unknown whether the job exists. */
function tryOtherKind(state: PollerState, error: GatewayError, now: number): Step {
	const { failure } = error;
	// The poll may have been sent late: to the backup URL, when the base URL could not be reached.
	const soonest = now + minInterval;
	const requestedTime = Math.min(now + (failure.retryAfter ?? 0), deadlineOf(state));
	const nextPollAt = Math.max(soonest, requestedTime);
	const other = switchKind(state, { name: 'tryingOtherKind', refusal: failure });
	const refused = isSureRefusal(state, failure) ? { since: now, count: 1 } : null;
	const next = { ...other, nextPollAt, refused };
	// In the same pass, unless the service asks for a longer pause.
	return nextPollAt > soonest ? waitForPoll(next, now) : waitUntil(next, now, nextPollAt);
}

/** @param errors of the endpoints that were polled; the first is reported */
function pollAfterFailure(state: PollerState, errors: GatewayError[], now: number): Step {
	const [error] = errors;
	if (!errors.every((each) => isSureRefusal(state, each.failure))) {
		return pollAgain({ ...state, refused: null }, now, { error });
	}
	const { since = now, count = 0 } = state.refused ?? {};
	const refused = { since, count: count + 1 };
	const { polls, time } = isKnown(state) ? lasting.known : lasting.unknown;
	// No grace is longer than the wait that it is part of.
	const grace = Math.min(time, state.timeout / 2);
	const hasLasted = refused.count >= polls && now >= since + grace;
	if (hasLasted || now >= deadlineOf(state)) {
		const { job } = state;
		// Both endpoints were polled, and nothing says of which kind the job is.
		const isOfNeither = job.kind === undefined && state.refused && isJobUnknown(error.failure);
		return fail(state, (isOfNeither ? jobUnknown(job, error) : error).about(job));
	}
	// The poll that decides comes after the whole time.
	const decides = refused.count + 1 >= polls;
	const retryAfter = decides ? since + grace - now : error.failure.retryAfter;
	return pollAgain({ ...state, refused }, now, { error: error.with({ retryAfter }) });
}

/** Whether the service itself refuses this key, or a job that may not exist. Any other poll just did not work. */
function isSureRefusal(state: PollerState, { denies }: Failure): boolean {
	return denies === 'key' || (denies !== undefined && !isKnown(state));
}

/** @param last `error`: why the last poll failed; `url`: a link in it that may be that of the video */
function pollAgain(
	state: PollerState,
	now: number,
	{ error, url }: { error?: GatewayError; url?: string },
): Step {
	const { job, timeout, lastPolledAt = now, passEndsAt } = state;
	const deadline = deadlineOf(state);
	const wasHeldBack = error !== undefined && isHeldBack(error);
	if ((wasHeldBack ? now : lastPolledAt) >= deadline)
		return fail(state, deadlinePassed(job, timeout, { lastPoll: error?.failure, url }));
	if (wasHeldBack && passEndsAt !== null) {
		// In the next pass, this job is polled before those that were polled in this pass.
		const next = { ...state, nextPollAt: passEndsAt, stage: polling };
		return { state: next, action: { do: 'park', until: passEndsAt } };
	}
	const nextPollAt = Math.min(now + pauseAfter(state, error?.failure), deadline);
	const { status, kind } = error?.failure ?? {};
	const isUnanswered = status === 0 || kind === 'cut';
	const { refused = null } = error ? state : {};
	return waitForPoll({ ...state, nextPollAt, isUnanswered, refused, stage: polling }, now);
}

/** Whether the poll was not even sent. */
const isHeldBack = ({ failure }: GatewayError) => failure.kind === 'heldBack';

function switchKind(state: PollerState, stage: Stage): PollerState {
	return { ...state, kind: state.kind === 'task' ? 'video' : 'task', stage };
}

/**
 * Until a poll has found the job, its kind is a guess, even when the item gives one. The endpoint of the wrong kind may
 * respond with anything, even with an error that looks temporary.
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
