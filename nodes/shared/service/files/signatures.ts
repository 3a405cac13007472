export interface FileType {
	kind: 'image' | 'video' | 'audio' | 'text' | 'other';
	mimeType: string;
	/** Without a dot, the usual one first. */
	extensions: readonly [string, ...string[]];
	/** In words, with an article where it has one. */
	name: string;
	isAnimated?: true;
	/** Whether a text holds the bytes of a file. */
	isEncoded?: true;
}

const typeOf =
	(kind: FileType['kind']) =>
	(mimeType: string, name: string, ...extensions: FileType['extensions']): FileType => ({
		kind,
		mimeType,
		name,
		extensions,
	});
const image = typeOf('image');
const video = typeOf('video');
const audio = typeOf('audio');
const text = typeOf('text');
const animation = (type: FileType, name: string): FileType => ({ ...type, name, isAnimated: true });

const png = image('image/png', 'a PNG image', 'png', 'apng');
const webp = image('image/webp', 'a WebP image', 'webp');
const avif = image('image/avif', 'an AVIF image', 'avif');
const heic = image('image/heic', 'a HEIC image', 'heic', 'heif');
export const mp4 = video('video/mp4', 'an mp4 video', 'mp4', 'm4v');
export const quickTime = video('video/quicktime', 'a QuickTime video', 'mov', 'qt');
export const pdf = typeOf('other')('application/pdf', 'a PDF', 'pdf');

export const svg = image('image/svg+xml', 'an SVG image', 'svg');
export const plainText = text('text/plain', 'a text', 'txt');
export const dataUrl: FileType = { ...plainText, name: 'the text of a data URL', isEncoded: true };
export const webPage = text('text/html', 'a web page', 'html');
export const xml = text('application/xml', 'an XML document', 'xml');
export const json = text('application/json', 'JSON', 'json');

/* eslint no-control-regex: 'off' -- Many signatures consist of control characters. */

/** The first bytes of what people send and services make, read as Latin-1. The first match counts. */
export const signatures: ReadonlyArray<readonly [signature: RegExp, type: FileType]> = [
	// The chunk acTL is 8 bytes long, and comes before the image data.
	[/^\x89PNG\r\n(?:(?!IDAT)[^])*?\0\0\0\x08acTL/, animation(png, 'an animated PNG')],
	[/^\x89PNG\r\n/, png],
	[/^\xff\xd8\xff/, image('image/jpeg', 'a JPEG image', 'jpg', 'jpeg')],
	[/^GIF8[79]a/, animation(image('image/gif', 'a GIF', 'gif'), 'a GIF')],
	// A byte of flags follows VP8X and its length; bit 2 marks an animation.
	[
		/^RIFF[^]{4}WEBPVP8X[^]{4}[\x02\x03\x06\x07\x0a\x0e\x12\x16\x1a\x1e\x22\x26\x2a\x2e\x32\x36\x3a\x3e]/,
		animation(webp, 'a WebP animation'),
	],
	[/^RIFF[^]{4}WEBP/, webp],
	[/^RIFF[^]{4}AVI /, video('video/x-msvideo', 'an AVI video', 'avi')],
	[/^RIFF[^]{4}WAVE/, audio('audio/wav', 'a WAV sound', 'wav')],
	[/^(ID3[\x02-\x04]|\xff[\xe3\xf2\xf3\xfa\xfb])/, audio('audio/mpeg', 'an MP3 sound', 'mp3')],
	// The document type is an element with a size of one to eight bytes. Without it, the file is most likely WebM.
	[
		/^\x1aE\xdf\xa3[^]{0,100}?B\x82[^a-z]{1,8}matroska/,
		video('video/x-matroska', 'a Matroska video', 'mkv'),
	],
	[/^\x1aE\xdf\xa3/, video('video/webm', 'a WebM video', 'webm')],
	[/^(\xef\xbb\xbf)?\s*%PDF-/, pdf],
	// A file of boxes, by its first brand (ISO/IEC 14496-12, 4.3), or its others where the first only says "an image".
	[/^[^]{4}ftyp(avis)/, animation(avif, 'an AVIF animation')],
	[/^[^]{4}ftyp(avif|(mif|mia|msf|MiH)[^]([^]{4}){1,90}?avif)/, avif],
	[/^[^]{4}ftyp(he[iv]|mif|mia|msf|MiH)/, heic],
	[/^[^]{4}ftyp(M4[ABP]|F4[AB]) /, audio('audio/mp4', 'an M4A sound', 'm4a')],
	// QuickTime had no `ftyp` before it became the base of mp4.
	[/^[^]{4}(ftypqt {2}|moov|mdat|wide|pnot)/, quickTime],
	[/^[^]{4}(ftyp|styp|moof|free|skip)/, mp4],
];
