import type { Clock } from '../../../nodes/shared/service/client/http';

interface Sleeper {
	due: number;
	wake: () => void;
}

/**
 * A clock whose time passes only while nothing else runs: it then jumps to the sleeper that is due first. Days of
 * waiting take milliseconds, and every test run sees the same order of events.
 */
export class SimulatedClock implements Clock {
	private time = Date.UTC(2026, 0, 1);
	/** How far `move` has set the clock forward or back. */
	private offset = 0;
	/** Sorted; the sleeper that is due first is the last one. */
	private readonly sleepers: Sleeper[] = [];
	private isScheduled = false;
	/** Pieces of real work under way, such as requests. */
	private underWay = 0;
	/** Grows whenever real work starts or ends. */
	private moves = 0;

	/**
	 * @param patience how many checks in a row must find no progress of real work before time passes all the same, so that
	 * a time limit can expire; by default, time waits for real work however long it takes. They are a millisecond apart,
	 * but it counts checks, because this process may have to wait for the machine
	 */
	constructor(private readonly patience = Infinity) {}

	now(): number {
		return this.time + this.offset;
	}

	elapsed(): number {
		return this.now();
	}

	/** Sets the clock forward or back, as a busy process or a user does. Sleepers still sleep as long as before. */
	move(milliseconds: number): void {
		this.offset += milliseconds;
	}

	async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
		signal?.throwIfAborted();
		if (milliseconds >= 2 ** 31) throw new RangeError('No timer of Node.js is that long');
		await new Promise<void>((resolve, reject) => {
			const wake = () => {
				signal?.removeEventListener('abort', abort);
				resolve();
			};
			const sleeper = { due: this.time + Math.max(0, milliseconds), wake };
			const abort = () => {
				this.sleepers.splice(this.sleepers.indexOf(sleeper), 1);
				reject(signal?.reason);
			};
			signal?.addEventListener('abort', abort, { once: true });
			this.sleepers.splice(this.placeOf(sleeper.due), 0, sleeper);
			this.schedule();
		});
	}

	/** Time stands still until this work is done. */
	async during<T>(work: Promise<T>): Promise<T> {
		this.underWay++;
		this.moves++;
		try {
			return await work;
		} finally {
			this.underWay--;
			this.moves++;
			this.schedule();
		}
	}

	/** The index for a new sleeper: after those that are due later, and before those that are due at the same time. */
	private placeOf(due: number): number {
		let low = 0;
		let high = this.sleepers.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.sleepers[middle].due > due) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** Checks again once everything that runs now has settled. */
	private schedule(): void {
		if (this.isScheduled || this.sleepers.length === 0) return;
		this.isScheduled = true;
		setImmediate(() => {
			this.isScheduled = false;
			if (this.underWay === 0) this.wakeNext();
			else if (Number.isFinite(this.patience)) this.waitForWork(this.moves, this.patience);
		});
	}

	private waitForWork(moves: number, checks: number): void {
		setTimeout(() => {
			// Sockets are read between a timer and an immediate.
			setImmediate(() => {
				if (this.moves !== moves) this.schedule();
				else if (checks > 1) this.waitForWork(moves, checks - 1);
				else this.wakeNext();
			});
		}, 1).unref();
	}

	private wakeNext(): void {
		const sleeper = this.sleepers.pop();
		if (sleeper === undefined) return;
		this.time = Math.max(this.time, sleeper.due);
		sleeper.wake();
		this.schedule();
	}
}
