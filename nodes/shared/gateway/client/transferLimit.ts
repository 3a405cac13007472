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
 * - In time, by how long the user waits, at least a minute. An announced length buys more time, as long as its bytes
 *   arrive with 64 kB/s.
 * - In size, by what was announced, and by its bounds.
 */
export class TransferLimit {
	/** Whether the size is why the transfer must end: the same file is as large the next time. */
	isTooLarge = false;
	private readonly startedAt: number;
	private readonly minTime: number;
	private announced = 0;
	private announcedExactly = Infinity;
	/** Bytes that were taken from the shared ones. */
	private taken = 0;
	/** Bytes that arrived, with those that arrived again. */
	private arrived = 0;
	/** Where the rate is measured from. */
	private mark = { time: 0, arrived: 0 };

	constructor(
		private readonly clock: Clock,
		private readonly bounds: TransferBounds,
	) {
		this.startedAt = clock.now();
		this.minTime = Math.max(transferMinute, bounds.patience);
	}

	/** Call this with the length that a response announces. @returns as {@link excess} does */
	announce(length: AnnouncedLength | undefined): string | undefined {
		if (length === undefined) return undefined;
		const { bytes, isExact } = length;
		this.announced = Math.max(this.announced, bytes);
		this.announcedExactly = isExact ? bytes : Infinity;
		return this.excessInSize(bytes);
	}

	/** Milliseconds without a byte after which a response is given up. */
	get idleTimeout(): number {
		return Math.max(1, Math.min(transferMinute, this.maxTime - this.time));
	}

	/** Why the transfer must end; continues "the file …". @param bytes received so far */
	excess(bytes: number): string | undefined {
		const inSize = this.excessInSize(bytes);
		if (inSize !== undefined) return inSize;
		this.take(bytes);
		if (bytes > this.announcedExactly) {
			return `has more than the ${this.announcedExactly} bytes that were announced`;
		}
		const isTooSlow = this.isTooSlow();
		if (this.time < this.maxTime && !isTooSlow) return undefined;
		const seconds = Math.round((isTooSlow ? this.minTime : this.maxTime) / 1000);
		const rate = isTooSlow ? ` at less than ${minTransferRate} kB/s` : '';
		return `took longer than ${seconds} seconds${rate} (${bytes} bytes arrived)`;
	}

	private excessInSize(bytes: number): string | undefined {
		const { maxBytes, maxUnannounced, shared } = this.bounds;
		const max = Math.min(maxBytes, Math.max(maxUnannounced, this.announced));
		const isFull = shared !== undefined && bytes - this.taken > shared.left;
		this.isTooLarge = bytes > max || isFull;
		if (bytes > max) return `is larger than ${sizeOf(max)}`;
		return isFull ? `and the others are larger than ${sizeOf(shared.max)} together` : undefined;
	}

	private take(bytes: number): void {
		const { shared } = this.bounds;
		const more = bytes - this.taken;
		if (shared) shared.left -= more;
		// There are fewer of them when the transfer has started again.
		this.arrived += more < 0 ? bytes : more;
		this.taken = bytes;
	}

	/** Whether the user's time is over, and the bytes of the last minute came too slowly. */
	private isTooSlow(): boolean {
		const { time, arrived, mark, minTime } = this;
		const isInTime = time <= minTime;
		const elapsed = time - mark.time;
		if (!isInTime && elapsed < transferMinute) return false;
		this.mark = { time, arrived };
		return !isInTime && arrived - mark.arrived < minTransferRate * elapsed;
	}

	private get time(): number {
		return this.clock.now() - this.startedAt;
	}

	/** Milliseconds. */
	private get maxTime(): number {
		return (
			this.minTime + Math.ceil(Math.min(this.announced, this.bounds.maxBytes) / minTransferRate)
		);
	}
}

/** In words. */
const sizeOf = (bytes: number) =>
	bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e8) / 10} GB`;
