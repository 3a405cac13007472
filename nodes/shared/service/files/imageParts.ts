import { FileEnd, type FileState, type Parsing } from './fileEnd';
import { fileTypeOf, type FileType } from './fileType';
import { JpegEnd } from './jpeg';
import { BoxesEnd } from './mp4';

class PngEnd extends FileEnd {
	/** Each chunk is its length, its name, its data and their checksum. */
	protected override *parse(): Parsing {
		this.state = 'cut';
		yield* this.skip(8);
		for (let name = ''; name !== 'IEND';) {
			const header = yield* this.read(8);
			name = header.toString('latin1', 4);
			yield* this.skip(header.readUInt32BE() + 4);
		}
		this.state = 'whole';
	}
}

class WebpEnd extends FileEnd {
	/** Its length is in its header. */
	protected override *parse(): Parsing {
		this.state = 'cut';
		const header = yield* this.read(8);
		yield* this.skip(header.readUInt32LE(4));
		this.state = 'whole';
	}
}

/** The reader that can tell whether a file of this type is cut. */
const ends: Partial<Record<string, typeof FileEnd>> = {
	'image/png': PngEnd,
	'image/jpeg': JpegEnd,
	'image/webp': WebpEnd,
	'image/avif': BoxesEnd,
	'image/heic': BoxesEnd,
	'audio/mp4': BoxesEnd,
	'video/mp4': BoxesEnd,
	'video/quicktime': BoxesEnd,
};

/** Follows a file of this type, whose first bytes are still to be pushed. */
export const followFile = (type?: FileType): FileEnd =>
	new (ends[type?.mimeType ?? ''] ?? FileEnd)();

/** The knowledge about the end of a file. */
export function stateOf(bytes: Uint8Array): FileState {
	const end = followFile(fileTypeOf(bytes));
	end.push(bytes);
	return end.state;
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
