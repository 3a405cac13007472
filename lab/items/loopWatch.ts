/**
 * Measures how long the event loop is blocked because this process computes. Time in which the machine runs other
 * processes does not count. The histogram of node:perf_hooks does not distinguish them, and misses a block that
 * lasts until it is read.
 */
export class LoopWatch {
	private last = now();
	private longest = 0;
	/** Several timers may run within one turn of the loop; an immediate runs once in each turn. */
	private readonly timer = setInterval(() => setImmediate(() => this.record()), 1);

	/** @returns milliseconds of the longest block so far */
	end(): number {
		this.record();
		clearInterval(this.timer);
		return this.longest;
	}

	private record(): void {
		const { clock, cpu } = now();
		this.longest = Math.max(this.longest, Math.min(clock - this.last.clock, cpu - this.last.cpu));
		this.last = { clock, cpu };
	}
}

function now(): { clock: number; cpu: number } {
	const { user, system } = process.cpuUsage();
	return { clock: performance.now(), cpu: (user + system) / 1000 };
}
