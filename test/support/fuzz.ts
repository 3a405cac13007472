const { FUZZ_SEED: seed = '20260101', FUZZ_FACTOR: factor = '1' } = process.env;

/**
 * How often a property is tried: the same cases each time, unless FUZZ_SEED gives other ones, and FUZZ_FACTOR
 * times as many. What fails is printed with its seed, and not made smaller: that could take hours.
 */
export function tries(numRuns: number) {
	const total = Math.ceil(numRuns * Number(factor));
	return { seed: Number(seed), numRuns: total, endOnFailure: true };
}
