import { loadImage, type Image } from '@napi-rs/canvas';

import { fileTypeOf } from '../../nodes/shared/service/files/fileType';
import { hasSeveralFrames } from '../../nodes/shared/service/files/fileFormats';

/** The formats of still images that are accepted. The decoder would also take an SVG, which may load other files. */
const formats: Record<string, string> = {
	jpg: 'JPEG',
	png: 'PNG',
	webp: 'WebP',
	gif: 'GIF',
	avif: 'AVIF',
};
const formatNames = new Intl.ListFormat('en', { type: 'disjunction' }).format(
	Object.values(formats),
);

/** Decodes a still image. Rejects with a sentence that names the problem of the file. */
export async function decodeImage(bytes: Uint8Array): Promise<Image> {
	const { extensions: [extension] = [''] } = fileTypeOf(bytes) ?? {};
	const name = formats[extension];
	if (!name) throw new Error(`The file is no ${formatNames} image.`);
	// Decoders show the first image of a JPEG with several.
	if (name !== 'JPEG' && hasSeveralFrames(bytes)) {
		throw new Error(`The file is an animated ${name} and no still image.`);
	}
	try {
		return await loadImage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
	} catch (cause) {
		throw new Error(`The file looks like a ${name} image but cannot be decoded.`, { cause });
	}
}
