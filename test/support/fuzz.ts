import fc from 'fast-check';

const { FUZZ_SEED: seed = '20260101', FUZZ_FACTOR: factor = '0.2' } = process.env;

// The same cases each time, unless FUZZ_SEED gives other ones: no commit fails for what another one brought.
fc.configureGlobal({ seed: Number(seed) });

export { fc };

/**
 * How often a costly property is tried: FUZZ_FACTOR times as many; `npm test` makes a fifth. What fails is printed with its seed, and not made smaller: that could take hours.
 */
export function tries(numRuns: number) {
	return { numRuns: Math.ceil(numRuns * Number(factor)), endOnFailure: true };
}
