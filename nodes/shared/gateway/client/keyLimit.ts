import type { Clock } from './clock';
import { maxRetryAfter } from './retryPolicy';

/** What a credential allows to be sent with its key; undefined: any number. */
export interface Limits {
	requestsPerSecond?: number;
	requestsInFlight?: number;
}

export interface WaitOptions {
	/** Leaves the queue when it aborts. */
	signal?: AbortSignal;
	/** Milliseconds after which the queue is left. Default: never. */
	patience?: number;
}

/** Milliseconds by which some requests take longer to the service than others, without making a second too full. */
const margin = 100;

/** Milliseconds that a late timer may make up for, out of the margin. */
const maxCatchUp = 20;

/** Milliseconds; no timer takes more than 24 days. */
const maxSleep = 3_600_000;

/** The shared reason of what is no longer waited for: an abort without any creates an error each time. */
const done = new Error('done');

/**
 * Milliseconds from one request to the next. They are spread evenly, because a service may count by less than a
 * second, and never more than the limit fall into any one second: of 2.5, these are two.
 */
function intervalOf({ requestsPerSecond: rate = Infinity }: Limits): number {
	return rate < 1 ? 1000 / rate + margin : (1000 + margin) / Math.floor(rate);
}

/**
 * Lets the requests of one key go, in turns: the first of each sender, then the second of each. A sender, such as
 * one run of a node, has the limits of its credential. All requests of the key count, whichever limits theirs are.
 */
export class KeyLimit {
	private running = 0;
	/** When the last request was sent, or somewhat earlier where it was late. */
	private sentAt = -Infinity;
	/** Whether a request has been let go, and is not out yet. */
	private isSending = false;
	private pausedUntil = -Infinity;
	/** Of all senders so far: the limit is kept for that long after its last request. */
	private longestInterval = 0;
	/** By sender. The first one is next. */
	private readonly queues = new Map<Limits, Set<() => void>>();
	private scheduled = { at: Infinity, cancel: new AbortController() };

	constructor(private readonly clock: Clock) {}

	/** Whether nothing would be forgotten with it. */
	get isIdle(): boolean {
		const isUsed = this.isSending || this.running + this.queues.size > 0;
		return (
			!isUsed && this.clock.now() > Math.max(this.pausedUntil, this.sentAt + this.longestInterval)
		);
	}

	/**
	 * Waits until a request may be sent.
	 * @returns what to call when its exchange is over, perhaps more than once; undefined when it left the queue
	 * unsent
	 */
	async enter(
		sender: Limits,
		{ signal, patience = Infinity }: WaitOptions = {},
	): Promise<(() => void) | undefined> {
		if (signal?.aborted || this.pause > patience) return undefined;
		this.longestInterval = Math.max(this.longestInterval, intervalOf(sender));
		const queue = this.queues.get(sender) ?? new Set();
		this.queues.set(sender, queue);
		const over = new AbortController();
		let leaveQueue = () => {};
		const maySend = await new Promise<boolean>((resolve) => {
			const go = () => resolve(true);
			leaveQueue = () => {
				if (!queue.delete(go)) return;
				if (queue.size === 0) this.queues.delete(sender);
				resolve(false);
				this.dispatch();
			};
			signal?.addEventListener('abort', leaveQueue, { once: true });
			queue.add(go);
			this.dispatch();
			if (patience === Infinity || !queue.has(go)) return;
			const time = Math.min(patience, maxSleep);
			this.clock.sleep(time, over.signal).then(leaveQueue, () => undefined);
		});
		signal?.removeEventListener('abort', leaveQueue);
		over.abort(done);
		if (!maySend) return undefined;
		let hasLeft = false;
		return () => {
			if (hasLeft) return;
			hasLeft = true;
			this.running--;
			this.dispatch();
		};
	}

	/** Lets nothing go for that many milliseconds. */
	pauseFor(milliseconds: number): void {
		this.pausedUntil = Math.max(this.pausedUntil, this.clock.now() + milliseconds);
	}

	private dispatch(): void {
		for (;;) {
			const [next] = this.queues;
			const wait = next === undefined ? Infinity : this.delayOf(next[0]);
			if (next === undefined || wait > 0) {
				this.scheduleDispatch(wait);
				return;
			}
			this.send(...next);
		}
	}

	/** Milliseconds of the pause that are left. A clock that was set back makes it no longer. */
	private get pause(): number {
		const now = this.clock.now();
		this.pausedUntil = Math.min(this.pausedUntil, now + maxRetryAfter);
		return this.pausedUntil - now;
	}

	/** Milliseconds until the sender may send; infinite where another request has to make way first. */
	private delayOf(sender: Limits): number {
		const { requestsInFlight = Infinity } = sender;
		if (this.isSending || this.running >= requestsInFlight) return Infinity;
		const now = this.clock.now();
		this.sentAt = Math.min(this.sentAt, now);
		return Math.max(this.sentAt + intervalOf(sender) - now, this.pause);
	}

	private send(sender: Limits, queue: Set<() => void>): void {
		const [go] = queue;
		queue.delete(go);
		this.queues.delete(sender);
		if (queue.size > 0) this.queues.set(sender, queue);
		this.running++;
		go();
		const interval = intervalOf(sender);
		const sent = () => {
			this.sentAt = Math.max(this.clock.now() - maxCatchUp, this.sentAt + interval);
		};
		if (interval === 0) {
			sent();
			return;
		}
		// The first requests of a process may take long to get out: the interval counts from then on.
		this.isSending = true;
		void this.clock.sleep(0).then(() => {
			this.isSending = false;
			sent();
			this.dispatch();
		});
	}

	/** Looks again after so many milliseconds, and no longer after those that were set before. */
	private scheduleDispatch(wait: number): void {
		const at = this.clock.now() + wait;
		if (this.scheduled.at === at) return;
		this.scheduled.cancel.abort(done);
		const cancel = new AbortController();
		this.scheduled = { at, cancel };
		if (wait === Infinity) return;
		const dispatchNow = () => {
			this.scheduled = { at: Infinity, cancel };
			this.dispatch();
		};
		this.clock.sleep(Math.min(wait, maxSleep), cancel.signal).then(dispatchNow, () => undefined);
	}
}
