/** The median, and how far the rounds lie apart. */
export function spread(values: number[], unit: string, digits = 0): string {
	const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map(
		(value) => value.toFixed(digits),
	);
	return `${middle} ${unit} (${least} to ${most})`;
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)];
}

/** The least value that this share of all, in percent, does not exceed. */
export function percentile(values: number[], share: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.max(0, Math.ceil((sorted.length * share) / 100) - 1)];
}
