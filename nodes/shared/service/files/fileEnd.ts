/**
 * The end of a file, as far as its bytes so far tell.
 * - `whole`: it may end here
 * - `cut`: it surely does not
 * - `lacksIndex`: it may end here, but nothing could open it
 */
export type FileState = 'whole' | 'cut' | 'lacksIndex' | 'unknown';

/** Pauses wherever the next byte has not arrived yet. */
export type Parsing<T = void> = Generator<undefined, T, undefined>;

/** Follows a file while its bytes are streamed, without keeping them. This one is of no known format. */
export class FileEnd {
	state: FileState = 'unknown';
	/** The offset of the next byte. */
	protected offset = 0;
	private piece: Uint8Array = new Uint8Array();
	/** The offset of the next byte in the piece. */
	private at = 0;
	private readonly parsing = this.parse();

	push(bytes: Uint8Array): void {
		this.piece = bytes;
		this.at = 0;
		this.parsing.next();
	}

	/** Reads the file from its first byte, and sets the state on its way. */
	protected *parse(): Parsing {
		yield;
	}

	/** Pauses until a byte is there. */
	protected *more(): Parsing {
		while (this.at === this.piece.length) yield;
	}

	protected *readByte(): Parsing<number> {
		if (this.at === this.piece.length) yield* this.more();
		this.offset++;
		return this.piece[this.at++];
	}

	protected *read(length: number): Parsing<Buffer> {
		this.offset += length;
		const { piece, at } = this;
		// Most are within one piece, and a hostile file may have millions of them.
		if (at + length <= piece.length) {
			this.at += length;
			return Buffer.from(piece.buffer, piece.byteOffset + at, length);
		}
		const bytes = Buffer.allocUnsafe(length);
		for (let read = 0; read < length;) {
			if (this.at === this.piece.length) yield* this.more();
			bytes[read++] = this.piece[this.at++];
		}
		return bytes;
	}

	protected *skip(length: number): Parsing {
		for (let left = length; left > 0;) {
			yield* this.more();
			const skipped = Math.min(left, this.piece.length - this.at);
			this.at += skipped;
			this.offset += skipped;
			left -= skipped;
		}
	}

	/** Skips what comes before a byte of this value. */
	protected *skipTo(value: number): Parsing {
		for (;;) {
			const found = this.piece.indexOf(value, this.at);
			const end = found < 0 ? this.piece.length : found;
			this.offset += end - this.at;
			this.at = end;
			if (found >= 0) return;
			yield;
		}
	}
}
