/** Boxes that may stand at the top of an mp4 or QuickTime file (ISO/IEC 14496-12, 6.2.3). */
const topBoxes = new Set(
	'ftyp styp moov moof mdat mfra free skip wide pnot udta uuid meta meco pdin sidx ssix prft emsg'.split(
		' ',
	),
);

/**
 * Follows the top-level boxes of an mp4 as its bytes pass by, without keeping them: a file that ends in
 * the middle of a box was cut, whatever length its storage announced.
 */
export class Mp4Boxes {
	private header = new Uint8Array(16);
	private headerLength = 0;
	/** Bytes of the current box that are still to come; undefined: a header is being read. */
	private left?: number;
	private readonly seen = new Set<string>();
	private strange = false;

	/** False as soon as the first bytes cannot be those of an mp4; undefined before they are there. */
	get isMp4(): boolean | undefined {
		return this.seen.size > 0 ? true : this.strange ? false : undefined;
	}

	/** The last box ends with the last byte, and there is a picture track to play. */
	get isWhole(): boolean {
		const isAtEnd = this.left === Infinity || (this.left === undefined && this.headerLength === 0);
		return isAtEnd && !this.strange && this.seen.has('moov');
	}

	/** The last box lacks bytes. Unknown boxes prove nothing, nor do stray bytes after all that is played. */
	get isCut(): boolean {
		const isWithinBox = (this.headerLength > 0 && !this.hasAll) || (this.left ?? 0) > 0;
		return !this.strange && isWithinBox && this.left !== Infinity;
	}

	/** Tracks and their pictures; of a file in fragments nobody knows how many are to come. */
	private get hasAll(): boolean {
		return this.seen.has('moov') && this.seen.has('mdat') && !this.seen.has('moof');
	}

	push(bytes: Uint8Array): void {
		let offset = 0;
		while (offset < bytes.length && !this.strange) {
			if (this.left !== undefined) {
				const skipped = Math.min(this.left, bytes.length - offset);
				offset += skipped;
				this.left -= skipped;
				if (this.left === 0) this.left = undefined;
				continue;
			}
			this.header[this.headerLength++] = bytes[offset++];
			this.readHeader();
		}
	}

	private readHeader(): void {
		if (this.headerLength < 8) return;
		const view = new DataView(this.header.buffer);
		const type = String.fromCharCode(...this.header.subarray(4, 8));
		const shortSize = view.getUint32(0);
		if (!topBoxes.has(type) || (shortSize > 1 && shortSize < 8)) {
			this.strange = true;
			return;
		}
		if (shortSize === 1 && this.headerLength < 16) return;
		this.seen.add(type);
		// Size 1: the size follows as 64 bits. Size 0: the box goes on to the end of the file.
		const size = shortSize === 1 ? Number(view.getBigUint64(8)) : shortSize;
		this.left = shortSize === 0 ? Infinity : Math.max(0, size - this.headerLength) || undefined;
		this.headerLength = 0;
	}
}
