/** Lets at most so many pieces of work run at a time; the others wait for their turn, in order. */
export class Slots {
	private readonly waiting: Array<() => void> = [];

	constructor(private free: number) {}

	async run<T>(work: () => Promise<T>): Promise<T> {
		if (this.free > 0) this.free--;
		else await new Promise<void>((resolve) => this.waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.waiting.shift();
			if (next) next();
			else this.free++;
		}
	}
}
