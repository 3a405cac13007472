/** The name of a box as the number that its four bytes are: a file of tiny boxes has very many names to compare. */
const numberOf = (name: string) => Buffer.from(name, 'latin1').readUInt32BE();

/** Boxes that may occur at the top level of an mp4 or QuickTime file (ISO/IEC 14496-12, 6.2.3). */
const topBoxes = new Set(
	'ftyp styp moov moof mdat mfra free skip wide pnot udta uuid meta meco pdin sidx ssix prft emsg'
		.split(' ')
		.map(numberOf),
);
const [moov, moof, mdat] = ['moov', 'moof', 'mdat'].map(numberOf);

/**
 * Follows the top-level boxes of an mp4 while its bytes are streamed, without keeping them. A file that ends in
 * the middle of a box is truncated, whatever length its storage host announced.
 */
export class Mp4Boxes {
	private readonly header = new DataView(new ArrayBuffer(16));
	private headerLength = 0;
	/** Bytes of the current box still to come; undefined while a header is being read. */
	private remaining?: number;
	private readonly seenTypes = new Set<number>();
	private isUnknown = false;

	/** False as soon as the first bytes cannot be an mp4's; undefined until they have arrived. */
	get isMp4(): boolean | undefined {
		return this.seenTypes.size > 0 ? true : this.isUnknown ? false : undefined;
	}

	/** Whether the last box ends with the last byte, and the index of the tracks (`moov`) is there. */
	get isComplete(): boolean {
		const isAtEnd =
			this.remaining === Infinity || (this.remaining === undefined && this.headerLength === 0);
		return isAtEnd && !this.isUnknown && this.hasIndex;
	}

	/** Whether the last box lacks bytes. Unknown boxes prove nothing, nor do stray bytes after a playable file. */
	get isTruncated(): boolean {
		const isWithinBox = (this.headerLength > 0 && !this.hasEverything) || (this.remaining ?? 0) > 0;
		return this.isMp4 === true && !this.isUnknown && isWithinBox && this.remaining !== Infinity;
	}

	/** Whether the index of the tracks has not arrived, without which nothing can be played. */
	get lacksIndex(): boolean {
		return this.seenTypes.size > 0 && !this.isUnknown && !this.hasIndex;
	}

	private get hasIndex(): boolean {
		return this.seenTypes.has(moov);
	}

	/** Whether the index and the media data are there; never true of a fragmented file, whose end is not known. */
	private get hasEverything(): boolean {
		return this.hasIndex && this.seenTypes.has(mdat) && !this.seenTypes.has(moof);
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
			this.header.setUint8(this.headerLength++, bytes[offset++]);
			if (this.headerLength === 8 || this.headerLength === 16) this.readHeader();
		}
	}

	private readHeader(): void {
		const shortSize = this.header.getUint32(0);
		const type = this.header.getUint32(4);
		if (!topBoxes.has(type) || (shortSize > 1 && shortSize < 8)) {
			this.isUnknown = true;
			return;
		}
		if (shortSize === 1 && this.headerLength < 16) return;
		this.seenTypes.add(type);
		// Size 1: the size follows as 64 bits. Size 0: the box extends to the end of the file.
		const size = shortSize === 1 ? Number(this.header.getBigUint64(8)) : shortSize;
		this.remaining =
			shortSize === 0 ? Infinity : Math.max(0, size - this.headerLength) || undefined;
		this.headerLength = 0;
	}
}
