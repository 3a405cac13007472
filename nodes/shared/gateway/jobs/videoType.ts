import { Mp4Boxes } from './mp4';

/** A kind of video file. */
export interface VideoType {
	mimeType: string;
	/** Its extensions without a dot, the usual one first. */
	extensions: readonly [string, ...string[]];
	/** In words, with an article. */
	kind: string;
}

/** Maximum characters of a media type (RFC 6838, 4.2), including the slash. */
const maxTypeLength = 255;

/** How many bytes are enough to recognize every kind: three packets of a transport stream. */
export const headLength = 512;

const videoType = (
	mimeType: string,
	kind: string,
	...extensions: VideoType['extensions']
): VideoType => ({ mimeType, kind, extensions });

const mp4 = videoType('video/mp4', 'an mp4 video', 'mp4', 'm4v');
const quickTime = videoType('video/quicktime', 'a QuickTime video', 'mov', 'qt');
const transportStream = videoType('video/mp2t', 'an MPEG transport stream', 'ts', 'mts', 'm2ts');
const matroska = videoType('video/x-matroska', 'a Matroska video', 'mkv');
const webm = videoType('video/webm', 'a WebM video', 'webm');
const mpeg = videoType('video/mpeg', 'an MPEG video', 'mpg', 'mpeg');
const avi = videoType('video/x-msvideo', 'an AVI video', 'avi');
const flash = videoType('video/x-flv', 'a Flash video', 'flv');
const ogg = videoType('video/ogg', 'an Ogg video', 'ogv', 'ogg');
const gif = videoType('image/gif', 'a GIF animation', 'gif');
const webp = videoType('image/webp', 'a WebP animation', 'webp');

/** The first bytes of each kind, read as Latin-1. {@link Mp4Boxes} recognizes an mp4 before these are tried. */
const signatures: Array<[signature: RegExp, type: VideoType]> = [
	[/^\x1aE\xdf\xa3[^]*matroska/, matroska],
	// If the kind of document is not within the first bytes, it is most likely WebM.
	[/^\x1aE\xdf\xa3([^]*webm|[^]{500})/, webm],
	[/^G[^]{187}G[^]{187}G/, transportStream],
	// The same with a time stamp before each packet.
	[/^[^]{4}G[^]{191}G[^]{191}G/, transportStream],
	[/^\0\0\x01[\xba\xb3]/, mpeg],
	[/^RIFF[^]{4}AVI /, avi],
	[/^FLV\x01/, flash],
	[/^OggS\0/, ogg],
	[/^GIF8[79]a/, gif],
	[/^RIFF[^]{4}WEBPVP8X[^]*ANIM/, webp],
];

const known = [mp4, quickTime, ...signatures.map(([, type]) => type)];

/** The extensions of all kinds, without a dot. */
export const videoExtensions: ReadonlySet<string> = new Set(
	known.flatMap(({ extensions }) => extensions),
);

/**
 * The kind of a video by its first bytes. The specification states only for the passthrough result that it is an mp4
 * ("Resources", poll response), so every other kind is accepted too.
 * @param head the bytes that have arrived, at most {@link headLength}
 * @param contentType what the storage host declares, used when the bytes are of no known kind and do not contradict it
 * @returns undefined for what is no video, such as a text, whatever the storage host declares; and while too few bytes
 * have arrived
 */
export function videoTypeOf(head: Uint8Array, contentType = ''): VideoType | undefined {
	if (head.length < 12 || isTextFile(head)) return undefined;
	const text = Buffer.from(head).toString('latin1');
	const boxes = new Mp4Boxes();
	boxes.push(head);
	// QuickTime had no `ftyp` before it became the base of mp4.
	if (boxes.isMp4) return /^[^]{4}(ftypqt {2}|moov|mdat|wide|pnot)/.test(text) ? quickTime : mp4;
	const [, type] = signatures.find(([signature]) => signature.test(text)) ?? [];
	if (type !== undefined || head.length < headLength) return type;
	const [declared] = contentType.slice(0, maxTypeLength).toLowerCase().split(/[\s;]/);
	// The boxes of an mp4 or QuickTime file would have been found.
	const isContradicted = [mp4, quickTime].some(({ mimeType }) => mimeType === declared);
	return declared.startsWith('video/') && !isContradicted ? typeFromMime(declared) : undefined;
}

/** Undefined when it is not the MIME type, in lower case, of a video. */
export function typeFromMime(mimeType: string): VideoType | undefined {
	const type = known.find((one) => one.mimeType === mimeType);
	if (type || !/^video\/[\w.+-]{1,60}$/.test(mimeType)) return type;
	const [extension] = /(?<![a-z\d])[a-z\d]+$/.exec(mimeType) ?? [];
	if (extension === undefined) return undefined;
	return { mimeType, kind: `a video of the type ${mimeType}`, extensions: [extension] };
}

/** Whether the first bytes are those of a text; in UTF-16, it begins with a byte order mark. */
export function isTextFile(head: Uint8Array): boolean {
	return /^(\xff\xfe|\xfe\xff|[^\0-\x08]*$)/.test(Buffer.from(head).toString('latin1'));
}
