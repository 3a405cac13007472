const startOfImage = 0xd8;
const endOfImage = 0xd9;
const startOfScan = 0xda;
const app2 = 0xe2;
/** The beginning of the index of a file with several images (CIPA DC-007). */
const indexName = 'MPF\0';

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
	const segments: Segment[] = [];
	const markers = new JpegMarkers((segment) => segments.push(segment));
	markers.push(file);
	if (typeof markers.end !== 'number') return undefined;
	const isIndex = ({ marker, dataStart }: Segment) =>
		marker === app2 && file.toString('latin1', dataStart, dataStart + 4) === indexName;
	const kept = segments.filter((segment) => !isIndex(segment));
	const isAlone = kept.length === segments.length && !isMedia(file.subarray(markers.end));
	return isAlone ? file : Buffer.concat(kept.map(({ start, end }) => file.subarray(start, end)));
}

interface Segment {
	marker: number;
	/** Where its marker begins, and the data that follow the marker and their length. */
	start: number;
	dataStart: number;
	/** Where the next one begins; the data of a scan belong to its segment. */
	end: number;
}

/** Follows the markers of a JPEG up to the end of its first image, while its bytes are streamed. */
export class JpegMarkers {
	/** Where the first image ends; `missing` until its end has arrived, `unknown` if the markers cannot be parsed. */
	end: number | 'missing' | 'unknown' = 'missing';
	private next: 'marker' | 'code' | 'length' | 'lengthEnd' | 'data' | 'scan' = 'marker';
	/** Of the next byte. */
	private offset = 0;
	private markerAt = 0;
	private segment?: Omit<Segment, 'end'>;
	private segments = 0;
	private hasScan = false;
	/** Of the data of a segment that are still to come. */
	private length = 0;

	/** Whether the end has arrived; undefined when that cannot be determined. */
	get hasEnd(): boolean | undefined {
		return this.end === 'unknown' ? undefined : this.end !== 'missing';
	}

	constructor(private readonly onSegment: (segment: Segment) => void = () => undefined) {}

	push(bytes: Uint8Array): void {
		for (let at = 0; at < bytes.length && this.end === 'missing';) {
			if (this.next === 'data') {
				const skipped = Math.min(this.length, bytes.length - at);
				at += skipped;
				this.length -= skipped;
				if (this.length === 0) this.next = this.isScan ? 'scan' : 'marker';
			} else if (this.next === 'scan') {
				const found = bytes.indexOf(0xff, at);
				at = found < 0 ? bytes.length : found;
				if (found >= 0) this.next = 'marker';
			} else this.read(bytes[at], this.offset + at++);
		}
		this.offset += bytes.length;
	}

	private get isScan(): boolean {
		return this.segment?.marker === startOfScan;
	}

	private read(byte: number, offset: number): void {
		switch (this.next) {
			case 'marker':
				this.markerAt = offset;
				this.next = 'code';
				if (byte !== 0xff) this.end = 'unknown';
				break;
			case 'code': {
				// A marker is any number of 0xff, and its code. In the data of a scan, 0 and restart markers follow 0xff, too.
				const isData = this.isScan && (byte === 0 || (byte >= 0xd0 && byte <= 0xd7));
				if (isData) this.next = 'scan';
				else if (byte !== 0xff) this.begin(byte, offset);
				break;
			}
			case 'length':
				this.length = byte << 8;
				this.next = 'lengthEnd';
				break;
			case 'lengthEnd':
				// It counts its own two bytes.
				this.length += byte - 2;
				this.next = 'data';
				if (this.length < 0) this.end = 'unknown';
		}
	}

	private begin(marker: number, offset: number): void {
		const { segment: last, markerAt: start } = this;
		if (last) this.onSegment({ ...last, end: start });
		const segment = { marker, start, dataStart: offset + 3 };
		this.segment = segment;
		this.next = last ? 'length' : 'marker';
		this.hasScan ||= marker === startOfScan;
		// All others that occur between segments have a length.
		const isKnown = last
			? marker >= 0xc0 && (marker < 0xd0 || marker > startOfImage)
			: marker === startOfImage;
		if (!isKnown || this.segments++ > maxSegments) this.end = 'unknown';
		else if (marker === endOfImage) {
			this.onSegment({ ...segment, end: offset + 1 });
			this.end = this.hasScan ? offset + 1 : 'unknown';
		}
	}
}

/** Whether the bytes after an image contain another image or a clip; some cameras put their own notes there. */
const isMedia = (rest: Buffer) =>
	rest.includes('\xff\xd8\xff', 0, 'latin1') || rest.includes('ftyp', 0, 'latin1');
