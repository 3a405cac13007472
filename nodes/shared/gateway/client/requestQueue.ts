import { createHash } from 'crypto';
import type { GatewayError } from '../errors/gatewayError';
import { isRateLimit } from '../errors/verdict';
import type { Clock } from './clock';
import type { Connection } from './connection';
import { KeyLimit, type Limits } from './keyLimit';
import { parseRateLimitPause } from './retryPolicy';
import type { WaitOptions } from './timeouts';

/** The limits that all gateways of this process share, by the hash of the key. Tests have their own clocks. */
const keyLimits = new WeakMap<Clock, Map<string, KeyLimit>>();

/** The queue of one gateway. It shares its limits with all other gateways that use the same key. */
export class RequestQueue {
	private readonly keyHash: string;

	/** The queue of a gateway; undefined when its credential sets no limit. */
	static of({ key, limits }: Connection, clock: Clock): RequestQueue | undefined {
		return limits && new RequestQueue(key, { ...limits }, clock);
	}

	private constructor(
		key: string,
		/** A separate object, by which the shared limit identifies this sender. */
		private readonly limits: Limits,
		private readonly clock: Clock,
	) {
		this.keyHash = createHash('sha256').update(key).digest('hex');
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

	/** Looked up each time, because an idle one is discarded. */
	private get keyLimit(): KeyLimit {
		const { clock, keyHash } = this;
		const known = keyLimits.get(clock) ?? new Map<string, KeyLimit>();
		keyLimits.set(clock, known);
		const keyLimit = known.get(keyHash) ?? new KeyLimit(clock);
		if (!known.has(keyHash)) {
			for (const [hash, other] of known) if (other.isIdle) known.delete(hash);
			known.set(keyHash, keyLimit);
		}
		return keyLimit;
	}
}
