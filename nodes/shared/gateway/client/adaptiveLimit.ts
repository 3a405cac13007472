/**
 * Lets at most so many pieces of work run at a time; the others wait for their turn, in order. When the
 * other side has too much of it, the number halves, and grows again with what succeeds.
 */
export class AdaptiveLimit {
	private open: number;
	private running = 0;
	/** Counts the halvings, so that many refusals of one crowd are taken for one. */
	private epoch = 0;
	private readonly waiting: Array<() => void> = [];

	constructor(private readonly max: number) {
		this.open = max;
	}

	/** @param isTooMuch whether what came back says that the other side has too much to do */
	async run<T>(
		work: () => Promise<T>,
		isTooMuch: (result: T) => boolean = () => false,
	): Promise<T> {
		if (this.running < Math.floor(this.open)) this.running++;
		else await new Promise<void>((resolve) => this.waiting.push(resolve));
		const { epoch: crowd } = this;
		try {
			const result = await work();
			if (!isTooMuch(result)) this.grow();
			else if (crowd === this.epoch) this.shrink();
			return result;
		} finally {
			this.running--;
			this.admit();
		}
	}

	private shrink(): void {
		this.epoch++;
		this.open = Math.max(1, Math.floor(this.open / 2));
	}

	/** One more for each round of successes. */
	private grow(): void {
		if (this.open < this.max) this.open = Math.min(this.max, this.open + 1 / this.open);
	}

	private admit(): void {
		while (this.waiting.length > 0 && this.running < Math.floor(this.open)) {
			this.running++;
			this.waiting.shift()?.();
		}
	}
}
