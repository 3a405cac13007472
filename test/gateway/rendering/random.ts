import { createHash } from 'node:crypto';

/** Numbers from 0 up to 1 that look random and are the same for the same text. */
export type Random = () => number;

export function randomFrom(text: string): Random {
	let block = createHash('sha256').update(text).digest();
	let offset = 0;
	return () => {
		if (offset === block.length) {
			block = createHash('sha256').update(block).digest();
			offset = 0;
		}
		const number = block.readUInt32BE(offset) / 2 ** 32;
		offset += 4;
		return number;
	};
}
