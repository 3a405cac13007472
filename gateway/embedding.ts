const gramLengths = [3, 4];

/**
 * The embedding of a text, a unit vector. Each of its short runs of letters adds to one dimension, which its hash
 * chooses. So texts that share many of them are near each other.
 */
export function embed(text: string, dimensions: number): Float32Array {
	const letters = [...` ${text.toLowerCase().replace(/\s+/g, ' ').trim()} `];
	const vector = new Float32Array(dimensions);
	for (const length of gramLengths) {
		for (let start = 0; start + length <= letters.length; start++) {
			const hash = hashOf(letters.slice(start, start + length).join(''));
			// The sign keeps texts that have nothing in common nearly orthogonal.
			vector[(hash >>> 1) % dimensions] += hash & 1 ? 1 : -1;
		}
	}
	// The length is never 0: the number of steps is odd, so they cannot all cancel out.
	const length = Math.hypot(...vector);
	return vector.map((value) => value / length);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
	return hash >>> 0;
}
