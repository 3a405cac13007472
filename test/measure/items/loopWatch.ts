/**
 * Notes for how long the event loop stands still because this process computes: time in which the machine was busy
 * with others does not count. The histogram of node:perf_hooks knows no such difference, and misses a block that
 * lasts until it is read.
 */
export class LoopWatch {
	private last = now();
	private longest = 0;
	/** Timers may follow one another within one turn of the loop; an immediate comes once in each. */
	private readonly timer = setInterval(() => setImmediate(() => this.note()), 1);

	/** @returns milliseconds of the longest block so far */
	end(): number {
		this.note();
		clearInterval(this.timer);
		return this.longest;
	}

	private note(): void {
		const { clock, cpu } = now();
		this.longest = Math.max(this.longest, Math.min(clock - this.last.clock, cpu - this.last.cpu));
		this.last = { clock, cpu };
	}
}

function now(): { clock: number; cpu: number } {
	const { user, system } = process.cpuUsage();
	return { clock: performance.now(), cpu: (user + system) / 1000 };
}
