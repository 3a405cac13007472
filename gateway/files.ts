import { createHash } from 'node:crypto';

/** A file of the storage host. */
export interface StoredFile {
	bytes: Uint8Array;
	contentType: string;
	etag: string;
}

export function storedFile(bytes: Uint8Array, contentType: string): StoredFile {
	const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
	return { bytes, contentType, etag };
}

/** A file of a form, as a client sent it. */
export class UploadedFile {
	constructor(
		readonly name: string,
		readonly contentType: string,
		readonly bytes: Uint8Array,
	) {}
}

/** Part of a file: the first and the last byte, both included. */
interface ByteRange {
	first: number;
	last: number;
}

/**
 * The part that a Range header requests: undefined for the whole file, 'unsatisfiable' when it is outside the file.
 * Several ranges, or another unit, get the whole file, as RFC 9110 allows.
 */
export function readRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
	const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? [];
	if (!from && !to) return undefined;

	// "-500" requests the last 500 bytes.
	const first = from ? Number(from) : Math.max(0, size - Number(to));
	const last = from && to ? Math.min(Number(to), size - 1) : size - 1;
	if (first >= size || first > last) return 'unsatisfiable';
	return { first, last };
}

const pieceBytes = 64 * 1024;

/** Yields a file in pieces, so that a slow reader keeps only its position in memory. */
export function* piecesOf({ bytes }: StoredFile, { first, last }: ByteRange): Generator<Buffer> {
	for (let start = first; start <= last; start += pieceBytes) {
		const end = Math.min(start + pieceBytes, last + 1);
		yield Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
	}
}
