export interface Clock {
	/** Milliseconds since 1970. */
	now(): number;
	/** Milliseconds of a counter that nobody sets. Default: that of Node.js. */
	elapsed?(): number;
	/** Resolves after that many milliseconds; rejects with the signal's reason when it aborts first. */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Counts on from the time at which it was made, even if a time server or a user sets n8n's clock meanwhile. */
export class SteadyClock implements Clock {
	private time: number;
	private readAt: number;

	constructor(private readonly clock: Clock) {
		this.time = clock.now();
		this.readAt = this.elapsed();
	}

	elapsed(): number {
		return this.clock.elapsed?.() ?? performance.now();
	}

	now(): number {
		const read = this.elapsed();
		this.time += read - this.readAt;
		this.readAt = read;
		return Math.round(this.time);
	}

	async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
		const end = this.now() + milliseconds;
		await this.clock.sleep(milliseconds, signal);
		// A timer may end a moment early by the counter; the caller must not see its time as still to come.
		this.time = Math.max(this.now(), end);
	}

	/** By how many milliseconds n8n's clock has been set since then; negative when it was set back. */
	get step(): number {
		return this.clock.now() - this.now();
	}
}
