/** What is to happen, and when: a binary heap, with what comes first at its top. */
export class Agenda<T> {
	private readonly times: number[] = [];
	private readonly entries: T[] = [];

	get size(): number {
		return this.times.length;
	}

	/** When the next entry is due; Infinity when there is none. */
	get nextTime(): number {
		return this.times[0] ?? Infinity;
	}

	add(time: number, entry: T): void {
		let place = this.times.length;
		while (place > 0) {
			const parent = (place - 1) >> 1;
			if (this.times[parent] <= time) break;
			this.move(parent, place);
			place = parent;
		}
		this.put(place, time, entry);
	}

	/** Takes out the entry that is due first; the agenda must not be empty. */
	takeNext(): T {
		const next = this.entries[0];
		const time = this.times.pop() as number;
		const entry = this.entries.pop() as T;
		const size = this.times.length;
		if (size === 0) return next;
		let place = 0;
		for (;;) {
			let child = 2 * place + 1;
			if (child + 1 < size && this.times[child + 1] < this.times[child]) child++;
			if (child >= size || this.times[child] >= time) break;
			this.move(child, place);
			place = child;
		}
		this.put(place, time, entry);
		return next;
	}

	private move(from: number, to: number): void {
		this.put(to, this.times[from], this.entries[from]);
	}

	private put(place: number, time: number, entry: T): void {
		this.times[place] = time;
		this.entries[place] = entry;
	}
}
