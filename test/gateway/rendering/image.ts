import { loadImage, type Image } from '@napi-rs/canvas';

import type { Size } from './spec';

/** Decodes a still image. Rejects with a sentence that says what is wrong with the file. */
export async function decodeImage(bytes: Uint8Array): Promise<Image> {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const format = formats.find(({ matches }) => matches(file));
	// Checked first, because the decoder would also take an SVG, which may load further files.
	if (!format) throw new Error(`The file is no ${formatNames} image.`);
	if (format.isAnimated?.(file)) {
		throw new Error(`The file is an animated ${format.name} and no still image.`);
	}
	try {
		return await loadImage(file);
	} catch (cause) {
		throw new Error(`The file looks like a ${format.name} image but cannot be decoded.`, { cause });
	}
}

/** The size of a still image as it is shown. Rejects with a clear error for anything else. */
export async function probeImage(bytes: Uint8Array): Promise<Size> {
	const { width, height } = await decodeImage(bytes);
	return { width, height };
}

interface Format {
	name: string;
	matches(file: Buffer): boolean;
	isAnimated?(file: Buffer): boolean;
}

const formats: Format[] = [
	{ name: 'JPEG', matches: (file) => file.toString('latin1', 0, 3) === '\xff\xd8\xff' },
	{
		name: 'PNG',
		matches: (file) => file.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n',
		// The animation control chunk of an APNG comes before the first image data.
		isAnimated: (file) => file.subarray(0, file.indexOf('IDAT')).includes('acTL'),
	},
	{
		name: 'WebP',
		matches: (file) => file.toString('latin1', 0, 4) === 'RIFF' && file.includes('WEBP', 8),
		isAnimated: (file) => file.toString('latin1', 12, 16) === 'VP8X' && (file[20] & 0x02) !== 0,
	},
	{
		name: 'GIF',
		matches: (file) => file.toString('latin1', 0, 4) === 'GIF8',
		isAnimated: hasSecondGifFrame,
	},
	{ name: 'BMP', matches: (file) => file.toString('latin1', 0, 2) === 'BM' },
	{
		name: 'AVIF',
		matches: (file) => /^ftypavi[fs]$/.test(file.toString('latin1', 4, 12)),
		isAnimated: (file) => file.toString('latin1', 8, 12) === 'avis',
	},
];

const formatNames = new Intl.ListFormat('en', { type: 'disjunction' }).format(
	formats.map(({ name }) => name),
);

/** Walks the blocks of a GIF, whose header does not tell how many frames there are. */
function hasSecondGifFrame(file: Buffer): boolean {
	const colourTableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0);
	let frames = 0;
	let offset = 13 + colourTableBytes(file[10]);
	while (offset < file.length) {
		if (file[offset] === 0x2c) {
			if (++frames === 2) return true;
			offset += 11 + colourTableBytes(file[offset + 9]);
		} else if (file[offset] === 0x21) {
			offset += 2;
		} else {
			return false;
		}
		while (file[offset] > 0) offset += file[offset] + 1;
		offset += 1;
	}
	return false;
}
