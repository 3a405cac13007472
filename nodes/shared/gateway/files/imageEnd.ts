import { JpegMarkers } from './jpeg';
import { Mp4Boxes } from './mp4';

/** Follows an image while its bytes are streamed, without keeping them. */
interface Follower {
	push(bytes: Uint8Array): void;
	/** Whether its end marker or its full length has arrived; undefined when that cannot be determined for certain. */
	readonly hasEnd: boolean | undefined;
}

/** A follower for an image of this type, whose first bytes are still to be pushed. */
export function followImage(mimeType: string): Follower {
	switch (mimeType) {
		case 'image/png':
			return new PngChunks();
		case 'image/jpeg':
			return new JpegEnd();
		case 'image/webp':
			return new WebpLength();
		case 'image/avif':
		case 'image/heic':
			return new ImageBoxes();
		default:
			return { push: () => undefined, hasEnd: undefined };
	}
}

/** The chunks of a PNG: length, name, data and checksum. */
class PngChunks implements Follower {
	hasEnd: boolean | undefined = false;
	/** Bytes that need no look; at first the signature. */
	private toSkip = 8;
	/** The length and the name of a chunk, as far as they have arrived. */
	private header = Buffer.alloc(0);
	private name = '';

	push(bytes: Uint8Array): void {
		for (let at = 0; at < bytes.length && this.hasEnd === false;) {
			if (this.toSkip > 0) {
				const skipped = Math.min(this.toSkip, bytes.length - at);
				at += skipped;
				this.toSkip -= skipped;
				if (this.toSkip === 0 && this.name === 'IEND') this.hasEnd = true;
			} else {
				const part = bytes.subarray(at, at + 8 - this.header.length);
				at += part.length;
				this.header = Buffer.concat([this.header, part]);
				if (this.header.length === 8) this.readHeader();
			}
		}
	}

	private readHeader(): void {
		this.name = this.header.toString('latin1', 4);
		this.toSkip = this.header.readUInt32BE() + 4;
		this.header = Buffer.alloc(0);
		if (!/^[a-z]{4}$/i.test(this.name)) this.hasEnd = undefined;
	}
}

/** The end of the first image of a JPEG. */
class JpegEnd implements Follower {
	private readonly markers = new JpegMarkers();
	/** Whether the last byte may begin an end marker; whether there was one; and whether the last bytes are one. */
	private isBegun = false;
	private hasSeenOne = false;
	private isLast = false;

	push(bytes: Uint8Array): void {
		if (bytes.length === 0) return;
		this.markers.push(bytes);
		const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
		const isDivided = this.isBegun && file[0] === 0xd9;
		this.hasSeenOne ||= isDivided || file.includes('\xff\xd9', 0, 'latin1');
		this.isLast = file.length === 1 ? isDivided : file.readUInt16BE(file.length - 2) === 0xffd9;
		this.isBegun = file[file.length - 1] === 0xff;
	}

	get hasEnd(): boolean | undefined {
		const { end } = this.markers;
		if (end !== 'unknown') return end !== 'missing';
		// An embedded thumbnail has the same end marker, so one before the last bytes proves nothing.
		return this.isLast || (this.hasSeenOne ? undefined : false);
	}
}

/** The length that a WebP has in its header. */
class WebpLength implements Follower {
	private header = Buffer.alloc(0);
	private received = 0;

	push(bytes: Uint8Array): void {
		this.received += bytes.length;
		this.header = Buffer.concat([this.header, bytes.subarray(0, 8 - this.header.length)]);
	}

	get hasEnd(): boolean {
		return this.header.length === 8 && this.received >= 8 + this.header.readUInt32LE(4);
	}
}

/** The boxes of an AVIF or HEIC image. */
class ImageBoxes extends Mp4Boxes implements Follower {
	get hasEnd(): false | undefined {
		return this.isTruncated ? false : undefined;
	}
}
