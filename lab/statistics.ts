export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

export function median(values: number[]): number {
	const sorted = ascending(values);
	return sorted[Math.floor(sorted.length / 2)];
}

/** For each of these shares in percent: the smallest value that this share of all values does not exceed. */
function percentiles(values: number[], ...shares: number[]): number[] {
	const sorted = ascending(values);
	return shares.map((share) => sorted[Math.max(0, Math.ceil((sorted.length * share) / 100) - 1)]);
}

/** How late events were. @param values in seconds */
export function lateness(values: number[]): string {
	const [p50, p95] = percentiles(values, 50, 95);
	return `p50 ${p50.toFixed(1)} s, p95 ${p95.toFixed(1)} s`;
}

/** The median, and the range of the rounds. */
export function spread(values: number[], unit: string, digits = 0): string {
	const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map(
		(value) => value.toFixed(digits),
	);
	return values.length > 1 ? `${middle} ${unit} (${least} to ${most})` : `${middle} ${unit}`;
}

// A typed array compares numbers as numbers, and sorts a million of them fast.
const ascending = (values: number[]): Float64Array => Float64Array.from(values).sort();

/**
 * Runs all ways in turn, and reverses their order after each round. So no way always runs after the same other one and
 * meets what that leaves behind.
 * @param warmUps rounds that do not count
 */
export async function inTurns<Name extends string, Result>(
	ways: Record<Name, () => Promise<Result>>,
	{ rounds, warmUps = 0 }: { rounds: number; warmUps?: number },
): Promise<Record<Name, Result[]>> {
	const names = Object.keys(ways) as Name[];
	const results = Object.fromEntries(names.map((name) => [name, [] as Result[]]));
	const order = [...names];
	for (let round = -warmUps; round < rounds; round++) {
		for (const name of order) {
			const result = await ways[name]();
			if (round >= 0) results[name].push(result);
		}
		order.reverse();
	}
	return results as Record<Name, Result[]>;
}
