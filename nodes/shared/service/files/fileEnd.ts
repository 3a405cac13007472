/** Whether a file may end here, surely does not, or does so without its index, so that nothing can open it. */
export type FileState = 'whole' | 'cut' | 'lacksIndex' | 'unknown';

/**
 * The bytes that a format asks for: so many to read or skip, or all before a place that `skipTo` finds in a piece of
 * the file (-1: not there). `begun` is the state of a file that ends within them.
 */
type Request =
	| { read: number; begun?: FileState }
	| { skip: number }
	| { skipTo: (piece: Buffer, start: number) => number };

export type Reading<T = void> = Generator<Request, T, Buffer>;

/** Reads a file from its first byte, and sets its state. */
export type Format = (file: FileEnd) => Reading;

const nothing: Buffer = Buffer.alloc(0);

/** Follows a file while its bytes are streamed, without keeping them. */
export class FileEnd {
	state: FileState = 'unknown';
	/** The offset of the next byte. */
	offset = 0;
	private readonly reading?: Reading;
	private request?: Request;
	/** In bytes, of the request. */
	private left = 0;
	private bytes = nothing;

	constructor(format?: Format) {
		this.reading = format?.(this);
		this.next();
	}

	push(bytes: Uint8Array): void {
		const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
		for (let at = 0; at < piece.length && this.request;) at = this.take(piece, at, this.request);
	}

	/** @returns the place behind the bytes that the request takes */
	private take(piece: Buffer, at: number, request: Request): number {
		const found = 'skipTo' in request ? request.skipTo(piece, at) : -1;
		const end = found >= 0 ? found : Math.min(at + this.left, piece.length);
		this.left -= end - at;
		this.offset += end - at;
		if ('read' in request) {
			this.state = request.begun ?? this.state;
			const read = piece.subarray(at, end);
			this.bytes = this.bytes.length === 0 ? read : Buffer.concat([this.bytes, read]);
		}
		if (found >= 0 || this.left === 0) this.next();
		return end;
	}

	private next(): void {
		do {
			const { value } = this.reading?.next(this.bytes) ?? {};
			this.request = value ?? undefined;
			this.bytes = nothing;
			if (!value) return;
			this.left =
				'read' in value ? value.read : 'skip' in value ? Math.max(0, value.skip) : Infinity;
		} while (this.left === 0);
	}
}
