import { createHash } from 'crypto';
import type { Clock } from './clock';
import type { WaitOptions } from './keyLimit';
import { abortable } from './timeouts';

/** Milliseconds that a request without a response holds back the next one about the same job. */
const maxHold = 10_000;

/** Milliseconds; no timer takes more than 24 days, and no wait for a turn takes that long. */
const maxSleep = 3_600_000;

/** The shared reason of what is no longer waited for: an abort without any creates an error each time. */
const done = new Error('done');

/** One request about a job. */
interface Turn {
	/** When the next request may be sent, in milliseconds since 1970; infinite until that is known. */
	freeAt: number;
	/** The same, once it is known. */
	freed: Promise<number>;
}

/** By the hash of a key and a job, the latest request of this process. Tests have clocks of their own. */
export const jobTurns = new Map<Clock, Map<string, Turn>>();

/** What follows the wait for a turn. */
interface JobTurn {
	/** To be called when the request is sent. */
	start(): void;
	/** To be called at the end. @param isSent false: it never was, and holds nothing back */
	end(isSent: boolean): void;
}

/**
 * Waits until the last request about a job is that long over, whoever in this process sent it ("Limits": the least
 * time between two polls). Requests go in the order in which they came.
 * @param interval milliseconds
 * @returns undefined when it gave up waiting
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
	// The latest one stands last.
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
			const pass = () => free(clock.now() + interval);
			clock.sleep(maxHold, hold.signal).then(pass, () => undefined);
		},
		end(isSent) {
			hold.abort(done);
			free(clock.now() + (isSent ? interval : 0));
		},
	};
}

/** Whether the next request may be sent now; not when it gave up waiting for that. */
async function waitForPrevious(
	previous: Turn,
	interval: number,
	clock: Clock,
	{ signal, patience = Infinity }: WaitOptions,
): Promise<boolean> {
	const over = new AbortController();
	const ends = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
	const stopWaiting = () => over.abort(done);
	if (patience <= maxSleep) clock.sleep(patience, ends).then(stopWaiting, () => undefined);
	try {
		const freeAt = await abortable(previous.freed, ends);
		// A clock that was set back makes the wait no longer.
		const wait = Math.min(freeAt - clock.now(), interval);
		if (wait > 0) await clock.sleep(wait, ends);
		return true;
	} catch {
		return false;
	} finally {
		over.abort(done);
	}
}

/** Forgets the jobs whose next request may be sent, which are the first ones. */
function currentTurns(clock: Clock): Map<string, Turn> {
	const turns = jobTurns.get(clock) ?? new Map<string, Turn>();
	jobTurns.set(clock, turns);
	for (const [name, { freeAt }] of turns) {
		if (freeAt > clock.now()) break;
		turns.delete(name);
	}
	return turns;
}
