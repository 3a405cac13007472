import { limits } from '../protocol/limits';
import type { Clock } from './clock';
import { abortable, isInTime, type WaitOptions } from './timeouts';

/** What came of a poll. */
interface Sent<T> {
	outcome: T;
	/** Whether it is the outcome for everybody who polls the same: nobody else has been stopped. */
	isShared: boolean;
	/** False when it never reached the service, and holds back no other poll. */
	isSent: boolean;
}

/** The latest poll of a job. */
interface Poll {
	path: string;
	/** Undefined when the poll threw. */
	ended: Promise<Sent<unknown> | undefined>;
	/** In milliseconds since 1970; infinite while it is under way, and negative when it was never sent. */
	endedAt: number;
}

/** By the name of the job, in the order in which they were sent. */
export const latestPolls = new Map<string, Poll>();

/** "Limits": the minimum between the end of a poll and the next one, in milliseconds. */
const interval = 1000 * limits.minPollSeconds;

/**
 * Polls a job, which this process may do only once in a while. Whoever polls it meanwhile at the same path gets the
 * response of the poll under way; everybody else waits for a turn.
 * @param what `job`: names the job in this process
 * @returns undefined when the signal aborted, or the patience ran out, before there was a response
 */
export async function pollInTurn<T>(
	{ job, path }: { job: string; path: string },
	clock: Clock,
	waiting: () => WaitOptions,
	send: () => Promise<Sent<T>>,
): Promise<T | undefined> {
	for (let last = latestPolls.get(job); last !== undefined; last = latestPolls.get(job)) {
		const { ended, endedAt } = last;
		if (endedAt === Infinity) {
			const join = async (signal: AbortSignal) => await abortable(ended, signal);
			if (!(await isInTime(join, clock, waiting()))) return undefined;
			const sent = await ended;
			if (sent?.isShared && last.path === path) return sent.outcome as T;
		} else {
			const left = endedAt + interval - clock.now();
			if (left <= 0) break;
			const pause = async (signal: AbortSignal) => {
				// A clock that was set back must not make it longer.
				await clock.sleep(Math.min(left, interval), signal);
				if (latestPolls.get(job) === last) latestPolls.delete(job);
			};
			if (!(await isInTime(pause, clock, waiting()))) return undefined;
		}
	}
	forgetOld(clock);
	let end: (sent?: Sent<T>) => void = () => undefined;
	const ended = new Promise<Sent<T> | undefined>((resolve) => (end = resolve));
	const poll: Poll = { path, ended, endedAt: Infinity };
	latestPolls.delete(job);
	latestPolls.set(job, poll);
	let sent: Sent<T> | undefined;
	try {
		sent = await send();
		return sent.outcome;
	} finally {
		poll.endedAt = sent?.isSent ? clock.now() : -Infinity;
		end(sent);
	}
}

/** Deletes those at the beginning of the map that hold back no other poll. */
function forgetOld(clock: Clock): void {
	for (const [job, { endedAt }] of latestPolls) {
		if (endedAt + interval > clock.now()) return;
		latestPolls.delete(job);
	}
}
