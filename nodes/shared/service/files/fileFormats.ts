import { FileEnd, type FileState, type Format } from './fileEnd';
import { fileTypeOf, type FileType } from './fileType';
import { jpeg } from './jpeg';
import { boxes } from './mp4';

/** Each chunk is its length, its name, its data and their checksum. */
const png: Format = function* (file) {
	file.state = 'cut';
	yield { skip: 8 };
	for (let name = ''; name !== 'IEND';) {
		const header = yield { read: 8 };
		name = header.toString('latin1', 4);
		yield { skip: header.readUInt32BE() + 4 };
	}
	file.state = 'whole';
};

/** Its length is in its header. */
const webp: Format = function* (file) {
	file.state = 'cut';
	const header = yield { read: 8 };
	yield { skip: header.readUInt32LE(4) };
	file.state = 'whole';
};

const formats: Partial<Record<string, Format>> = {
	'image/png': png,
	'image/jpeg': jpeg,
	'image/webp': webp,
	'image/avif': boxes,
	'image/heic': boxes,
	'audio/mp4': boxes,
	'video/mp4': boxes,
	'video/quicktime': boxes,
};

/** Follows a file of this type, whose first bytes are still to be pushed. */
export const followFile = (type?: FileType): FileEnd => new FileEnd(formats[type?.mimeType ?? '']);

export function stateOf(bytes: Uint8Array): FileState {
	const end = followFile(fileTypeOf(bytes));
	end.push(bytes);
	return end.state;
}

/* eslint no-control-regex: 'off' -- GIF consists of control characters. */

/** In an animation, a control block comes before each frame. */
const gifFrame = /!\xf9\x04[^]{4}\0,/g;

/**
 * Whether an image has several frames, as far as its bytes show it. The service refuses such a file under a JPEG's name
 * as `invalid_image_file` ("Error codes seen").
 */
export function hasSeveralFrames(bytes: Uint8Array): boolean {
	const type = fileTypeOf(bytes);
	if (type?.mimeType !== 'image/gif') return type?.isAnimated ?? false;
	return (Buffer.from(bytes).toString('latin1').match(gifFrame)?.length ?? 0) > 1;
}
