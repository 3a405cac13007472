export interface Clock {
	/** Milliseconds since 1970. */
	now(): number;
	/** Milliseconds of a counter that nobody sets. Default: that of Node.js. */
	elapsed?(): number;
	/** Resolves after that many milliseconds; rejects with the signal's reason when it aborts first. */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
