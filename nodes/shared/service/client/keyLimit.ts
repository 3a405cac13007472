import { createHash } from 'crypto';
import type { GatewayError } from '../errors/gatewayError';
import { isRateLimit } from '../errors/verdict';
import type { Clock } from './clock';
import { maxRetryAfter, parseRateLimitPause } from './retryPolicy';
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
	/** By sender; the first one is next. */
	private readonly queues = new Map<Limits, Set<() => void>>();
	private isSending = false;

	constructor(private readonly clock: Clock) {}

	/**
	 * Waits until a request may be sent.
	 * @returns a function to call when the exchange is over, once or more often; undefined when the request left the
	 * queue unsent
	 */
	async enter(sender: Limits, waiting: WaitOptions = {}): Promise<(() => void) | undefined> {
		if (waiting.signal?.aborted || this.pause > (waiting.patience ?? Infinity)) return undefined;
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

/** The limits that all gateways of this process share, by the hash of the key. Tests have their own clocks. */
const keyLimits = new WeakMap<Clock, Map<string, KeyLimit>>();

/** The queue of one gateway. It shares its limits with all other gateways that use the same key. */
export class RequestQueue {
	private constructor(
		private readonly keyLimit: KeyLimit,
		/** A separate object, by which the shared limit identifies this sender. */
		private readonly limits: Limits,
		private readonly clock: Clock,
	) {}

	/** The queue of a gateway; undefined when its credential sets no limit. */
	static of(
		{ key, limits }: { key: string; limits?: Limits },
		clock: Clock,
	): RequestQueue | undefined {
		if (limits === undefined) return undefined;
		const known = keyLimits.get(clock) ?? new Map<string, KeyLimit>();
		keyLimits.set(clock, known);
		const hash = createHash('sha256').update(key).digest('hex');
		const keyLimit = known.get(hash) ?? new KeyLimit(clock);
		known.set(hash, keyLimit);
		return new RequestQueue(keyLimit, { ...limits }, clock);
	}

	/** Waits until a request may be sent, as {@link KeyLimit.enter} does. */
	async enter(waiting?: WaitOptions): Promise<(() => void) | undefined> {
		return await this.keyLimit.enter(this.limits, waiting);
	}

	/** Holds back all requests with the key after the service has refused one because there were too many. */
	applyRateLimitPause({ failure }: GatewayError, headers: Record<string, string>): void {
		const pause = parseRateLimitPause(headers, this.clock.now());
		if (isRateLimit(failure) && pause) this.keyLimit.pauseFor(pause);
	}
}
