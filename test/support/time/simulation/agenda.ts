/** Entries that are due at certain times. */
export class Agenda<T> {
	/** Sorted; the entry that is due first is the last one. */
	private readonly entries: Array<{ time: number; entry: T }> = [];

	get size(): number {
		return this.entries.length;
	}

	/** When the next entry is due; Infinity when there is none. */
	get nextTime(): number {
		return this.entries.at(-1)?.time ?? Infinity;
	}

	/** Adds an entry. Entries of the same time leave in the order in which they were added. */
	add(time: number, entry: T): void {
		let [low, high] = [0, this.entries.length];
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.entries[middle].time > time) low = middle + 1;
			else high = middle;
		}
		this.entries.splice(low, 0, { time, entry });
	}

	/** Removes and returns the entry that is due first. The agenda must not be empty. */
	takeNext(): T {
		return (this.entries.pop() as { entry: T }).entry;
	}
}
