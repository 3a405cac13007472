import { randomBytes } from 'node:crypto';

/** A box of an mp4 (ISO/IEC 14496-12, 4.2). @param size written instead of the true size */
export function box(type: string, content: Uint8Array = Buffer.alloc(0), size?: number): Buffer {
	const header = Buffer.alloc(8);
	header.writeUInt32BE(size ?? 8 + content.length);
	header.write(type, 4, 'latin1');
	return Buffer.concat([header, content]);
}

/** A box whose size is written as 64 bits. */
export function largeBox(type: string, content: Uint8Array): Buffer {
	const size = Buffer.alloc(8);
	size.writeBigUInt64BE(BigInt(16 + content.length));
	return box(type, Buffer.concat([size, content]), 1);
}

/** A small file with every box that an mp4 must have at its top level. */
export function mp4Of(mediaBytes: number): Buffer {
	return Buffer.concat([
		box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41', 'latin1')),
		box('moov', randomBytes(200)),
		box('mdat', randomBytes(mediaBytes)),
	]);
}
