/** What is to happen, and when. */
export class Agenda<T> {
	/** What comes first stands last. */
	private readonly entries: Array<{ time: number; entry: T }> = [];

	get size(): number {
		return this.entries.length;
	}

	/** When the next entry is due; Infinity when there is none. */
	get nextTime(): number {
		return this.entries.at(-1)?.time ?? Infinity;
	}

	/** Behind those that are due at the same time. */
	add(time: number, entry: T): void {
		let [low, high] = [0, this.entries.length];
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.entries[middle].time > time) low = middle + 1;
			else high = middle;
		}
		this.entries.splice(low, 0, { time, entry });
	}

	/** Takes out the entry that is due first; the agenda must not be empty. */
	takeNext(): T {
		return (this.entries.pop() as { entry: T }).entry;
	}
}
