import { fileTypeOf } from './fileType';
import { JpegMarkers } from './jpeg';
import { Mp4Boxes } from './mp4';

/** Follows an image while its bytes are streamed, without keeping them. */
interface Follower {
	push(bytes: Uint8Array): void;
	/** Whether its end marker or its full length has arrived; undefined when that cannot be determined for certain. */
	readonly hasEnd: boolean | undefined;
}

/** A follower for an image of this type, whose first bytes are still to be pushed. */
export function followImage(mimeType: string): Follower {
	switch (mimeType) {
		case 'image/png':
			return new PngEnd();
		case 'image/jpeg':
			return new JpegMarkers();
		case 'image/webp':
			return new WebpLength();
		case 'image/avif':
		case 'image/heic':
			return new ImageBoxes();
		default:
			return { push: () => undefined, hasEnd: undefined };
	}
}

/** The last chunk of a PNG, with its checksum. */
const pngEnd = 'IEND\xaeB`\x82';

class PngEnd implements Follower {
	hasEnd = false;
	/** The last bytes, in which the end may begin. */
	private last = Buffer.alloc(0);

	push(bytes: Uint8Array): void {
		const file = Buffer.concat([this.last, bytes]);
		this.hasEnd ||= file.includes(pngEnd, 0, 'latin1');
		this.last = file.subarray(-pngEnd.length);
	}
}

/** The length that a WebP has in its header. */
class WebpLength implements Follower {
	private header = Buffer.alloc(0);
	private received = 0;

	push(bytes: Uint8Array): void {
		this.received += bytes.length;
		this.header = Buffer.concat([this.header, bytes.subarray(0, 8 - this.header.length)]);
	}

	get hasEnd(): boolean {
		return this.header.length === 8 && this.received >= 8 + this.header.readUInt32LE(4);
	}
}

/** The boxes of an AVIF or HEIC image. */
class ImageBoxes extends Mp4Boxes implements Follower {
	get hasEnd(): false | undefined {
		return this.isTruncated ? false : undefined;
	}
}

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
