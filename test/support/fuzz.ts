import fc from 'fast-check';
import { isDeep } from './depth';

const { FUZZ_SEED: seed = '20260101', FUZZ_FACTOR: factor = isDeep ? '1' : '0.2' } = process.env;

// The same cases each time, unless FUZZ_SEED gives other ones: no commit fails for what another one brought.
fc.configureGlobal({ seed: Number(seed) });

export { fc };

/**
 * How often a costly property is tried: FUZZ_FACTOR times as many, by default a fifth of them where a sample has to
 * do. What fails is printed with its seed, and not made smaller: that could take hours.
 */
export function tries(numRuns: number) {
	return { numRuns: Math.ceil(numRuns * Number(factor)), endOnFailure: true };
}
