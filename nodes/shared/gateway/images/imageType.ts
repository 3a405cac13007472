export interface ImageType {
	mimeType: string;
	extension: string;
}

/** The first bytes of each image format, read as Latin-1. */
const signatures: Array<[signature: RegExp, extension: string, mimeType?: string]> = [
	[/^\x89PNG\r\n/, 'png'],
	[/^\xff\xd8\xff/, 'jpg', 'image/jpeg'],
	[/^GIF8[79]a/, 'gif'],
	[/^RIFF....WEBP/s, 'webp'],
	[/^....ftypavi[fs]/s, 'avif'],
	[/^....ftyp(he[iv]|m[is]f1)/s, 'heic'],
	[/^(II\*\0|MM\0\*)/, 'tiff'],
	[/^BM....\0\0\0\0/s, 'bmp'],
	[/^\s*<(\?xml[^]*<)?svg/, 'svg', 'image/svg+xml'],
];

/**
 * The type of an image by its first bytes; undefined when it is not an image.
 * @param declaredType its MIME type as declared, used when the format is unknown and the bytes are not text
 */
export function imageType(bytes: Uint8Array, declaredType = ''): ImageType | undefined {
	const head = Buffer.from(bytes.subarray(0, 500)).toString('latin1');
	const isText = !/[\0-\x08]/.test(head);
	const match = signatures.find(([signature]) => signature.test(head));
	const [, extension, mimeType = `image/${extension}`] =
		match ?? (isText ? undefined : /^image\/([\w.+-]{1,60})(?![\w.+-])/i.exec(declaredType)) ?? [];
	return extension === undefined ? undefined : { mimeType, extension };
}

/** Whether an image has its end marker or full length; undefined when neither can be determined for certain. */
export function hasEnd(bytes: Uint8Array): boolean | undefined {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (imageType(bytes)?.extension) {
		case 'png': {
			// The name of the last chunk, followed by a checksum of four bytes.
			const offset = file.lastIndexOf('IEND');
			return offset >= 0 && offset + 8 <= file.length;
		}
		case 'jpg': {
			// An embedded thumbnail has the same end marker, so one before the last bytes proves nothing.
			const offset = file.lastIndexOf('\xff\xd9', undefined, 'latin1');
			return offset === file.length - 2 || (offset < 0 ? false : undefined);
		}
		case 'webp':
			return file.length >= 8 + file.readUInt32LE(4);
		default:
			return undefined;
	}
}

/**
 * Whether an image has several frames, as far as its bytes show it. The service refuses such a file under a JPEG's
 * name as `invalid_image_file` ("Error codes seen").
 */
export function hasSeveralFrames(bytes: Uint8Array): boolean {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (imageType(bytes)?.extension) {
		case 'gif':
			return hasTwoGifFrames(file);
		case 'png':
			// A chunk is a length, a name, data and a checksum; acTL, the animation's, precedes the image data.
			for (let offset = 8; offset + 8 <= file.length; offset += 12 + file.readUInt32BE(offset)) {
				const name = file.toString('latin1', offset + 4, offset + 8);
				if (name === 'acTL' || name === 'IDAT') return name === 'acTL';
			}
			return false;
		case 'webp':
			// The animation flag of the extended format.
			return file.toString('latin1', 12, 16) === 'VP8X' && (file[20] & 0x02) !== 0;
		case 'jpg':
			// The index of a multi-picture file (CIPA DC-007), in one of the first segments.
			return file.subarray(0, 128 * 1024).includes('MPF\0', 0, 'latin1');
		default:
			return false;
	}
}

/** Walks the blocks of a GIF up to its second frame. */
function hasTwoGifFrames(file: Buffer): boolean {
	const colourTableSize = (flags: number) => (flags & 0x80 ? 6 << (flags & 7) : 0);
	let offset = 13 + colourTableSize(file[10]);
	for (let frames = 0; ; offset++) {
		if (file[offset] === 0x21) offset += 2;
		else if (file[offset] !== 0x2c) return false;
		else if (++frames === 2) return true;
		else offset += 11 + colourTableSize(file[offset + 9]);
		while (file[offset] > 0) offset += file[offset] + 1;
	}
}
