import { createHash } from 'crypto';
import type { GatewayError } from '../errors/gatewayError';
import { isRateLimit } from '../errors/verdict';
import type { Clock } from './clock';
import { maxRetryAfter, parseRateLimitPause } from './retryPolicy';
import { abortable, longestSleep } from './timeouts';

/** The limits that a credential sets for its key; undefined means no limit. */
export interface Limits {
	requestsPerSecond?: number;
	requestsInFlight?: number;
}

/** Milliseconds by which requests may differ in their time to the service without exceeding the limit in any second. */
const margin = 100;

/**
 * Milliseconds from one request to the next. They are spread evenly, because a service may count over less than a second.
 * 2.5 per second allows two in any one second.
 */
function intervalOf({ requestsPerSecond: rate = Infinity }: Limits): number {
	return rate < 1 ? 1000 / rate + margin : (1000 + margin) / Math.floor(rate);
}

/** The state that the senders with one key share in this process. */
class KeyUse {
	/** Those whose requests wait; the first one is next. */
	readonly senders = new Set<RequestQueue>();
	running = 0;
	sentAt = -Infinity;
	pausedUntil = -Infinity;
	isSending = false;

	/** In milliseconds. @param interval from the last request to the next */
	waitAt(now: number, interval: number): number {
		// A clock that was set back makes no wait longer.
		this.sentAt = Math.min(this.sentAt, now);
		this.pausedUntil = Math.min(this.pausedUntil, now + maxRetryAfter);
		return Math.max(this.sentAt + interval, this.pausedUntil) - now;
	}
}

/** By the hash of the key. Tests have their own clocks. */
const keyUses = new WeakMap<Clock, Map<string, KeyUse>>();

/**
 * The queued requests of one sender, such as a run of a node. All requests with its key count towards the limits of its
 * credential. The senders take turns: the first request of each, then the second of each.
 */
export class RequestQueue {
	private readonly waiting = new Set<() => void>();

	private constructor(
		private readonly limits: Limits,
		private readonly key: KeyUse,
		private readonly clock: Clock,
	) {}

	/** Undefined when the credential sets no limit. */
	static of(
		{ key, limits }: { key: string; limits?: Limits },
		clock: Clock,
	): RequestQueue | undefined {
		if (limits === undefined) return undefined;
		const known = keyUses.get(clock) ?? new Map<string, KeyUse>();
		keyUses.set(clock, known);
		const hash = createHash('sha256').update(key).digest('hex');
		const use = known.get(hash) ?? new KeyUse();
		known.set(hash, use);
		return new RequestQueue(limits, use, clock);
	}

	/**
	 * Waits until a request may be sent.
	 * @returns to be called at least once when the exchange is over; undefined when the signal has aborted
	 */
	async enter({ signal }: { signal?: AbortSignal } = {}): Promise<(() => void) | undefined> {
		if (signal?.aborted) return undefined;
		let go = () => {};
		const turn = new Promise<void>((resolve) => (go = resolve));
		this.waiting.add(go);
		this.key.senders.add(this);
		void this.processQueue();
		await abortable(turn, signal).catch(() => undefined);
		const hasAborted = this.waiting.delete(go);
		if (hasAborted) return undefined;
		let isOver = false;
		return () => {
			if (!isOver) this.key.running--;
			isOver = true;
			void this.processQueue();
		};
	}

	/** Holds back all requests with the key after the service has refused one as too many. */
	applyRateLimitPause({ failure }: GatewayError, headers: Record<string, string>): void {
		const { key, clock } = this;
		const pause = parseRateLimitPause(headers, clock.now());
		if (isRateLimit(failure) && pause)
			key.pausedUntil = Math.max(key.pausedUntil, clock.now() + pause);
	}

	/** Sends all waiting requests with the key, each as soon as the limits allow it. */
	private async processQueue(): Promise<void> {
		const { key, clock } = this;
		if (key.isSending) return;
		key.isSending = true;
		for (let [sender] = key.senders; sender !== undefined; [sender] = key.senders) {
			const { waiting, limits } = sender;
			const [go] = waiting;
			if (go === undefined) {
				key.senders.delete(sender);
				continue;
			}
			// The end of a request starts the next one.
			if (key.running >= (limits.requestsInFlight ?? Infinity)) break;
			const interval = intervalOf(limits);
			const wait = key.waitAt(clock.now(), interval);
			if (wait > 0) {
				await clock.sleep(Math.min(wait, longestSleep));
				continue;
			}
			waiting.delete(go);
			key.senders.delete(sender);
			key.senders.add(sender);
			key.running++;
			go();
			// The first requests of a process may take long to leave it, so the interval begins when they have left.
			if (interval > 0) await clock.sleep(0);
			key.sentAt = clock.now();
		}
		key.isSending = false;
	}
}
