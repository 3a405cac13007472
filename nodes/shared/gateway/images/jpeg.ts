const startOfImage = 0xd8;
const endOfImage = 0xd9;
const startOfScan = 0xda;
const app2 = 0xe2;
/** The beginning of the index of a file with several images (CIPA DC-007). */
const indexName = 'MPF\0';

/**
 * The first image of a JPEG file. Phones and cameras put more into one file: a gain map (Ultra HDR), a depth map or a
 * preview after the image, with an index of them before it, or a clip (motion photo). The service refuses several
 * frames under a JPEG's name ("Error codes seen", invalid_image_file). Only the markers of the image are parsed; what
 * lies between them is kept byte for byte.
 * @returns the same buffer when there is only one image; undefined when the markers cannot be parsed
 */
export function firstImage(file: Buffer): Buffer | undefined {
	if (file[0] !== 0xff || file[1] !== startOfImage) return undefined;
	const kept = [file.subarray(0, 2)];
	let hasIndex = false;
	let hasScan = false;
	let offset = 2;
	for (let marker = startOfImage; marker !== endOfImage;) {
		const segment = segmentAt(file, offset);
		if (segment === undefined) return undefined;
		({ marker } = segment);
		hasScan ||= marker === startOfScan;
		if (segment.isIndex) hasIndex = true;
		else kept.push(file.subarray(offset, segment.end));
		offset = segment.end;
	}
	if (!hasScan) return undefined;
	return hasIndex || isMedia(file.subarray(offset)) ? Buffer.concat(kept) : file;
}

interface Segment {
	marker: number;
	isIndex: boolean;
	/** Where the next one begins; the data of a scan belong to its segment. */
	end: number;
}

function segmentAt(file: Buffer, start: number): Segment | undefined {
	let offset = start;
	// A marker is any number of 0xff, and its code.
	while (file[offset] === 0xff) offset++;
	const marker = file[offset++];
	if (offset < start + 2 || offset > file.length) return undefined;
	if (marker === endOfImage) return { marker, isIndex: false, end: offset };
	// All others that occur between segments have a length, which counts its own two bytes.
	if (marker < 0xc0 || (marker >= 0xd0 && marker <= startOfImage)) return undefined;
	if (offset + 2 > file.length) return undefined;
	const length = file.readUInt16BE(offset);
	const end = offset + length;
	if (length < 2 || end > file.length) return undefined;
	const name = file.toString('latin1', offset + 2, Math.min(end, offset + 2 + indexName.length));
	return {
		marker,
		isIndex: marker === app2 && name === indexName,
		end: marker === startOfScan ? endOfScan(file, end) : end,
	};
}

/** Where the data of a scan end: in the data, only a zero, a restart marker or another 0xff follows a 0xff. */
function endOfScan(file: Buffer, start: number): number {
	let offset = file.indexOf(0xff, start);
	while (offset !== -1) {
		const next = file[offset + 1];
		const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
		if (!isData) return offset;
		offset = file.indexOf(0xff, offset + 1);
	}
	return file.length;
}

/** Whether the bytes after an image contain another image or a clip; some cameras put their own notes there. */
const isMedia = (rest: Buffer) =>
	rest.includes('\xff\xd8\xff', 0, 'latin1') || rest.includes('ftyp', 0, 'latin1');
