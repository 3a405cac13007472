import { createHash } from 'node:crypto';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Pseudorandom numbers from 0 up to 1, the same for the same text. */
export type Random = () => number;

export function randomFrom(text: string): Random {
	const generator = xoroshiro128plus(createHash('sha256').update(text).digest().readInt32BE());
	return () => (generator.next() >>> 0) / 2 ** 32;
}
