import { createHash } from 'crypto';
import type { Clock } from './clock';
import type { WaitOptions } from './keyLimit';
import { abortable } from './timeouts';

/** Maximum milliseconds for which a request without a response holds back the next one about the same job. */
const maxHold = 10_000;

/** In milliseconds: no wait for a turn takes as long, and timers take no more than 24 days. */
const maxSleep = 3_600_000;

/** The shared abort reason for waits that are over: without a reason, each abort creates an error. */
const done = new Error('done');

/** One request about a job. */
interface Turn {
	/** When the next request may be sent, in milliseconds since 1970; infinite until that is known. */
	freeAt: number;
	/** Resolves with `freeAt` when that is known. */
	freed: Promise<number>;
}

/** The latest request of this process for each job, by a hash of the key and the ID. Tests have their own clocks. */
export const jobTurns = new Map<Clock, Map<string, Turn>>();

/** The right to send one request about a job. */
interface JobTurn {
	/** Call this when the request is sent. */
	start(): void;
	/** Call this when the request has ended. @param isSent false when it was never sent, and holds back no other */
	end(isSent: boolean): void;
}

/**
 * Waits until `interval` has passed since the last request of this process about a job ("Limits": minimum time between
 * two polls). Requests are sent in the order in which they arrived here.
 * @param interval milliseconds
 * @returns undefined when the signal aborted, or the patience ran out, before that
 */
export async function takeTurn(
	{ key, id, interval }: { key: string; id: string; interval: number },
	clock: Clock,
	waiting: () => WaitOptions,
): Promise<JobTurn | undefined> {
	const turns = currentTurns(clock);
	const name = createHash('sha256')
		.update(JSON.stringify([key, id]))
		.digest('hex');
	const previous = turns.get(name);
	let resolve: (freeAt: number) => void = () => undefined;
	const turn: Turn = { freeAt: Infinity, freed: new Promise((settle) => (resolve = settle)) };
	const free = (freeAt: number) => {
		turn.freeAt = freeAt;
		resolve(freeAt);
	};
	// Moves the job to the end of the map.
	turns.delete(name);
	turns.set(name, turn);
	const isFree = previous === undefined || previous.freeAt <= clock.now();
	if (!isFree && !(await waitForPrevious(previous, interval, clock, waiting()))) {
		void previous.freed.then(free);
		return undefined;
	}
	const hold = new AbortController();
	return {
		start() {
			const freeLater = () => free(clock.now() + interval);
			clock.sleep(maxHold, hold.signal).then(freeLater, () => undefined);
		},
		end(isSent) {
			hold.abort(done);
			free(clock.now() + (isSent ? interval : 0));
		},
	};
}

/** @returns whether the next request may be sent now; false when the signal aborted or the patience ran out */
async function waitForPrevious(
	previous: Turn,
	interval: number,
	clock: Clock,
	{ signal, patience = Infinity }: WaitOptions,
): Promise<boolean> {
	const waitOver = new AbortController();
	const abortSignal = AbortSignal.any([waitOver.signal, ...(signal ? [signal] : [])]);
	const stopWaiting = () => waitOver.abort(done);
	if (patience <= maxSleep) clock.sleep(patience, abortSignal).then(stopWaiting, () => undefined);
	try {
		const freeAt = await abortable(previous.freed, abortSignal);
		// A clock that was set back must not make the wait longer.
		const wait = Math.min(freeAt - clock.now(), interval);
		if (wait > 0) await clock.sleep(wait, abortSignal);
		return true;
	} catch {
		return false;
	} finally {
		waitOver.abort(done);
	}
}

/** The turns that still hold back a request. The others, which come first in the map, are deleted. */
function currentTurns(clock: Clock): Map<string, Turn> {
	const turns = jobTurns.get(clock) ?? new Map<string, Turn>();
	jobTurns.set(clock, turns);
	for (const [name, { freeAt }] of turns) {
		if (freeAt > clock.now()) break;
		turns.delete(name);
	}
	return turns;
}
