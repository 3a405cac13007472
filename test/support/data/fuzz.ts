import fc from 'fast-check';

const { FUZZ_SEED: seed = '20260101', FUZZ_FACTOR: factor = '0.2' } = process.env;

// The cases are the same in each run, unless FUZZ_SEED changes them. So a commit fails for its own bugs only.
fc.configureGlobal({ seed: Number(seed) });

export { fc };

/**
 * How often a costly property is tried: `numRuns` times FUZZ_FACTOR, which is a fifth in `npm test`. A failure is
 * printed with its seed, but not shrunk, because that could take hours.
 */
export function tries(numRuns: number) {
	return { numRuns: Math.ceil(numRuns * Number(factor)), endOnFailure: true };
}
