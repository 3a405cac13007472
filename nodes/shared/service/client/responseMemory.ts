import { freeBytes, maxHeldBytes } from '../protocol/bounds';
import { abortable } from './timeouts';

export interface HeldBytes {
	/** Counts bytes that have arrived. Waits while all responses together hold too much; rejects when the signal aborts. */
	take(bytes: number, signal?: AbortSignal): Promise<void>;
	/** To be called once the response has been read, or was given up. */
	release(): void;
}

/**
 * Bounds what all responses that are read at the same time hold together. None is dropped, since it may be paid for: the
 * others wait. The first megabyte of each is free, and one response at a time may exceed the bound, so that it ends.
 */
export class ResponseMemory {
	private held = 0;
	/** The share that may exceed the bound. */
	private exempt?: HeldBytes;
	/** Wakes those that wait, in the order in which they began to. */
	private wake = () => {};
	private freed = this.nextFreed();

	constructor(private readonly max = maxHeldBytes) {}

	/** Without the free part of each response. */
	get heldBytes(): number {
		return this.held;
	}

	share(): HeldBytes {
		let own = 0;
		let counted = 0;
		const share: HeldBytes = {
			take: async (bytes, signal) => {
				own += bytes;
				const more = Math.max(0, own - freeBytes) - counted;
				while (more > 0 && this.held + more > this.max && this.exempt !== share) {
					if (this.exempt === undefined) this.exempt = share;
					else await abortable(this.freed, signal);
				}
				counted += more;
				this.held += more;
			},
			release: () => {
				this.held -= counted;
				[own, counted] = [0, 0];
				if (this.exempt === share) this.exempt = undefined;
				this.wake();
				this.freed = this.nextFreed();
			},
		};
		return share;
	}

	private async nextFreed(): Promise<void> {
		await new Promise<void>((resolve) => (this.wake = resolve));
	}
}

/** Of all gateways and executions of this process. */
export const responseMemory = new ResponseMemory();
