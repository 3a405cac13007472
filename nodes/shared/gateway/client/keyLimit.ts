import type { Clock } from './clock';
import { maxRetryAfter } from './retryPolicy';
import { abortable, isInTime, type WaitOptions } from './timeouts';

/** The limits that a credential sets for its key; undefined means no limit. */
export interface Limits {
	requestsPerSecond?: number;
	requestsInFlight?: number;
}

/** In milliseconds: requests may differ by this much in their time to the service, and no second exceeds the limit. */
const margin = 100;

/** Maximum milliseconds of a timer's delay that are made up for, out of the margin. */
const maxCatchUp = 20;

/** In milliseconds; timers take no more than 24 days. */
const maxSleep = 3_600_000;

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
	private pausedUntil = -Infinity;
	/** The longest of all senders so far: the limit is kept for this long after its last request. */
	private longestInterval = 0;
	/** By sender; the first one is next. */
	private readonly queues = new Map<Limits, Set<() => void>>();
	private isSending = false;

	constructor(private readonly clock: Clock) {}

	/** Whether it can be discarded, because it no longer affects any request. */
	get isIdle(): boolean {
		const isUsed = this.isSending || this.running + this.queues.size > 0;
		const until = Math.max(this.pausedUntil, this.sentAt + this.longestInterval);
		return !isUsed && this.clock.now() > until;
	}

	/**
	 * Waits until a request may be sent.
	 * @returns a function to call when the exchange is over, once or more often; undefined when the request left the
	 * queue unsent
	 */
	async enter(sender: Limits, waiting: WaitOptions = {}): Promise<(() => void) | undefined> {
		if (waiting.signal?.aborted || this.pause > (waiting.patience ?? Infinity)) return undefined;
		this.longestInterval = Math.max(this.longestInterval, intervalOf(sender));
		const queue = this.queues.get(sender) ?? new Set();
		this.queues.set(sender, queue);
		let go = () => {};
		const turn = new Promise<void>((resolve) => (go = resolve));
		queue.add(go);
		void this.sendNext();
		const wait = async (signal: AbortSignal) => await abortable(turn, signal);
		const hasCome = await isInTime(wait, this.clock, waiting);
		if (!hasCome && queue.delete(go)) {
			if (queue.size === 0) this.queues.delete(sender);
			return undefined;
		}
		let isOver = false;
		return () => {
			if (!isOver) this.running--;
			isOver = true;
			void this.sendNext();
		};
	}

	/** Sends nothing for this many milliseconds. */
	pauseFor(milliseconds: number): void {
		this.pausedUntil = Math.max(this.pausedUntil, this.clock.now() + milliseconds);
	}

	/** Remaining milliseconds of the pause. A clock that was set back must not make it longer. */
	private get pause(): number {
		const now = this.clock.now();
		this.pausedUntil = Math.min(this.pausedUntil, now + maxRetryAfter);
		return this.pausedUntil - now;
	}

	/** Sends all that wait, each as soon as it may be sent. */
	private async sendNext(): Promise<void> {
		if (this.isSending) return;
		this.isSending = true;
		for (let [next] = this.queues; next !== undefined; [next] = this.queues) {
			const [sender, queue] = next;
			// The end of a request starts the next one.
			if (this.running >= (sender.requestsInFlight ?? Infinity)) break;
			const interval = intervalOf(sender);
			const now = this.clock.now();
			this.sentAt = Math.min(this.sentAt, now);
			const wait = Math.max(this.sentAt + interval - now, this.pause);
			if (wait > 0) {
				await this.clock.sleep(Math.min(wait, maxSleep));
				continue;
			}
			const [go] = queue;
			queue.delete(go);
			this.queues.delete(sender);
			if (queue.size > 0) this.queues.set(sender, queue);
			this.running++;
			go();
			// The first requests of a process may take long to leave it, so the interval begins when they have left.
			if (interval > 0) await this.clock.sleep(0);
			this.sentAt = Math.max(this.clock.now() - maxCatchUp, this.sentAt + interval);
		}
		this.isSending = false;
	}
}
