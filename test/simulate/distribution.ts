/** Many values, and how they lie. */
export class Distribution {
	private readonly values: Float64Array;
	private count = 0;
	private isSorted = false;

	constructor(capacity: number) {
		this.values = new Float64Array(capacity);
	}

	add(value: number): void {
		this.values[this.count++] = value;
		this.isSorted = false;
	}

	get mean(): number {
		return this.known.reduce((sum, value) => sum + value, 0) / this.count;
	}

	get max(): number {
		return this.percentile(100);
	}

	/** The least value that this share of all, in percent, does not exceed. */
	percentile(share: number): number {
		if (!this.isSorted) this.known.sort();
		this.isSorted = true;
		return this.values[Math.max(0, Math.ceil((this.count * share) / 100) - 1)];
	}

	private get known(): Float64Array {
		return this.values.subarray(0, this.count);
	}
}
