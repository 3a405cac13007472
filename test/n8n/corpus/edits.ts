import { crc32 } from 'node:zlib';
import { withSegment } from '../../support/files/jpegs';

// Changes to real files, for what no tool writes.

export const cutAtHalf = (file: Buffer): Buffer => file.subarray(0, file.length / 2);

/** A PNG with a long text in front of its pixels. */
export function withChunk(png: Buffer, length: number): Buffer {
	const content = Buffer.from(`tEXtComment\0${'x'.repeat(length)}`);
	const numbers = Buffer.alloc(8);
	numbers.writeUInt32BE(content.length - 4);
	numbers.writeUInt32BE(crc32(content), 4);
	const chunk = [numbers.subarray(0, 4), content, numbers.subarray(4)];
	// After the signature and the header.
	return Buffer.concat([png.subarray(0, 33), ...chunk, png.subarray(33)]);
}

/** A JPEG with segments that hold nothing. */
export function withEmptySegments(jpeg: Buffer, count: number): Buffer {
	const segments = Buffer.alloc(4 * count, Buffer.from([0xff, 0xe1, 0, 2]));
	return Buffer.concat([jpeg.subarray(0, 2), segments, jpeg.subarray(2)]);
}

/** An entry of a TIFF directory, in little-endian order. */
function entry(tag: number, type: number, count: number, value: number): Buffer {
	const bytes = Buffer.alloc(12);
	bytes.writeUInt16LE(tag);
	bytes.writeUInt16LE(type, 2);
	bytes.writeUInt32LE(count, 4);
	bytes.writeUInt32LE(value, 8);
	return bytes;
}

/** A TIFF directory behind its header. @param next offset of the next directory */
function directory(entries: Buffer[], next = 0): Buffer {
	const [count, end] = [Buffer.alloc(2), Buffer.alloc(4)];
	count.writeUInt16LE(entries.length);
	end.writeUInt32LE(next);
	return Buffer.concat([count, ...entries, end]);
}

const tiffHeader = Buffer.from('II*\0\b\0\0\0', 'latin1');

/** A JPEG whose EXIF data has a thumbnail, which is a JPEG too. */
export function withThumbnail(jpeg: Buffer): Buffer {
	const main = directory([entry(0x0112, 3, 1, 1)], 8 + 18);
	const [thumbnailAt, long] = [8 + 18 + 30, 4];
	const second = directory([
		entry(0x0201, long, 1, thumbnailAt),
		entry(0x0202, long, 1, jpeg.length),
	]);
	const exif = [Buffer.from('Exif\0\0', 'latin1'), tiffHeader, main, second, jpeg];
	return withSegment(jpeg, 0xe1, Buffer.concat(exif));
}

/** A JPEG with an index of its pictures (CIPA DC-007), and the other pictures behind it. */
export function withPictureIndex(jpeg: Buffer, ...others: Buffer[]): Buffer {
	const count = 1 + others.length;
	const index = directory([
		entry(0xb000, 7, 4, 0x30303130),
		entry(0xb001, 4, 1, count),
		entry(0xb002, 7, 16 * count, 8 + 42),
	]);
	const pictures = Buffer.alloc(16 * count);
	const head = [Buffer.from('MPF\0', 'latin1'), tiffHeader, index, pictures];
	const firstLength = jpeg.length + 4 + Buffer.concat(head).length;
	pictures.writeUInt32LE(0x030000, 0);
	pictures.writeUInt32LE(firstLength, 4);
	// Offsets count from the TIFF header: after both start markers, the length and the name.
	let offset = firstLength - 10;
	others.forEach((other, position) => {
		pictures.writeUInt32LE(other.length, 16 * (position + 1) + 4);
		pictures.writeUInt32LE(offset, 16 * (position + 1) + 8);
		offset += other.length;
	});
	return Buffer.concat([withSegment(jpeg, 0xe2, Buffer.concat(head)), ...others]);
}

/** A phone's JPEG with a clip behind it. */
export function motionPhoto(jpeg: Buffer, clip: Buffer): Buffer {
	const description = `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MicroVideo="1" GCamera:MicroVideoOffset="${clip.length}"/></rdf:RDF></x:xmpmeta>`;
	return Buffer.concat([withSegment(jpeg, 0xe1, Buffer.from(description)), clip]);
}

/** The file with another first brand; the old one is added to the list of compatible brands. */
export function withBrand(file: Buffer, brand: string): Buffer {
	const changed = Buffer.concat([
		file.subarray(0, 8),
		Buffer.from(brand),
		file.subarray(12, 16),
		file.subarray(16),
	]);
	if (!file.subarray(16, file.readUInt32BE(0)).includes(file.subarray(8, 12))) {
		throw new Error(`The file does not list its first brand ${file.toString('latin1', 8, 12)}`);
	}
	return changed;
}

/** What comes before the first box of a type at the top level of an mp4. */
export function untilBox(file: Buffer, type: string): Buffer {
	let offset = 0;
	while (file.toString('latin1', offset + 4, offset + 8) !== type) {
		offset += file.readUInt32BE(offset);
	}
	return file.subarray(0, offset);
}
