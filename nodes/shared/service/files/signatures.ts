/** What a file is. */
export interface FileType {
	kind: 'image' | 'video' | 'audio' | 'text' | 'other';
	mimeType: string;
	/** Its extensions without a dot, the usual one first. */
	extensions: readonly [string, ...string[]];
	/** In words, with an article where it has one. */
	name: string;
	/** Whether an image is an animation. */
	isAnimated?: true;
	/** Whether a text holds the bytes of a file. */
	isEncoded?: true;
}

const typeOf =
	(kind: FileType['kind']) =>
	(mimeType: string, name: string, ...extensions: FileType['extensions']): FileType => ({
		...{ kind, mimeType, name, extensions },
	});
const image = typeOf('image');
const video = typeOf('video');
const audio = typeOf('audio');
const other = typeOf('other');
const text = typeOf('text');

export const mp4 = video('video/mp4', 'an mp4 video', 'mp4', 'm4v');
export const quickTime = video('video/quicktime', 'a QuickTime video', 'mov', 'qt');
const webp = image('image/webp', 'a WebP image', 'webp');
const avif = image('image/avif', 'an AVIF image', 'avif');
export const heic = image('image/heic', 'a HEIC image', 'heic', 'heif');
export const pdf = other('application/pdf', 'a PDF', 'pdf');

export const plainText = text('text/plain', 'a text', 'txt');
export const dataUrl: FileType = { ...plainText, name: 'the text of a data URL', isEncoded: true };
export const webPage = text('text/html', 'a web page', 'html');
export const xml = text('application/xml', 'an XML document', 'xml');
export const json = text('application/json', 'JSON', 'json');
/** The image that is written as text. */
export const svg = image('image/svg+xml', 'an SVG image', 'svg');

/* eslint no-control-regex: 'off' -- Many signatures consist of control characters. */

/**
 * The first bytes of what people send and services make, read as Latin-1. The first match counts. A file that begins
 * otherwise is what it is declared to be.
 */
export const signatures: ReadonlyArray<readonly [signature: RegExp, type: FileType]> = [
	// The chunk acTL is 8 bytes long, and comes before the image data.
	[
		/^\x89PNG\r\n(?:(?!IDAT)[^])*?\0\0\0\x08acTL/,
		{ ...image('image/png', 'an animated PNG', 'png', 'apng'), isAnimated: true },
	],
	[/^\x89PNG\r\n/, image('image/png', 'a PNG image', 'png')],
	[/^\xff\xd8\xff/, image('image/jpeg', 'a JPEG image', 'jpg', 'jpeg')],
	[/^GIF8[79]a/, { ...image('image/gif', 'a GIF', 'gif'), isAnimated: true }],
	[
		/^RIFF[^]{4}WEBPVP8X[^]{4}[\x02\x03\x06\x07\x0a\x0e\x12\x16\x1a\x1e\x22\x26\x2a\x2e\x32\x36\x3a\x3e]/,
		{ ...webp, name: 'a WebP animation', isAnimated: true },
	],
	[/^RIFF[^]{4}WEBP/, webp],
	[/^(II\*\0|MM\0\*)/, image('image/tiff', 'a TIFF image', 'tiff', 'tif')],
	[/^BM[^]{4}\0\0\0\0/, image('image/bmp', 'a BMP image', 'bmp')],
	// The type of document is an element with a size of one to eight bytes. Without it, the file is most likely WebM.
	[
		/^\x1aE\xdf\xa3[^]{0,100}?B\x82[^a-z]{1,8}matroska/,
		video('video/x-matroska', 'a Matroska video', 'mkv'),
	],
	[/^\x1aE\xdf\xa3/, video('video/webm', 'a WebM video', 'webm')],
	[/^RIFF[^]{4}AVI /, video('video/x-msvideo', 'an AVI video', 'avi')],
	[/^G[^]{187}G[^]{187}G/, video('video/mp2t', 'an MPEG transport stream', 'ts', 'mts')],
	[/^\0\0\x01[\xba\xb3]/, video('video/mpeg', 'an MPEG video', 'mpg', 'mpeg')],
	[/^FLV\x01/, video('video/x-flv', 'a Flash video', 'flv')],
	[/^OggS\0/, video('video/ogg', 'an Ogg file', 'ogv', 'ogg')],
	[/^(ID3[\x02-\x04]|\xff[\xe3\xf2\xf3\xfa\xfb])/, audio('audio/mpeg', 'an MP3 sound', 'mp3')],
	[/^RIFF[^]{4}WAVE/, audio('audio/wav', 'a WAV sound', 'wav')],
	[/^(\xef\xbb\xbf)?\s*%PDF-/, pdf],
	[/^PK\x03\x04/, other('application/zip', 'a ZIP archive or an Office document', 'zip')],
];

/** The brands of a file of boxes (ISO/IEC 14496-12, 4.3). Its other brands count only where the first says nothing. */
export const brands: ReadonlyArray<readonly [brand: RegExp, type: FileType]> = [
	[/^avis/, { ...avif, name: 'an AVIF animation', isAnimated: true }],
	[/^avif/, avif],
	[/^he(ic|ix|im|is|vc|vx|vm|vs)/, heic],
	[/^M4[ABP] |^F4[AB] /, audio('audio/mp4', 'an M4A sound', 'm4a')],
	[/^qt {2}/, quickTime],
	[/^(isom|iso\d|mp4\d|avc1|dash|M4V|3g)/, mp4],
];
/** First brands that only say "an image" (ISO/IEC 23008-12, 10.2). */
export const imageBrand = /^(mif1|mif2|msf1|miaf|MiHB|MiHE)/;
