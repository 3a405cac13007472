import { FileEnd, type Reading } from './fileEnd';

const startOfImage = 0xd8;
const endOfImage = 0xd9;
const startOfScan = 0xda;
const app2 = 0xe2;
/** The beginning of the index of a file with several images (CIPA DC-007). */
const indexName = 'MPF\0';

/** No camera writes as many. */
const maxSegments = 10_000;

interface Segment {
	marker: number;
	/** Offsets of its marker, and of the data behind the marker and their length. */
	start: number;
	dataStart: number;
	/** The start of the next one; the data of a scan belong to its segment. */
	end: number;
}

/** Follows the markers of a JPEG up to the end of its first image (ITU-T T.81, B.1.1). */
export function* jpeg(file: FileEnd, segments: Segment[] = []): Reading {
	let hasScan = false;
	file.state = 'cut';
	for (let last: Segment | undefined; segments.length < maxSegments;) {
		const { marker, start } = yield* nextMarker(file, last?.marker === startOfScan);
		if (last) last.end = start;
		const isKnown = last
			? marker >= 0xc0 && (marker < 0xd0 || marker > startOfImage)
			: marker === startOfImage;
		if (!isKnown) break;
		last = { marker, start, dataStart: file.offset + 2, end: file.offset };
		segments.push(last);
		hasScan ||= marker === startOfScan;
		if (marker === endOfImage) {
			file.state = hasScan ? 'whole' : 'unknown';
			return;
		}
		if (marker === startOfImage) continue;
		// All other segments have a length, which counts its own two bytes.
		const length = (yield { read: 2 }).readUInt16BE();
		if (length < 2) break;
		yield { skip: length - 2 };
	}
	file.state = 'unknown';
}

/** In the data of a scan, 0 and restart markers follow 0xff, too. Of a run of 0xff, the last one counts. */
const isData = (marker: number) =>
	marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7);

function scanEnd(piece: Buffer, start: number): number {
	let at = piece.indexOf(0xff, start);
	while (at >= 0 && isData(piece[at + 1])) at = piece.indexOf(0xff, at + 1);
	return at;
}

function fillEnd(piece: Buffer, start: number): number {
	let at = start;
	while (piece[at] === 0xff) at++;
	return at < piece.length ? at : -1;
}

/** A marker is any number of 0xff, and its code. */
function* nextMarker(file: FileEnd, isInScan: boolean): Reading<Pick<Segment, 'marker' | 'start'>> {
	for (;;) {
		if (isInScan) yield { skipTo: scanEnd };
		const start = file.offset;
		const [first] = yield { read: 1 };
		if (first !== 0xff) return { marker: 0, start };
		yield { skipTo: fillEnd };
		const [marker] = yield { read: 1 };
		if (!isInScan || !isData(marker)) return { marker, start };
	}
}

/**
 * The first image of a JPEG file, byte for byte. Phones and cameras add a gain map (Ultra HDR), a depth map, a preview
 * or a clip (motion photo), and an index. The service refuses several frames under a JPEG's name ("Error codes seen",
 * invalid_image_file).
 * @returns the same buffer when there is only one image; undefined when the markers cannot be parsed
 */
export function firstImage(file: Buffer): Buffer | undefined {
	const segments: Segment[] = [];
	const end = new FileEnd((followed) => jpeg(followed, segments));
	end.push(file);
	if (end.state !== 'whole') return undefined;
	const isIndex = ({ marker, dataStart }: Segment) =>
		marker === app2 && file.toString('latin1', dataStart, dataStart + 4) === indexName;
	const kept = segments.filter((segment) => !isIndex(segment));
	const isAlone = kept.length === segments.length && !isMedia(file.subarray(segments.at(-1)?.end));
	return isAlone ? file : Buffer.concat(kept.map(({ start, end }) => file.subarray(start, end)));
}

/** Whether there is another image or a clip: some cameras put their own notes behind an image. */
const isMedia = (rest: Buffer) =>
	rest.includes('\xff\xd8\xff', 0, 'latin1') || rest.includes('ftyp', 0, 'latin1');
