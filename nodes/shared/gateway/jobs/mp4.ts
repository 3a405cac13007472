/** Boxes that may occur at the top level of an mp4 or QuickTime file (ISO/IEC 14496-12, 6.2.3). */
const topBoxes = new Set(
	'ftyp styp moov moof mdat mfra free skip wide pnot udta uuid meta meco pdin sidx ssix prft emsg'.split(
		' ',
	),
);

/**
 * Follows the top-level boxes of an mp4 while its bytes are streamed, without keeping them. A file that ends in
 * the middle of a box is truncated, whatever length its storage host announced.
 */
export class Mp4Boxes {
	private header = new Uint8Array(16);
	private headerLength = 0;
	/** Bytes of the current box still to come; undefined while a header is being read. */
	private remaining?: number;
	private readonly seenTypes = new Set<string>();
	private isUnknown = false;

	/** False as soon as the first bytes cannot be an mp4's; undefined until they have arrived. */
	get isMp4(): boolean | undefined {
		return this.seenTypes.size > 0 ? true : this.isUnknown ? false : undefined;
	}

	/** Whether the last box ends with the last byte, and the index of the tracks (`moov`) is there. */
	get isComplete(): boolean {
		const isAtEnd =
			this.remaining === Infinity || (this.remaining === undefined && this.headerLength === 0);
		return isAtEnd && !this.isUnknown && this.seenTypes.has('moov');
	}

	/** Whether the last box lacks bytes. Unknown boxes prove nothing, nor do stray bytes after a playable file. */
	get isTruncated(): boolean {
		const isWithinBox = (this.headerLength > 0 && !this.hasEverything) || (this.remaining ?? 0) > 0;
		return !this.isUnknown && isWithinBox && this.remaining !== Infinity;
	}

	/** Whether the index and the media data are there; never true of a fragmented file, whose end is not known. */
	private get hasEverything(): boolean {
		return this.seenTypes.has('moov') && this.seenTypes.has('mdat') && !this.seenTypes.has('moof');
	}

	push(bytes: Uint8Array): void {
		let offset = 0;
		while (offset < bytes.length && !this.isUnknown) {
			if (this.remaining !== undefined) {
				const skipped = Math.min(this.remaining, bytes.length - offset);
				offset += skipped;
				this.remaining -= skipped;
				if (this.remaining === 0) this.remaining = undefined;
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
			this.isUnknown = true;
			return;
		}
		if (shortSize === 1 && this.headerLength < 16) return;
		this.seenTypes.add(type);
		// Size 1: the size follows as 64 bits. Size 0: the box extends to the end of the file.
		const size = shortSize === 1 ? Number(view.getBigUint64(8)) : shortSize;
		this.remaining =
			shortSize === 0 ? Infinity : Math.max(0, size - this.headerLength) || undefined;
		this.headerLength = 0;
	}
}
