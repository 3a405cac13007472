/** In pixels. */
export interface ImageSize {
	width: number;
	height: number;
}

/** The size in the header of a PNG, GIF, WebP or JPEG. */
export function imageSizeOf(head: Buffer): ImageSize | undefined {
	const text = head.toString('latin1');
	if (text.startsWith('\x89PNG') && head.length >= 24) {
		return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
	}
	if (text.startsWith('GIF8') && head.length >= 10) {
		return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
	}
	if (text.startsWith('RIFF') && head.length >= 30) return webpSize(head, text.slice(12, 16));
	return text.startsWith('\xff\xd8') ? jpegSize(head) : undefined;
}

/** By the kind of the first chunk (RFC 9649, 2.5 to 2.7). */
function webpSize(head: Buffer, chunk: string): ImageSize | undefined {
	switch (chunk) {
		case 'VP8X':
			return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
		case 'VP8 ':
			return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
		case 'VP8L': {
			const bits = head.readUInt32LE(21);
			return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
		}
		default:
			return undefined;
	}
}

/** By the frame header (ITU-T T.81, B.2.2), which comes after other segments. */
function jpegSize(head: Buffer): ImageSize | undefined {
	let at = 2;
	while (at + 9 <= head.length && head[at] === 0xff) {
		const marker = head[at + 1];
		const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
		if (isFrame) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
		at += marker === 0xff ? 1 : 2 + head.readUInt16BE(at + 2);
	}
	return undefined;
}
