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
 * The part that a Range header asks for: undefined for all of it, 'unsatisfiable' when it lies outside.
 * Several ranges, or another unit, are answered with the whole file, as RFC 9110 allows.
 */
export function readRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
	const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? [];
	if (!from && !to) return undefined;

	// "-500" asks for the last 500 bytes.
	const first = from ? Number(from) : Math.max(0, size - Number(to));
	const last = from && to ? Math.min(Number(to), size - 1) : size - 1;
	if (first >= size || first > last) return 'unsatisfiable';
	return { first, last };
}

const pieceBytes = 64 * 1024;

/** Gives a file in pieces, so that a slow reader holds nothing but its place in it. */
export function* piecesOf({ bytes }: StoredFile, { first, last }: ByteRange): Generator<Buffer> {
	for (let start = first; start <= last; start += pieceBytes) {
		const end = Math.min(start + pieceBytes, last + 1);
		yield Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
	}
}
