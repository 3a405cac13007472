import { freeBytes, maxHeldBytes } from '../protocol/bounds';

/** What one response holds of the memory. */
export interface HeldBytes {
	/** Counts bytes that have arrived. @returns false when too much is held; they do not count then */
	take(bytes: number): boolean;
	/** To be called once the response has been read, or was given up. */
	release(): void;
}

/**
 * Bounds what all responses hold that are read at the same time. Each may fail only by its own size: what is within the
 * first megabyte of a response is always free.
 */
export class ResponseMemory {
	private held = 0;

	constructor(private readonly max = maxHeldBytes) {}

	/** In bytes, without the free part of each response. */
	get heldBytes(): number {
		return this.held;
	}

	/** The share of one response; it holds nothing yet. */
	share(): HeldBytes {
		let own = 0;
		let counted = 0;
		return {
			take: (bytes) => {
				const more = Math.max(0, own + bytes - freeBytes) - counted;
				if (more > 0 && this.held + more > this.max) return false;
				own += bytes;
				counted += more;
				this.held += more;
				return true;
			},
			release: () => {
				this.held -= counted;
				[own, counted] = [0, 0];
			},
		};
	}
}

/** Why a response was not read to its end; continues "the response …". */
export const tooMuchAtOnce = `was not read to its end: all responses that arrive at this moment have more than ${maxHeldBytes / 1_000_000} million bytes`;

/** That of this process, whatever gateways and executions are in it. */
export const responseMemory = new ResponseMemory();
