import { minTransferRate, transferMinute } from '../protocol/bounds';
import type { Clock, HttpResponse } from './http';

/** The length of a file, as its host announces it. */
interface AnnouncedLength {
	bytes: number;
	/** False when the file may be longer, because it may be compressed. */
	isExact: boolean;
}

/** The length that a response announces for the file; undefined when it announces none. */
export function announcedLength({ status, headers }: HttpResponse): AnnouncedLength | undefined {
	// A body that is decompressed on its way is longer than its Content-Length.
	const isExact = status === 206;
	const bytes = Number(isExact ? rangeOf(headers).length : headers['content-length']);
	return bytes >= 0 ? { bytes, isExact } : undefined;
}

/** The numbers of `Content-Range` (RFC 9110, 14.4), as far as it has them. */
export function rangeOf(headers: HttpResponse['headers']): Partial<Record<string, string>> {
	const pattern = /^bytes (?:(?<first>\d+)-(?<last>\d+)|\*)\/(?:(?<length>\d+)|\*)$/;
	return pattern.exec(headers['content-range'] ?? '')?.groups ?? {};
}

/** The bytes that several transfers may receive together. */
export interface SharedBytes {
	readonly max: number;
	left: number;
}

interface TransferBounds {
	/** Milliseconds that the user waits. */
	patience: number;
	/** Of a file whose length is announced. */
	maxBytes: number;
	/** Of any other file. */
	maxUnannounced: number;
	/** Set where the file is one of several. */
	shared?: SharedBytes;
}

/**
 * Limits a transfer, so that a file that drips or never ends does not hold up a workflow or fill a disk.
 * - In time, by how long the user waits, at least a minute. The bytes of an announced length buy more time as they
 *   arrive, at 64 kB/s, and never more than a minute ahead.
 * - In size, by what was announced, and by its bounds.
 */
export class TransferLimit {
	/** Whether the size is why the transfer must end: the same file is as large the next time. */
	isTooLarge = false;
	/** When the transfer must end unless more bytes arrive, in milliseconds since 1970. */
	private endsAt: number;
	private readonly minTime: number;
	private announced = 0;
	private announcedExactly = Infinity;
	/** Milliseconds that the announced length can still buy. */
	private timeLeft = 0;
	/** Bytes that were taken from the shared ones. */
	private taken = 0;

	constructor(
		private readonly clock: Clock,
		private readonly bounds: TransferBounds,
	) {
		this.minTime = Math.max(transferMinute, bounds.patience);
		this.endsAt = clock.now() + this.minTime;
	}

	/** Call this with the length that a response announces. @returns as {@link excess} does */
	announce(length: AnnouncedLength | undefined): string | undefined {
		if (length === undefined) return undefined;
		const { bytes, isExact } = length;
		const more = Math.min(bytes, this.bounds.maxBytes) - this.announced;
		if (more > 0) {
			this.announced += more;
			this.timeLeft += more / minTransferRate;
		}
		this.announcedExactly = isExact ? bytes : Infinity;
		return this.excessInSize(bytes);
	}

	/** Milliseconds without a byte after which a response is given up. */
	get idleTimeout(): number {
		return Math.max(1, Math.min(transferMinute, this.endsAt - this.clock.now()));
	}

	/** Why the transfer must end; continues "the file …". @param bytes received so far */
	excess(bytes: number): string | undefined {
		const inSize = this.excessInSize(bytes);
		if (inSize !== undefined) return inSize;
		const more = bytes - this.taken;
		if (this.bounds.shared) this.bounds.shared.left -= more;
		this.taken = bytes;
		if (bytes > this.announcedExactly)
			return `has more than the ${this.announcedExactly} bytes that were announced`;
		// There are fewer of them when the transfer has started again.
		this.buyTime(more < 0 ? bytes : more);
		if (this.clock.now() < this.endsAt) return undefined;
		const rate = this.announced > 0 ? ` at less than ${minTransferRate} kB/s` : '';
		return `took longer than ${Math.round(this.minTime / 1000)} seconds${rate} (${bytes} bytes arrived)`;
	}

	private buyTime(bytes: number): void {
		const time = Math.min(this.timeLeft, Math.floor(bytes / minTransferRate));
		const until = Math.min(this.endsAt + time, this.clock.now() + transferMinute);
		if (until <= this.endsAt) return;
		this.timeLeft -= until - this.endsAt;
		this.endsAt = until;
	}

	private excessInSize(bytes: number): string | undefined {
		const { maxBytes, maxUnannounced, shared } = this.bounds;
		const max = Math.min(maxBytes, Math.max(maxUnannounced, this.announced));
		const isFull = shared !== undefined && bytes - this.taken > shared.left;
		this.isTooLarge = bytes > max || isFull;
		if (bytes > max) return `is larger than ${sizeOf(max)}`;
		return isFull ? `and the others are larger than ${sizeOf(shared.max)} together` : undefined;
	}
}

/** In words. */
const sizeOf = (bytes: number) =>
	bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e8) / 10} GB`;
