export interface ImageType {
	mimeType: string;
	extension: string;
}

/** How files of each form begin. */
const forms: Array<[beginning: RegExp, extension: string, mimeType?: string]> = [
	[/^\x89PNG\r\n/, 'png'],
	[/^\xff\xd8\xff/, 'jpg', 'image/jpeg'],
	[/^GIF8[79]a/, 'gif'],
	[/^RIFF....WEBP/s, 'webp'],
	[/^....ftypavi[fs]/s, 'avif'],
	[/^....ftyp(he[iv]|m[is]f1)/s, 'heic'],
	[/^(II\*\0|MM\0\*)/, 'tiff'],
	[/^BM....\0\0\0\0/s, 'bmp'],
	[/^\s*<(\?xml[^]*<)?svg/, 'svg', 'image/svg+xml'],
];

/**
 * What the first bytes of a picture say it is; undefined for anything else.
 * @param said the type it came with: taken for bytes of no form we know, unless they are a text
 */
export function imageType(bytes: Uint8Array, said = ''): ImageType | undefined {
	const head = Buffer.from(bytes.subarray(0, 500)).toString('latin1');
	const isText = !/[\0-\x08]/.test(head);
	const known = forms.find(([beginning]) => beginning.test(head));
	const [, extension, mimeType = `image/${extension}`] =
		known ?? (isText ? undefined : /^image\/([\w.+-]+)/i.exec(said)) ?? [];
	return extension === undefined ? undefined : { mimeType, extension };
}

/** Whether a picture's end is there; undefined where its form does not tell for sure. */
export function hasEnd(bytes: Uint8Array): boolean | undefined {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (imageType(bytes)?.extension) {
		case 'png': {
			// A name, and a sum of four bytes.
			const place = file.lastIndexOf('IEND');
			return place >= 0 && place + 8 <= file.length;
		}
		case 'jpg': {
			// The end of a small picture within this one looks the same.
			const place = file.lastIndexOf('\xff\xd9', undefined, 'latin1');
			return place === file.length - 2 || (place < 0 ? false : undefined);
		}
		case 'webp':
			return file.length >= 8 + file.readUInt32LE(4);
		default:
			return undefined;
	}
}

/**
 * Whether a file with a JPEG's name holds several frames, which the service refuses as
 * `invalid_image_file` ("Error codes seen"), as far as its bytes show it.
 */
export function hasSeveralFrames(bytes: Uint8Array): boolean {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (imageType(bytes)?.extension) {
		case 'gif':
			return hasTwoGifFrames(file);
		case 'png':
			// Chunks: a length, a name, the data, a sum; the one of animations comes before the picture.
			for (let place = 8; place + 8 <= file.length; place += 12 + file.readUInt32BE(place)) {
				const name = file.toString('latin1', place + 4, place + 8);
				if (name === 'acTL' || name === 'IDAT') return name === 'acTL';
			}
			return false;
		case 'webp':
			// The flags of the extended form.
			return file.toString('latin1', 12, 16) === 'VP8X' && (file[20] & 0x02) !== 0;
		case 'jpg':
			// The index of a multi-picture file (CIPA DC-007), in one of the first segments.
			return file.subarray(0, 128 * 1024).includes('MPF\0', 0, 'latin1');
		default:
			return false;
	}
}

/** Goes from block to block of a GIF, up to its second picture. */
function hasTwoGifFrames(file: Buffer): boolean {
	const table = (flags: number) => (flags & 0x80 ? 6 << (flags & 7) : 0);
	let place = 13 + table(file[10]);
	for (let frames = 0; ; place++) {
		if (file[place] === 0x21) place += 2;
		else if (file[place] !== 0x2c) return false;
		else if (++frames === 2) return true;
		else place += 11 + table(file[place + 9]);
		while (file[place] > 0) place += file[place] + 1;
	}
}
