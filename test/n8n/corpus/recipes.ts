import { documents } from './documents';
import {
	cutAtHalf,
	motionPhoto,
	untilBox,
	withBrand,
	withChunk,
	withEmptySegments,
	withPictureIndex,
	withThumbnail,
} from './edits';

/** What a file is, as far as it decides what becomes of it. */
export type Kind =
	| 'picture'
	| 'picture without a signature'
	| 'animation'
	| 'JPEG with more behind it'
	| 'picture that is cut'
	| 'clip'
	| 'rare clip'
	| 'clip without its index'
	| 'clip that is cut'
	| 'sound'
	| 'web page'
	| 'XML'
	| 'JSON'
	| 'text'
	| 'PDF'
	| 'archive'
	| 'program'
	| 'unknown bytes'
	| 'empty file';

/** How a file of the corpus is made. */
export interface Recipe {
	kind: Kind;
	/** Its true MIME types, the usual one first. */
	types: readonly [string, ...string[]];
	/** The endings under which it is known; by default the one of its name. */
	endings?: string[];
	/** A command, or the bytes, which may come from a file that an earlier recipe made. */
	make: string | ((made: (name: string) => Buffer) => Buffer);
}

/** The Debian packages of the commands. */
export const packages = {
	ffmpeg: 'ffmpeg',
	avifenc: 'libavif-bin',
	'heif-enc': 'libheif-examples',
	identify: 'imagemagick',
	cjxl: 'libjxl-tools',
	'gst-launch-1.0': 'gstreamer1.0-tools',
};
/** Those without a command: the elements that GStreamer needs to write WebM. */
export const libraries = ['gstreamer1.0-plugins-base', 'gstreamer1.0-plugins-good'];

/** `convert` of ImageMagick; the last option may name the format, as in `PNG48:`. */
const drawn = (options = '') => `convert -size 96x72 -seed 1 plasma:red-blue ${options}`;
const frames = (count = 10) =>
	`ffmpeg -v error -f lavfi -i testsrc2=size=96x72:rate=10 -frames:v ${count}`;
const filmed = (options: string) =>
	`ffmpeg -v error -f lavfi -i testsrc2=size=96x72:rate=25 -f lavfi -i sine -t 1 ${options}`;
const streamed = (muxer: string) =>
	`gst-launch-1.0 -q videotestsrc num-buffers=10 ! video/x-raw,width=96,height=72 ! vp8enc ! ${muxer} ! filesink location=`;
const played = (options = '') => `ffmpeg -v error -f lavfi -i sine=duration=1 ${options}`;
const h264 = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac';

const png = ['image/png'] as const;
const jpeg = ['image/jpeg'] as const;
const heif = ['image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence'] as const;
const tiff = ['image/tiff'] as const;
const svg = ['image/svg+xml'] as const;
const mp4 = ['video/mp4'] as const;
const transportStream = ['video/mp2t'] as const;

const files = (kind: Kind, made: Record<string, Omit<Recipe, 'kind'>>) =>
	Object.entries(made).map(([name, recipe]): [string, Recipe] => [name, { kind, ...recipe }]);

const svgText =
	'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>';
const svgOf = (text: string, encoding: BufferEncoding = 'utf8') => ({
	types: svg,
	make: () => Buffer.from(text, encoding),
});

