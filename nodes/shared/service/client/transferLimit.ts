import { minTransferRate, transferMinute } from '../protocol/bounds';
import type { Clock } from './http';

export interface SharedBytes {
	readonly max: number;
	left: number;
}

export interface TransferBounds {
	/** Milliseconds that the user waits. */
	patience: number;
	/** For a file whose length is announced. */
	maxBytes: number;
	/** For any other file. */
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
	private received = 0;

	constructor(
		private readonly clock: Clock,
		private readonly bounds: TransferBounds,
	) {
		this.minTime = Math.max(transferMinute, bounds.patience);
		this.endsAt = clock.now() + this.minTime;
	}

	/** Takes the length that a response announces. @returns as {@link excess} does */
	announce(bytes = 0): string | undefined {
		this.announced = Math.max(this.announced, Math.min(bytes, this.bounds.maxBytes));
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
		const more = bytes - this.received;
		this.received = bytes;
		if (this.bounds.shared) this.bounds.shared.left -= more;
		const now = this.clock.now();
		if (bytes <= this.announced) {
			// There are fewer bytes when the transfer has started again.
			const time = Math.floor((more < 0 ? bytes : more) / minTransferRate);
			this.endsAt = Math.max(this.endsAt, Math.min(this.endsAt + time, now + transferMinute));
		}
		if (now < this.endsAt) return undefined;
		const rate = this.announced > 0 ? ` at less than ${minTransferRate} kB/s` : '';
		return `took longer than ${Math.round(this.minTime / 1000)} seconds${rate} (${bytes} bytes arrived)`;
	}

	private excessInSize(bytes: number): string | undefined {
		const { maxBytes, maxUnannounced, shared } = this.bounds;
		const max = Math.min(maxBytes, Math.max(maxUnannounced, this.announced));
		const isFull = shared !== undefined && bytes - this.received > shared.left;
		this.isTooLarge = bytes > max || isFull;
		if (bytes > max) return `is larger than ${sizeOf(max)}`;
		return isFull ? `and the others are larger than ${sizeOf(shared.max)} together` : undefined;
	}
}

const sizeOf = (bytes: number) =>
	bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e8) / 10} GB`;
