import { freeBytes, maxHeldBytes } from '../protocol/bounds';
import { abortable } from './timeouts';

/** What one response holds of the memory. */
export interface HeldBytes {
	/**
	 * Counts bytes that have arrived. Waits while all responses together hold too much, so that no more is read of this
	 * one; rejects when the signal aborts first.
	 */
	take(bytes: number, signal?: AbortSignal): Promise<void>;
	/** To be called once the response has been read, or was given up. */
	release(): void;
}

/** A response that waits for others to be read. */
interface Waiting {
	share: object;
	bytes: number;
	proceed: () => void;
}

/**
 * Bounds what all responses hold that are read at the same time. What is too much waits, since it may be paid for: the
 * first megabyte of a response is always free, and of those that wait, the first may exceed the bound, so that it ends.
 * A response alone is bounded by its size.
 */
export class ResponseMemory {
	private held = 0;
	/** In the order in which they began to wait. */
	private readonly waiting: Waiting[] = [];
	/** The share that may exceed the bound. */
	private exempt?: object;

	constructor(private readonly max = maxHeldBytes) {}

	/** In bytes, without the free part of each response. */
	get heldBytes(): number {
		return this.held;
	}

	/** The share of one response; it holds nothing yet. */
	share(): HeldBytes {
		let own = 0;
		let counted = 0;
		const share: HeldBytes = {
			take: async (bytes, signal) => {
				const more = Math.max(0, own + bytes - freeBytes) - counted;
				const count = () => {
					own += bytes;
					counted += more;
					this.held += more;
				};
				if (more === 0 || this.fits(share, more)) count();
				else await this.turnOf(share, { bytes: more, count }, signal);
			},
			release: () => {
				this.held -= counted;
				[own, counted] = [0, 0];
				if (this.exempt === share) this.exempt = undefined;
				this.proceed();
			},
		};
		return share;
	}

	private fits(share: object, bytes: number): boolean {
		// Whoever came later does not overtake those that wait.
		if (this.held + bytes <= this.max && this.waiting.length === 0) return true;
		if (this.exempt === undefined && this.waiting.length === 0) this.exempt = share;
		return this.exempt === share;
	}

	private async turnOf(
		share: object,
		{ bytes, count }: { bytes: number; count: () => void },
		signal?: AbortSignal,
	): Promise<void> {
		let turn: Waiting | undefined;
		const hasCome = new Promise<void>((resolve) => {
			const proceed = () => {
				count();
				resolve();
			};
			turn = { share, bytes, proceed };
			this.waiting.push(turn);
		});
		await abortable(hasCome, signal).finally(() => {
			const at = this.waiting.findIndex((waiting) => waiting === turn);
			if (at >= 0) this.waiting.splice(at, 1);
		});
	}

	/** Lets those proceed that fit now, and the first that does not if no other exceeds the bound. */
	private proceed(): void {
		for (let [next] = this.waiting; next !== undefined; [next] = this.waiting) {
			if (this.held + next.bytes > this.max) {
				if (this.exempt !== undefined) return;
				this.exempt = next.share;
			}
			this.waiting.shift();
			next.proceed();
		}
	}
}

/** That of this process, whatever gateways and executions are in it. */
export const responseMemory = new ResponseMemory();
