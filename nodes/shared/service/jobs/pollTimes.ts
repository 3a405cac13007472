import type { Failure } from '../errors/gatewayError';
import { jobKinds } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import {
	deadlineOf,
	isDoubtful,
	moved,
	type PollerAction,
	type PollerEvent,
	type PollerState,
	type Step,
} from './pollerState';

export const minInterval = limits.minPollSeconds * 1000;
const maxPollTimeout = 60_000;
const minPollTimeout = 5_000;
/**
 * Time limit of a poll in a pass, unless the poll before it got no response either. With the time for which limits hold
 * a poll back, a pass takes less than the 30 s after which n8n kills a process that is to stop.
 */
const passPollTimeout = 8_000;

/** How long limits may hold back the polls of a pass: meanwhile, the execution may keep others from running. */
const maxPassPatience = 20_000;

/** A poll is later than this only when it could not be sent because n8n was down, or when n8n's clock was set forward. */
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

/** @param time of the next request, which is sent later if it would follow the last poll too closely */
export function waitUntil(state: PollerState, now: number, time = now): Step {
	const { lastPolledAt = -Infinity } = state;
	const until = Math.max(time, lastPolledAt + minInterval);
	return until > now ? { state, action: { do: 'wait', until } } : sendRequest(state, now);
}

export function sendRequest(state: PollerState, now: number): Step {
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
	return { state: { ...state, lastPolledAt: now }, action };
}

/** Milliseconds until the next request: the interval, or longer if the service asks for it. */
export function pauseAfter(state: PollerState, failure?: Failure): number {
	const { pollInterval = jobKinds[state.kind].pollSeconds * 1000 } = state;
	const interval = isDoubtful(state) ? minInterval : pollInterval;
	return Math.max(minInterval, interval, failure?.retryAfter ?? 0);
}
