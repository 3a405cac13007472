import type { Image } from '@napi-rs/canvas';
import { ServiceError } from './errors';
import { fetchFile } from './fetching';
import { readLink } from './fields';
import { decodeImage } from './rendering';

/** An image in a request, as a link or as a data URL, and the parameter that contains it. */
export interface PictureLink {
	url: string;
	param: string;
}

/** "Resources", message: an https link, or a base64 data URL. */
export function readPictureLink(value: unknown, param: string): PictureLink {
	const isData = typeof value === 'string' && value.startsWith('data:');
	return { url: isData ? value : readLink(value, param), param };
}

/** Fetches and decodes the image, or throws an error that names its parameter. */
export async function loadPicture(
	{ url, param }: PictureLink,
	signal: AbortSignal,
): Promise<Image> {
	// Only the bytes show its type: the type in a data URL is as unreliable as a file extension.
	const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
	if (base64 !== undefined) return await decodePicture(Buffer.from(base64, 'base64'), param);
	return await decodePicture(await fetchFile(url, { param, signal }), param);
}

/** Throws `invalid_image_file` for anything that is not a still image. */
export async function decodePicture(bytes: Uint8Array, param: string): Promise<Image> {
	try {
		return await decodeImage(bytes);
	} catch (error) {
		const { message } = error as Error;
		throw new ServiceError(400, 'invalid_image_file', message, { param });
	}
}
