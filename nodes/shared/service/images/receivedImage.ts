import { typeToDeliver, type FileType } from '../files/fileType';
import { stateOf } from '../files/imageParts';
import { excerpt } from '../json';

/** The file of an image that came within a response. */
interface ReceivedImage {
	bytes: Buffer;
	type: FileType;
	/** What the user should know about it; continues its name. */
	hint?: string;
}

/** A text in place of an image. The problem continues "the response …". */
interface NoImage {
	problem: string;
}

/**
 * Judges the file of an image that is charged. Only a text is no file: whatever else came is delivered as it is.
 * @param declaredType its MIME type as declared, used when the bytes are of no known type
 */
export function receivedImage(bytes: Buffer, declaredType?: string): ReceivedImage | NoImage {
	const type = typeToDeliver(bytes, declaredType);
	if (bytes.length === 0) return { problem: 'is empty' };
	if (type.kind === 'text') {
		return { problem: `is no image: ${excerpt(bytes.toString('utf8', 0, 500))}` };
	}
	return { bytes, type, hint: hintAtImage(type, stateOf(bytes) === 'cut') };
}

/** What the user should know about the file of an image; continues its name. */
export function hintAtImage({ kind, name }: FileType, isCut: boolean): string | undefined {
	if (kind !== 'image') return `is ${name}, not an image.`;
	return isCut ? 'ends in the middle: it arrived as the service made it.' : undefined;
}
