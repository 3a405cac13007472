/**
 * Limits how many tasks run at a time; the others wait, first in, first out. The limit halves when the server is
 * overloaded, and grows back as tasks succeed.
 */
export class AdaptiveLimit {
	private limit: number;
	private running = 0;
	private readonly waiting: Array<() => void> = [];

	constructor(private readonly max: number) {
		this.limit = max;
	}

	async forEach<T>(entries: readonly T[], work: (entry: T) => Promise<void>): Promise<void> {
		let next = 0;
		const worker = async () => {
			while (next < entries.length) await work(entries[next++]);
		};
		await Promise.all(Array.from({ length: Math.min(this.max, entries.length) }, worker));
	}

	async run<T>(
		work: () => Promise<T>,
		isOverload: (result: T) => boolean = () => false,
	): Promise<T> {
		if (this.running < Math.floor(this.limit)) this.running++;
		else await new Promise<void>((resolve) => this.waiting.push(resolve));
		const { limit: limitAtStart } = this;
		try {
			const result = await work();
			// About one more for each full round of successes.
			if (!isOverload(result)) this.limit = Math.min(this.max, this.limit + 1 / this.limit);
			// Several tasks that started under the same limit halve it only once.
			else if (this.limit >= limitAtStart) this.limit = Math.max(1, Math.floor(this.limit / 2));
			return result;
		} finally {
			this.running--;
			while (this.waiting.length > 0 && this.running < Math.floor(this.limit)) {
				this.running++;
				this.waiting.shift()?.();
			}
		}
	}
}
