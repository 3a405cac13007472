import { fileTypeOf } from './fileType';
import { followImage } from './imageEnd';

/** Whether an image has its end marker or full length; undefined when neither can be determined for certain. */
export function hasEnd(bytes: Uint8Array): boolean | undefined {
	const image = followImage(fileTypeOf(bytes)?.mimeType ?? '');
	image.push(bytes);
	return image.hasEnd;
}

/**
 * Whether an image has several frames, as far as its bytes show it. The service refuses such a file under a JPEG's
 * name as `invalid_image_file` ("Error codes seen").
 */
export function hasSeveralFrames(bytes: Uint8Array): boolean {
	const type = fileTypeOf(bytes);
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (type?.mimeType) {
		case 'image/gif':
			return hasTwoGifFrames(file);
		case 'image/jpeg':
			// The index of a multi-picture file (CIPA DC-007), in one of the first segments.
			return file.subarray(0, 128 * 1024).includes('MPF\0', 0, 'latin1');
		default:
			return type?.isAnimated ?? false;
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
