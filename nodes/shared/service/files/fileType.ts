import {
	brands,
	heic,
	imageBrand,
	mp4,
	pdf,
	plainText,
	quickTime,
	signatures,
	svg,
	type FileType,
} from './signatures';
import { isText, textTypeOf } from './textType';

export type { FileType } from './signatures';

/** How many bytes are enough to recognize every type. */
export const headLength = 16 * 1024;

/** What cannot be named is delivered like this. */
const unknownFile: FileType = {
	kind: 'other',
	mimeType: 'application/octet-stream',
	extensions: ['bin'],
	name: 'a file of an unknown kind',
};

const known = [mp4, quickTime, svg, ...[...signatures, ...brands].map(([, type]) => type)];

/** The extensions of videos, without a dot. */
export const videoExtensions: ReadonlySet<string> = new Set(
	known.flatMap(({ kind, isAnimated, extensions }) =>
		kind === 'video' || isAnimated ? extensions : [],
	),
);

/**
 * What a file is, by its first bytes.
 * @param bytes the file, or at least {@link headLength} bytes of it
 * @returns undefined for nothing, and for bytes of no known type
 */
export function fileTypeOf(bytes: Uint8Array): FileType | undefined {
	if (bytes.length === 0) return undefined;
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headLength));
	const text = head.toString('latin1');
	const type = signatures.find(([signature]) => signature.test(text))?.[1];
	// A small PDF may have no other than text characters; a text may begin like a file.
	const isFile = type === pdf || (type && !isUtf8(head));
	if (isText(text) && !isFile) return base64Type(text) ?? textTypeOf(head);
	return type ?? boxesType(text);
}

const isUtf8 = (bytes: Buffer) => Buffer.from(bytes.toString('utf8')).equals(bytes);

/** The type of a file of boxes, such as an mp4; undefined for any other. */
function boxesType(text: string): FileType | undefined {
	const box = text.slice(4, 8);
	// QuickTime had no `ftyp` before it became the base of mp4.
	if (/^(moov|mdat|wide|pnot)$/.test(box)) return quickTime;
	if (/^(styp|moof|free|skip)$/.test(box)) return mp4;
	if (box !== 'ftyp') return undefined;
	const length = Buffer.from(text.slice(0, 4), 'latin1').readUInt32BE();
	const end = Math.min(Math.max(16, length), 400);
	const [first = '', , ...compatible] = text.slice(8, end).match(/[^]{4}/g) ?? [];
	const ofBrand = (brand: string) => brands.find(([candidate]) => candidate.test(brand))?.[1];
	const type = ofBrand(first) ?? compatible.map(ofBrand).find((one) => one?.kind === 'image');
	return type ?? (imageBrand.test(first) ? heic : mp4);
}

/** For base64 that holds a file of a known type; undefined for any other text. */
function base64Type(text: string): FileType | undefined {
	if (!/^[\w+/=\s-]{64,}$/.test(text)) return undefined;
	const held = fileTypeOf(Buffer.from(text, 'base64'));
	if (held === undefined || held.kind === 'text') return undefined;
	return { ...plainText, name: `${held.name} written as base64 text`, isEncoded: true };
}

/** Maximum characters of a media type (RFC 6838, 4.2), including the slash. */
const maxTypeLength = 255;

/**
 * What a file is said to be, for one whose bytes are of no known type.
 * @param declared its declared MIME type, which may have parameters
 * @returns undefined when that says nothing, or says what the bytes would have shown: a text, or an mp4
 */
export function declaredTypeOf(declared: string): FileType | undefined {
	const [mimeType] = declared
		.slice(0, maxTypeLength)
		.toLowerCase()
		.split(/[\s;,]/);
	const [, group, name] = /^([a-z]+)\/([\w.+-]{1,60})$/.exec(mimeType) ?? [];
	if (group === undefined || group === 'text' || /^(octet-stream|unknown)$/.test(name))
		return undefined;
	const type = known.findLast((one) => one.mimeType === mimeType);
	if (type === mp4 || type === quickTime) return undefined;
	if (type) return type;
	const kind = group === 'image' || group === 'video' || group === 'audio' ? group : 'other';
	const [extension = 'bin'] = /(?<![a-z\d])[a-z\d]+$/.exec(name) ?? [];
	return { kind, mimeType, extensions: [extension], name: `a file of the type ${mimeType}` };
}

/** Whether a file is declared as another type. A name that is not known here may be another one of its type. */
export function isOtherType(declared: string, { mimeType, kind }: FileType): boolean {
	if (declared === mimeType) return false;
	return !declared.startsWith(`${kind}/`) || known.some((one) => one.mimeType === declared);
}

/**
 * Why a file surely cannot be what a request needs; continues its name. What is only unusual has no problem.
 * @param head its first bytes, at least {@link headLength} of them
 * @param declared its declared MIME type, used when the bytes are of no known type
 */
export function wrongType(
	head: Uint8Array,
	declared: string,
	wanted: 'image' | 'video',
): string | undefined {
	if (head.length === 0) return 'is empty';
	const type = fileTypeOf(head) ?? declaredTypeOf(declared);
	const isRight = type?.kind === wanted || (wanted === 'video' && type?.isAnimated);
	return type === undefined || isRight ? undefined : `is ${type.name}, not ${withArticle[wanted]}`;
}

const withArticle = { image: 'an image', video: 'a video' } as const;

/** How a file is delivered: as what its bytes show, or else as what it is declared to be. */
export const typeToDeliver = (bytes: Uint8Array, declared = ''): FileType =>
	fileTypeOf(bytes) ?? declaredTypeOf(declared) ?? unknownFile;
