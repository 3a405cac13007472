import type { Clock } from './clock';
import { maxRetryAfter } from './retryPolicy';

/** The limits that a credential sets for its key; undefined means no limit. */
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

/** In milliseconds: requests may differ by this much in their time to the service, and no second exceeds the limit. */
const margin = 100;

/** Maximum milliseconds of a timer's delay that are made up for, out of the margin. */
const maxCatchUp = 20;

/** In milliseconds; timers take no more than 24 days. */
const maxSleep = 3_600_000;

/** The shared abort reason for waits that are over: without a reason, each abort creates an error. */
const done = new Error('done');

/**
 * Milliseconds from one request to the next. Requests are spread evenly, because a service may count over less than a
 * second. No second gets more than the limit, so 2.5 per second allows two in any one second.
 */
function intervalOf({ requestsPerSecond: rate = Infinity }: Limits): number {
	return rate < 1 ? 1000 / rate + margin : (1000 + margin) / Math.floor(rate);
}

/**
 * Sends the queued requests of one key, in turns: the first of each sender, then the second of each. A sender, such as
 * one run of a node, has the limits of its credential. All requests with the key count towards each sender's limits.
 */
export class KeyLimit {
	private running = 0;
	/** When the last request was sent, or slightly earlier when its timer was late. */
	private sentAt = -Infinity;
	/** Whether a request has left the queue, but not the process yet. */
	private isSending = false;
	private pausedUntil = -Infinity;
	/** The longest of all senders so far: the limit is kept for this long after its last request. */
	private longestInterval = 0;
	/** By sender; the first one is next. */
	private readonly queues = new Map<Limits, Set<() => void>>();
	private scheduled = { at: Infinity, cancel: new AbortController() };

	constructor(private readonly clock: Clock) {}

	/** Whether it can be discarded, because it no longer affects any request. */
	get isIdle(): boolean {
		const isUsed = this.isSending || this.running + this.queues.size > 0;
		return (
			!isUsed && this.clock.now() > Math.max(this.pausedUntil, this.sentAt + this.longestInterval)
		);
	}

	/**
	 * Waits until a request may be sent.
	 * @returns a function to call when the exchange is over, once or more often; undefined when the request left the
	 * queue unsent
	 */
	async enter(
		sender: Limits,
		{ signal, patience = Infinity }: WaitOptions = {},
	): Promise<(() => void) | undefined> {
		if (signal?.aborted || this.pause > patience) return undefined;
		this.longestInterval = Math.max(this.longestInterval, intervalOf(sender));
		const queue = this.queues.get(sender) ?? new Set();
		this.queues.set(sender, queue);
		const waitOver = new AbortController();
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
			this.clock.sleep(time, waitOver.signal).then(leaveQueue, () => undefined);
		});
		signal?.removeEventListener('abort', leaveQueue);
		waitOver.abort(done);
		if (!maySend) return undefined;
		let hasLeft = false;
		return () => {
			if (hasLeft) return;
			hasLeft = true;
			this.running--;
			this.dispatch();
		};
	}

	/** Sends nothing for this many milliseconds. */
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

	/** Remaining milliseconds of the pause. A clock that was set back must not make it longer. */
	private get pause(): number {
		const now = this.clock.now();
		this.pausedUntil = Math.min(this.pausedUntil, now + maxRetryAfter);
		return this.pausedUntil - now;
	}

	/** Milliseconds until the sender may send; infinite while another request has to leave or end first. */
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
		// The first requests of a process may take long to leave it, so the interval begins when they have left.
		this.isSending = true;
		void this.clock.sleep(0).then(() => {
			this.isSending = false;
			sent();
			this.dispatch();
		});
	}

	/** Dispatches again after this many milliseconds, instead of at the time scheduled before. */
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
