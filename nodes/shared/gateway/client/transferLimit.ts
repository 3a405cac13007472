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

/** In milliseconds: the least that a transfer may take, and the longest pause in it. */
const minute = 60_000;

/** Bytes per millisecond, or kB/s, of the slowest connection for which an announced length still counts. */
const slowestRate = 64;

/** In bytes. */
const maxLength = 10_000_000_000;

/**
 * Limits a transfer, so that a file that drips or never ends does not hold up a workflow or fill a disk. In time, by how
 * long the user waits, at least a minute, and what its announced length takes at 64 kB/s. In size, by what was announced,
 * and by 10 GB.
 */
export class TransferLimit {
	private readonly startedAt: number;
	private readonly minTime: number;
	private announced = 0;
	private announcedExactly = Infinity;

	/**
	 * @param patience milliseconds that the user waits
	 * @param maxBytes less where the file is kept in memory
	 */
	constructor(
		private readonly clock: Clock,
		patience: number,
		private readonly maxBytes = maxLength,
	) {
		this.startedAt = clock.now();
		this.minTime = Math.max(minute, patience);
	}

	/** Call this with the length that a response announces. @returns as {@link excess} does */
	announce(length: AnnouncedLength | undefined): string | undefined {
		if (length === undefined) return undefined;
		const { bytes, isExact } = length;
		this.announced = Math.max(this.announced, bytes);
		if (isExact) this.announcedExactly = bytes;
		return bytes > this.maxBytes ? this.tooLarge : undefined;
	}

	/** Milliseconds without a byte after which a response is given up. */
	get idleTimeout(): number {
		return Math.max(1, Math.min(minute, this.maxTime - this.time));
	}

	/** Why the transfer must end; continues "the file …". @param bytes received so far */
	excess(bytes: number): string | undefined {
		if (bytes > this.maxBytes) return this.tooLarge;
		if (bytes > this.announcedExactly) {
			return `has more than the ${this.announcedExactly} bytes that were announced`;
		}
		if (this.time < this.maxTime) return undefined;
		return `took longer than ${Math.round(this.maxTime / 1000)} seconds (${bytes} bytes arrived)`;
	}

	private get time(): number {
		return this.clock.now() - this.startedAt;
	}

	/** Milliseconds. */
	private get maxTime(): number {
		return this.minTime + Math.ceil(Math.min(this.announced, this.maxBytes) / slowestRate);
	}

	private get tooLarge(): string {
		return `is larger than ${this.maxBytes / 1e9} GB`;
	}
}
