/** The memory of this process beyond one execution, by name. It ends with the process. */
export const processMemory = new Map<string, object>();

export function remembered<T extends object>(name: string, create: () => T): T {
	const found = processMemory.get(name) as T | undefined;
	if (found) return found;
	const created = create();
	processMemory.set(name, created);
	return created;
}

/** A map that keeps its newest entries only. */
export class NewestEntries<Value> {
	private readonly entries = new Map<string, Value>();

	constructor(private readonly max: number) {}

	/** The oldest first. */
	get all(): Iterable<[string, Value]> {
		return this.entries;
	}

	get(name: string): Value | undefined {
		return this.entries.get(name);
	}

	set(name: string, value: Value): void {
		this.entries.delete(name);
		this.entries.set(name, value);
		for (const oldest of this.entries.keys()) {
			if (this.entries.size <= this.max) return;
			this.entries.delete(oldest);
		}
	}
}
