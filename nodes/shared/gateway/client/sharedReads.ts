import { createHash } from 'crypto';
import type { Clock } from './clock';
import type { WaitOptions } from './keyLimit';
import { abortable } from './timeouts';

/** Maximum milliseconds for which a request without a response holds back the next one. */
const maxHold = 10_000;

/** Milliseconds for which a response is kept: the longest time for which anything takes it. */
const keptFor = 10_000;

/** In milliseconds: no wait takes as long, and timers take no more than 24 days. */
const maxSleep = 3_600_000;

/** The shared abort reason for waits that are over: without a reason, each abort creates an error. */
const done = new Error('done');

/** What became of a request that was sent. */
interface Result<T> {
	outcome: T;
	/** Who may have it, too: everybody who asks soon, or only those who have joined the request. */
	sharedWith: 'all' | 'joined' | 'nobody';
	/** False when it never reached the service, and holds back no other request. */
	isSent: boolean;
}

/** One request, and what became of it. */
class Read {
	/** In milliseconds since 1970; infinite while it is under way. */
	endedAt = Infinity;
	result?: Result<unknown>;
	readonly ended: Promise<void>;
	private resolve: () => void = () => undefined;
	private readonly hold = new AbortController();

	constructor(
		readonly what: string,
		private readonly clock: Clock,
	) {
		this.ended = new Promise((resolve) => (this.resolve = resolve));
	}

	get hasEnded(): boolean {
		return this.endedAt < Infinity;
	}

	/** Milliseconds since its end. A clock that was set back must not make others wait longer. */
	get age(): number {
		this.endedAt = Math.min(this.endedAt, this.clock.now());
		return this.clock.now() - this.endedAt;
	}

	/** The request leaves this process. */
	start(): void {
		const giveUp = () => this.end();
		this.clock.sleep(maxHold, this.hold.signal).then(giveUp, () => undefined);
	}

	/** @param result undefined when there is none yet, although it holds back the others no longer */
	end(result?: Result<unknown>): void {
		this.hold.abort(done);
		this.result = result;
		this.endedAt = this.clock.now();
		this.resolve();
	}
}

/** The requests that take turns. */
interface Turns {
	/** The latest of them. */
	last?: Read;
	/** The latest for each thing. */
	reads: Map<string, Read>;
}

/** The latest reads of this process, by a hash of their name. Tests have their own clocks. */
export const latestReads = new Map<Clock, Map<string, Turns>>();

/** What a reader wants. Times are in milliseconds. */
export interface Wish {
	/** Requests with equal names take turns. */
	name: readonly unknown[];
	/** Those of them for the same thing share a response. */
	what: string;
	/** Minimum time between two requests ("Limits": between two polls). */
	interval: number;
	/** Since 1970: the response must have arrived later. Default: now, so that a reader gets nothing outdated. */
	since?: number;
	/** How old the response may be. Default: less than the interval. */
	maxAge?: number;
}

/**
 * Reads something that this process may request only once in a while. Whoever wants it meanwhile joins the request
 * under way, or waits for its turn: the next request is for all who wait.
 * @param send sends the request; calls `start` when it leaves the process
 * @returns undefined when the signal aborted, or the patience ran out, before there was a response
 */
export async function readShared<T>(
	wish: Wish,
	clock: Clock,
	waiting: () => WaitOptions,
	send: (start: () => void) => Promise<Result<T>>,
): Promise<T | undefined> {
	const { name, what, interval, since = clock.now(), maxAge = interval } = wish;
	const turns = turnsOf(name, clock);
	for (let { last } = turns; last !== undefined; { last } = turns) {
		const { ended } = last;
		const own = last.what === what ? last : turns.reads.get(what);
		const isUnderWay = !last.hasEnded;
		const hasJoined = isUnderWay && own === last;
		const join = async (signal: AbortSignal) => await abortable(ended, signal);
		if (isUnderWay && !(await isReached(join, clock, waiting()))) return undefined;
		const { sharedWith = 'nobody', outcome } = own?.result ?? {};
		const isOpen = sharedWith === 'all' || (hasJoined && sharedWith === 'joined');
		const isNew = hasJoined || (own && own.endedAt > since && own.age < maxAge);
		if (isOpen && isNew) return outcome as T;
		const left = last.result?.isSent === false ? 0 : interval - last.age;
		if (last !== turns.last) continue;
		if (left <= 0) break;
		const pause = async (signal: AbortSignal) => await clock.sleep(left, signal);
		if (!(await isReached(pause, clock, waiting()))) return undefined;
	}
	const read = new Read(what, clock);
	turns.last = read;
	turns.reads.set(what, read);
	let result: Result<T | undefined> = { outcome: undefined, sharedWith: 'nobody', isSent: false };
	try {
		result = await send(() => read.start());
		return result.outcome;
	} finally {
		read.end(result);
	}
}

/** @returns false when the signal aborted or the patience ran out first */
async function isReached(
	wait: (signal: AbortSignal) => Promise<void>,
	clock: Clock,
	{ signal, patience = Infinity }: WaitOptions,
): Promise<boolean> {
	const waitOver = new AbortController();
	const abortSignal = AbortSignal.any([waitOver.signal, ...(signal ? [signal] : [])]);
	const stopWaiting = () => waitOver.abort(done);
	if (patience <= maxSleep) clock.sleep(patience, abortSignal).then(stopWaiting, () => undefined);
	try {
		await wait(abortSignal);
		return true;
	} catch {
		return false;
	} finally {
		waitOver.abort(done);
	}
}

/** Moves the turns to the end of the map, and deletes those at its beginning that no longer matter. */
function turnsOf(name: readonly unknown[], clock: Clock): Turns {
	const all = latestReads.get(clock) ?? new Map<string, Turns>();
	latestReads.set(clock, all);
	for (const [key, { last }] of all) {
		if (last && last.endedAt > clock.now() - keptFor) break;
		all.delete(key);
	}
	const key = createHash('sha256').update(JSON.stringify(name)).digest('hex');
	const turns = all.get(key) ?? { reads: new Map<string, Read>() };
	all.delete(key);
	all.set(key, turns);
	return turns;
}
