import {
	dataUrl,
	json,
	mp4,
	pdf,
	plainText,
	quickTime,
	signatures,
	svg,
	webPage,
	xml,
	type FileType,
} from './signatures';

export type { FileType } from './signatures';

/** In bytes: enough to recognize every type. */
export const headLength = 16 * 1024;

export async function headOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const read: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of chunks) {
		read.push(chunk);
		length += chunk.length;
		if (length >= headLength) break;
	}
	return Buffer.concat(read);
}

const unknownFile: FileType = {
	kind: 'other',
	mimeType: 'application/octet-stream',
	extensions: ['bin'],
	name: 'a file of an unknown kind',
};

const known = [svg, ...signatures.map(([, type]) => type)];

export const videoExtensions: ReadonlySet<string> = new Set(
	known.flatMap((type) => (isKind(type, 'video') ? type.extensions : [])),
);

/** An animation is a video, too. */
export function isKind({ kind, isAnimated }: FileType, wanted: FileType['kind']): boolean {
	return kind === wanted || (wanted === 'video' && isAnimated === true);
}

/** @param bytes the file, or at least {@link headLength} bytes of it */
export function fileTypeOf(bytes: Uint8Array): FileType | undefined {
	if (bytes.length === 0) return undefined;
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headLength));
	const text = head.toString('latin1');
	const type = signatures.find(([signature]) => signature.test(text))?.[1];
	// A text may begin like a file: "GIF89a is a format". Only a PDF may be nothing but text.
	const isFile = type === pdf || (type && !isUtf8(head));
	const isText = !isFile && /^[^\0-\b]*$/.test(text);
	return isText ? (base64Type(text) ?? textTypeOf(head.toString('utf8'))) : type;
}

const isUtf8 = (bytes: Buffer) => Buffer.from(bytes.toString('utf8')).equals(bytes);

/** For base64 that holds a file of a known type. */
function base64Type(text: string): FileType | undefined {
	if (!/^[\w+/=\s-]{64,}$/.test(text)) return undefined;
	const held = fileTypeOf(Buffer.from(text, 'base64'));
	if (held === undefined || held.kind === 'text') return undefined;
	return { ...plainText, name: `${held.name} written as base64 text`, isEncoded: true };
}

/** A page may begin with these when it leaves out its root. */
const pageElements = /^(html|head|body|title|meta|script|style|link|div|p|h1|center|iframe)$/i;

function textTypeOf(head: string): FileType {
	const text = head.replace(/^\ufeff/, '').trimStart();
	if (/^[[{]\s*(["{}[\]\d]|-\d|true|false|null)/.test(text)) return json;
	if (/^data:[\w.+-]+\/[\w.+-]+[;,]/i.test(text)) return dataUrl;
	if (!text.startsWith('<')) return plainText;
	const markup = text.replace(/<!--(?:(?!-->)[^])*(?:-->|$)/g, '').trimStart();
	const [, root = ''] = /<(?:[a-z][\w.-]*:)?([a-z][\w.-]*)/i.exec(markup) ?? [];
	if (/^<!DOCTYPE\s+html/i.test(markup) || pageElements.test(root)) return webPage;
	if (root === 'svg') return svg;
	return root !== '' || text.startsWith('<?xml') ? xml : plainText;
}

/** In characters (RFC 6838, 4.2). */
const maxTypeLength = 255;

/**
 * The type of a file whose bytes are of no known type.
 * @param declared a MIME type, which may have parameters
 * @returns undefined when it says nothing, or what the bytes would have shown: a text, or an mp4
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
	if (type) return type === mp4 || type === quickTime ? undefined : type;
	const kind = group === 'image' || group === 'video' || group === 'audio' ? group : 'other';
	const [extension = 'bin'] = /(?<![a-z\d])[a-z\d]+$/.exec(name) ?? [];
	return { kind, mimeType, extensions: [extension], name: `a file of the type ${mimeType}` };
}

/** Whether a file is declared as another type; a name that is unknown here may be another one of its own. */
export function isOtherType(declared: string, { mimeType, kind }: FileType): boolean {
	if (declared === mimeType) return false;
	return !declared.startsWith(`${kind}/`) || known.some((one) => one.mimeType === declared);
}

export const withArticle = { image: 'an image', video: 'a video', audio: 'a sound' } as const;

/**
 * Why a file surely cannot be what a request needs; continues its name.
 * @param head at least {@link headLength} of its bytes
 * @param declared its MIME type, used when the bytes are of no known type
 */
export function wrongType(
	head: Uint8Array,
	declared: string,
	wanted: 'image' | 'video',
): string | undefined {
	if (head.length === 0) return 'is empty';
	const type = fileTypeOf(head) ?? declaredTypeOf(declared);
	if (type === undefined || isKind(type, wanted)) return undefined;
	return `is ${type.name}, not ${withArticle[wanted]}`;
}

export const typeToDeliver = (bytes: Uint8Array, declared = ''): FileType =>
	fileTypeOf(bytes) ?? declaredTypeOf(declared) ?? unknownFile;
