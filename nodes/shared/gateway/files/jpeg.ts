const startOfImage = 0xd8;
const endOfImage = 0xd9;
const startOfScan = 0xda;
const app2 = 0xe2;
/** The beginning of the index of a file with several images (CIPA DC-007). */
const indexName = 'MPF\0';

/** The number of images that an index lists; it may be that of the only image. */
const numberOfImages = 0xb001;

/** Maximum number of segments that are read: no camera writes as many. */
const maxSegments = 10_000;

/**
 * The first image of a JPEG file. Phones and cameras put more into one file: a gain map (Ultra HDR), a depth map or a
 * preview after the image, with an index of them before it, or a clip (motion photo). The service refuses several
 * frames under a JPEG's name ("Error codes seen", invalid_image_file). Only the markers of the image are parsed; what
 * lies between them is kept byte for byte.
 * @returns the same buffer when there is only one image; undefined when the markers cannot be parsed
 */
export function firstImage(file: Buffer): Buffer | undefined {
	const { segments, end } = read(file);
	if (typeof end !== 'number') return undefined;
	const others = segments.filter(({ isIndex }) => isIndex);
	if (others.length === 0 && !isMedia(file.subarray(end))) return file;
	const kept = segments.filter((segment) => !others.includes(segment));
	return Buffer.concat([
		file.subarray(0, 2),
		...kept.map((segment) => file.subarray(segment.start, segment.end)),
	]);
}

/** Whether a JPEG has the end of its first image; undefined when its markers cannot be parsed. */
export function hasEndOfImage(file: Buffer): boolean | undefined {
	const { end } = read(file);
	return end === 'unknown' ? undefined : end !== 'missing';
}

interface Segment {
	marker: number;
	/** Whether it is the index of several images. */
	isIndex: boolean;
	start: number;
	/** Where the next one begins; the data of a scan belong to its segment. */
	end: number;
}

interface Parsed {
	segments: Segment[];
	/** Where the first image ends; `missing` when the file ends before. */
	end: number | 'missing' | 'unknown';
}

function read(file: Buffer): Parsed {
	const segments: Segment[] = [];
	if (file[0] !== 0xff || file[1] !== startOfImage) return { segments, end: 'unknown' };
	let offset = 2;
	let hasScan = false;
	while (segments.length < maxSegments) {
		const segment = segmentAt(file, offset);
		if (segment === undefined) break;
		if (segment.end > file.length || segment.end === offset) return { segments, end: 'missing' };
		segments.push(segment);
		offset = segment.end;
		hasScan ||= segment.marker === startOfScan;
		if (segment.marker === endOfImage) return { segments, end: hasScan ? offset : 'unknown' };
	}
	return { segments, end: 'unknown' };
}

/** Ends behind the end of the file, or has no length, when the file ends within it. Undefined for other bytes. */
function segmentAt(file: Buffer, start: number): Segment | undefined {
	let offset = start;
	// A marker is any number of 0xff, and its code.
	while (file[offset] === 0xff) offset++;
	const marker = file[offset++];
	const cut = { marker, isIndex: false, start, end: start };
	if (offset > file.length) return cut;
	if (offset < start + 2) return undefined;
	if (marker === endOfImage) return { ...cut, end: offset };
	// All others that occur between segments have a length, which counts its own two bytes.
	if (marker < 0xc0 || (marker >= 0xd0 && marker <= startOfImage)) return undefined;
	if (offset + 2 > file.length) return cut;
	const length = file.readUInt16BE(offset);
	if (length < 2) return undefined;
	const end = offset + length;
	return {
		...{ marker, start },
		isIndex: marker === app2 && listsSeveral(file.subarray(offset + 2, end)),
		end: marker === startOfScan && end < file.length ? endOfScan(file, end) : end,
	};
}

/** Whether a segment is an index that lists several images. */
function listsSeveral(segment: Buffer): boolean {
	if (segment.toString('latin1', 0, indexName.length) !== indexName) return false;
	const tiff = segment.subarray(indexName.length);
	const isLittle = tiff.toString('latin1', 0, 2) === 'II';
	const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length);
	const fits = (offset: number, length: number) => offset + length <= tiff.length;
	const directory = fits(4, 4) ? view.getUint32(4, isLittle) : Infinity;
	const count = fits(directory, 2) ? view.getUint16(directory, isLittle) : 0;
	for (let entry = 0; entry < count && fits(directory + 2 + 12 * entry, 12); entry++) {
		const offset = directory + 2 + 12 * entry;
		if (view.getUint16(offset, isLittle) === numberOfImages) {
			return view.getUint32(offset + 8, isLittle) !== 1;
		}
	}
	return true;
}

/** Where the data of a scan end: in the data, only a zero, a restart marker or another 0xff follows a 0xff. */
function endOfScan(file: Buffer, start: number): number {
	for (let offset = start; offset < file.length - 1; offset++) {
		if (file[offset] !== 0xff) continue;
		const next = file[offset + 1];
		const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
		if (!isData) return offset;
	}
	return file.length;
}

/** Whether the bytes after an image contain another image or a clip; some cameras put their own notes there. */
const isMedia = (rest: Buffer) =>
	rest.includes('\xff\xd8\xff', 0, 'latin1') || rest.includes('ftyp', 0, 'latin1');