/** Every file by its name, in the order in which they are made. */
export const recipes: ReadonlyArray<[name: string, recipe: Recipe]> = [
	...files('picture', {
		'plain.png': { types: png, make: drawn('-depth 8 ') },
		'16-bit.png': { types: png, make: drawn('-depth 16 PNG48:') },
		'palette.png': { types: png, make: drawn('-colors 16 PNG8:') },
		'interlaced.png': { types: png, make: drawn('-interlace PNG ') },
		'metadata.png': { types: png, make: (made) => withChunk(made('plain.png'), 300_000) },
		'baseline.jpg': { types: jpeg, make: drawn() },
		'progressive.jpg': { types: jpeg, make: drawn('-interlace JPEG ') },
		'cmyk.jpg': { types: jpeg, make: drawn('-colorspace CMYK ') },
		'grey.jpg': { types: jpeg, make: drawn('-colorspace Gray ') },
		'thumbnail.jpg': { types: jpeg, make: (made) => withThumbnail(made('baseline.jpg')) },
		'index-of-one.jpg': { types: jpeg, make: (made) => withPictureIndex(made('baseline.jpg')) },
		'empty-segments.jpg': {
			types: jpeg,
			make: (made) => withEmptySegments(made('baseline.jpg'), 500_000),
		},
		'still.gif': { types: ['image/gif'], make: drawn() },
		'lossy.webp': { types: ['image/webp'], make: `${frames(1)} -c:v libwebp` },
		'lossless.webp': { types: ['image/webp'], make: `${frames(1)} -c:v libwebp -lossless 1` },
		'plain.avif': { types: ['image/avif'], make: 'avifenc --speed 10 plain.png' },
		'mif1.avif': { types: ['image/avif'], make: (made) => withBrand(made('plain.avif'), 'mif1') },
		'miaf.avif': { types: ['image/avif'], make: (made) => withBrand(made('plain.avif'), 'miaf') },
		'plain.heic': { types: heif, endings: ['heic', 'heif'], make: 'heif-enc plain.png -o' },
		'mif1.heic': {
			types: heif,
			endings: ['heic', 'heif'],
			make: (made) => withBrand(made('plain.heic'), 'mif1'),
		},
		'msf1.heic': {
			types: heif,
			endings: ['heic', 'heif'],
			make: (made) => withBrand(made('plain.heic'), 'msf1'),
		},
		'codestream.jxl': { types: ['image/jxl'], make: 'cjxl plain.png --quiet' },
		'container.jxl': { types: ['image/jxl'], make: 'cjxl --container=1 plain.png --quiet' },
		'plain.jp2': { types: ['image/jp2'], make: drawn() },
		'codestream.j2k': {
			types: ['image/j2c', 'image/jp2', 'image/j2k'],
			endings: ['j2k', 'j2c', 'jp2'],
			make: drawn(),
		},
		'little-endian.tiff': {
			types: tiff,
			endings: ['tiff', 'tif'],
			make: drawn('-define tiff:endian=lsb '),
		},
		'big-endian.tiff': {
			types: tiff,
			endings: ['tiff', 'tif'],
			make: drawn('-define tiff:endian=msb '),
		},
		'big.tiff': { types: tiff, endings: ['tiff', 'tif'], make: drawn('TIFF64:') },
		'plain.bmp': { types: ['image/bmp'], make: drawn() },
		'plain.ico': {
			types: ['image/x-icon', 'image/vnd.microsoft.icon'],
			make: drawn('-resize 32x32 '),
		},
		'plain.psd': {
			types: ['image/vnd.adobe.photoshop', 'image/x-photoshop', 'image/psd'],
			make: drawn(),
		},
		'plain.svg': svgOf(svgText),
		'comment.svg': svgOf(`<!-- ${'drawn by hand '.repeat(60)}-->\n${svgText}`),
		'mark.svg': svgOf(`\ufeff${svgText}`),
		'doctype.svg': svgOf(
			`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n${svgText}`,
		),
		'declaration.svg': svgOf(`<?xml version="1.0" encoding="UTF-8"?>\n${svgText}`),
		'utf-16.svg': svgOf(`\ufeff${svgText}`, 'utf16le'),
	}),
	...files('picture without a signature', {
		'plain.tga': { types: ['image/x-tga', 'image/tga', 'image/x-targa'], make: drawn() },
	}),
	...files('animation', {
		'animated.gif': { types: ['image/gif'], make: frames() },
		'animated.png': {
			types: ['image/png', 'image/apng'],
			endings: ['png', 'apng'],
			make: `${frames()} -f apng`,
		},
		'animated.webp': { types: ['image/webp'], make: `${frames()} -c:v libwebp_anim` },
		'animated.avif': {
			types: ['image/avif', 'image/avif-sequence'],
			make: `${frames(3)} -c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p`,
		},
	}),
	...files('picture that is cut', {
		'cut.png': { types: png, make: (made) => cutAtHalf(made('plain.png')) },
		'cut.jpg': { types: jpeg, make: (made) => cutAtHalf(made('baseline.jpg')) },
		'cut.webp': { types: ['image/webp'], make: (made) => cutAtHalf(made('lossy.webp')) },
	}),
	...files('clip', {
		'h264.mp4': { types: mp4, make: filmed(h264) },
		'faststart.mp4': { types: mp4, make: filmed(`${h264} -movflags faststart`) },
		'fragmented.mp4': {
			types: mp4,
			make: filmed(`${h264} -movflags frag_keyframe+empty_moov+default_base_moof`),
		},
		'h265.mp4': {
			types: mp4,
			make: `${frames()} -c:v libx265 -preset ultrafast -x265-params log-level=none -tag:v hvc1`,
		},
		'av1.mp4': { types: mp4, make: `${frames(3)} -c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p` },
		'plain.mov': { types: ['video/quicktime'], make: filmed(h264) },
		'plain.m4v': {
			types: ['video/mp4', 'video/x-m4v'],
			endings: ['m4v', 'mp4'],
			make: filmed(`${h264} -f ipod`),
		},
		'plain.3gp': {
			types: ['video/3gpp', 'video/mp4'],
			endings: ['3gp', 'mp4'],
			make: `${frames()} -c:v mpeg4`,
		},
		'ffmpeg.webm': { types: ['video/webm'], make: `${frames()} -c:v libvpx -deadline realtime` },
		'gstreamer.webm': { types: ['video/webm'], make: streamed('webmmux') },
		'streamable.webm': { types: ['video/webm'], make: streamed('webmmux streamable=true') },
		'plain.mkv': { types: ['video/x-matroska', 'video/matroska'], make: filmed(h264) },
		'plain.avi': { types: ['video/x-msvideo', 'video/vnd.avi', 'video/avi'], make: filmed('') },
		'plain.ts': { types: transportStream, make: filmed('') },
		'plain.m2ts': {
			types: transportStream,
			endings: ['m2ts', 'mts', 'ts'],
			make: filmed('-mpegts_m2ts_mode 1 -f mpegts'),
		},
		'plain.mpg': {
			types: ['video/mpeg', 'video/mp2p'],
			endings: ['mpg', 'mpeg'],
			make: filmed(''),
		},
		'plain.flv': { types: ['video/x-flv'], make: filmed(`${h264} -ar 44100`) },
		'plain.ogv': { types: ['video/ogg'], make: `${frames()} -c:v libtheora` },
		'plain.wmv': {
			types: ['video/x-ms-wmv', 'video/x-ms-asf'],
			endings: ['wmv', 'asf'],
			make: filmed(''),
		},
	}),
	...files('rare clip', {
		'plain.mxf': {
			types: ['application/mxf', 'video/mxf'],
			make: `${frames()} -c:v mpeg2video -r 25`,
		},
		'plain.y4m': {
			types: ['video/x-yuv4mpeg', 'video/x-raw-yuv'],
			make: `${frames(2)} -pix_fmt yuv420p`,
		},
	}),
	...files('JPEG with more behind it', {
		'two-pictures.jpg': {
			types: jpeg,
			make: (made) => withPictureIndex(made('baseline.jpg'), made('grey.jpg')),
		},
		'motion-photo.jpg': {
			types: jpeg,
			make: (made) => motionPhoto(made('baseline.jpg'), made('h264.mp4')),
		},
	}),
	...files('clip without its index', {
		'no-index.mp4': { types: mp4, make: (made) => untilBox(made('h264.mp4'), 'moov') },
		'only-brands.mp4': { types: mp4, make: (made) => untilBox(made('h264.mp4'), 'free') },
	}),
	...files('clip that is cut', {
		'cut.mp4': { types: mp4, make: (made) => cutAtHalf(made('faststart.mp4')) },
	}),
	...files('sound', {
		'tagged.mp3': { types: ['audio/mpeg'], make: played('-metadata title=Sine') },
		'untagged.mp3': { types: ['audio/mpeg'], make: played('-id3v2_version 0 -write_xing 0') },
		'plain.wav': { types: ['audio/wav', 'audio/x-wav', 'audio/vnd.wave'], make: played() },
		'plain.flac': { types: ['audio/flac', 'audio/x-flac'], make: played() },
		'opus.ogg': {
			types: ['audio/ogg', 'audio/opus'],
			endings: ['ogg', 'opus', 'oga'],
			make: played('-c:a libopus'),
		},
		'plain.m4a': { types: ['audio/mp4', 'audio/x-m4a', 'audio/m4a'], make: played() },
		'plain.aac': { types: ['audio/aac', 'audio/x-aac'], make: played() },
		'plain.aiff': {
			types: ['audio/aiff', 'audio/x-aiff'],
			endings: ['aiff', 'aif'],
			make: played(),
		},
	}),
	...documents,
];
