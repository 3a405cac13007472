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
const animated = (...type: Parameters<typeof image>): FileType => ({
	...image(...type),
	isAnimated: true,
});

export const mp4 = video('video/mp4', 'an mp4 video', 'mp4', 'm4v');
export const quickTime = video('video/quicktime', 'a QuickTime video', 'mov', 'qt');
const matroska = video('video/x-matroska', 'a Matroska video', 'mkv');
const webm = video('video/webm', 'a WebM video', 'webm');
const transportStream = video('video/mp2t', 'an MPEG transport stream', 'ts', 'mts', 'm2ts');
const ogg = video('video/ogg', 'an Ogg video', 'ogv', 'ogg');
const jpeg2000 = image('image/jp2', 'a JPEG 2000 image', 'jp2', 'jpx', 'j2k');
const jpegXl = image('image/jxl', 'a JPEG XL image', 'jxl');
const avif = image('image/avif', 'an AVIF image', 'avif');
export const heic = image('image/heic', 'a HEIC image', 'heic', 'heif');
export const pdfSignature = /^(\xef\xbb\xbf)?\s*%PDF-/;

/* eslint no-control-regex: 'off' -- Many signatures consist of control characters. */

/** The first bytes of the types that are no text, read as Latin-1. The first match counts. */
export const signatures: ReadonlyArray<readonly [signature: RegExp, type: FileType]> = [
	// The chunk acTL is 8 bytes long, and comes before the image data.
	[
		/^\x89PNG\r\n(?:(?!IDAT)[^])*?\0\0\0\x08acTL/,
		animated('image/png', 'an animated PNG', 'png', 'apng'),
	],
	[/^\x89PNG\r\n/, image('image/png', 'a PNG image', 'png')],
	[/^\xff\xd8\xff/, image('image/jpeg', 'a JPEG image', 'jpg', 'jpeg')],
	[/^GIF8[79]a/, animated('image/gif', 'a GIF', 'gif')],
	[
		/^RIFF[^]{4}WEBPVP8X[^]{4}[\x02\x03\x06\x07\x0a\x0e\x12\x16\x1a\x1e\x22\x26\x2a\x2e\x32\x36\x3a\x3e]/,
		animated('image/webp', 'a WebP animation', 'webp'),
	],
	[/^RIFF[^]{4}WEBP/, image('image/webp', 'a WebP image', 'webp')],
	[/^(\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n)/, jpegXl],
	[/^(\xff\x4f\xff\x51|\0\0\0\x0cjP {2}\r\n\x87\n)/, jpeg2000],
	// Of a BigTIFF, the version is 43 instead of 42.
	[/^(II[*+]\0|MM\0[*+])/, image('image/tiff', 'a TIFF image', 'tiff', 'tif')],
	[/^BM[^]{4}\0\0\0\0/, image('image/bmp', 'a BMP image', 'bmp')],
	[/^\0\0\x01\0[^\0]\0/, image('image/x-icon', 'an ICO image', 'ico')],
	[/^8BPS\0[\x01\x02]/, image('image/vnd.adobe.photoshop', 'a Photoshop image', 'psd')],
	[/^II\xbc\x01/, image('image/jxr', 'a JPEG XR image', 'jxr')],
	[/^qoif/, image('image/qoi', 'a QOI image', 'qoi')],
	[/^\x76\x2f\x31\x01/, image('image/x-exr', 'an OpenEXR image', 'exr')],
	[/^P[4-7]\s/, image('image/x-portable-anymap', 'a PNM image', 'pnm', 'ppm', 'pgm', 'pbm')],
	// The type of document is an element with a size of one to eight bytes. Without it, the file is most likely WebM.
	[/^\x1aE\xdf\xa3[^]{0,100}?B\x82[^a-z]{1,8}matroska/, matroska],
	[/^\x1aE\xdf\xa3/, webm],
	[/^G[^]{187}G[^]{187}G/, transportStream],
	// The same with a time stamp before each packet.
	[/^[^]{4}G[^]{191}G[^]{191}G/, transportStream],
	[/^\0\0\x01[\xba\xb3]/, video('video/mpeg', 'an MPEG video', 'mpg', 'mpeg')],
	[/^RIFF[^]{4}AVI /, video('video/x-msvideo', 'an AVI video', 'avi')],
	[/^FLV\x01/, video('video/x-flv', 'a Flash video', 'flv')],
	[/^0&\xb2u\x8ef\xcf\x11/, video('video/x-ms-wmv', 'a Windows Media video', 'wmv', 'asf')],
	[/^\x06\x0e\x2b\x34\x02\x05\x01\x01/, video('application/mxf', 'an MXF video', 'mxf')],
	[/^YUV4MPEG2 /, video('video/x-yuv4mpeg', 'a YUV4MPEG video', 'y4m')],
	[/^OggS\0[^]*?\x80theora/, ogg],
	[
		/^OggS\0[^]*?(\x01vorbis|OpusHead|\x7fFLAC|Speex {3})/,
		audio('audio/ogg', 'an Ogg sound', 'ogg', 'oga', 'opus'),
	],
	[/^OggS\0/, ogg],
	[/^(ID3[\x02-\x04]|\xff[\xe3\xf2\xf3\xfa\xfb])/, audio('audio/mpeg', 'an MP3 sound', 'mp3')],
	[/^\xff[\xf0\xf1\xf8\xf9]/, audio('audio/aac', 'an AAC sound', 'aac')],
	[/^(RIFF|RF64)[^]{4}WAVE/, audio('audio/wav', 'a WAV sound', 'wav')],
	[/^fLaC/, audio('audio/flac', 'a FLAC sound', 'flac')],
	[/^FORM[^]{4}AIF[FC]/, audio('audio/aiff', 'an AIFF sound', 'aiff', 'aif')],
	[/^#!AMR/, audio('audio/amr', 'an AMR sound', 'amr')],
	[/^MThd/, audio('audio/midi', 'a MIDI file', 'mid')],
	[pdfSignature, other('application/pdf', 'a PDF', 'pdf')],
	[
		/^PK(\x03\x04|\x05\x06|\x07\x08)/,
		other('application/zip', 'a ZIP archive or an Office document', 'zip'),
	],
	[/^\x1f\x8b\x08/, other('application/gzip', 'a gzip archive', 'gz')],
	[/^7z\xbc\xaf\x27\x1c/, other('application/x-7z-compressed', 'a 7-Zip archive', '7z')],
	[/^Rar!\x1a\x07/, other('application/x-rar-compressed', 'a RAR archive', 'rar')],
	[/^BZh[1-9]1AY&SY/, other('application/x-bzip2', 'a bzip2 archive', 'bz2')],
	[/^\xfd7zXZ\0/, other('application/x-xz', 'an xz archive', 'xz')],
	[/^\x28\xb5\x2f\xfd/, other('application/zstd', 'a Zstandard archive', 'zst')],
	[/^[^]{257}ustar/, other('application/x-tar', 'a tar archive', 'tar')],
	[
		/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/,
		other('application/x-cfb', 'an old Office document', 'cfb'),
	],
	[
		/^(\x7fELF|MZ[^]\0|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe)/,
		other('application/x-executable', 'a program', 'bin'),
	],
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
