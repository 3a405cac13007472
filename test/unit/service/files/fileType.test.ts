import { createCanvas } from '@napi-rs/canvas';
import {
	declaredTypeOf,
	fileTypeOf,
	headLength,
	isOtherType,
	typeToDeliver,
	wrongType,
} from '../../../../nodes/shared/service/files/fileType';
import { problemOf } from '../../../../nodes/shared/service/jobs/linkLooks';
import heads from '../../../fixtures/fileHeads.json';
import { box, mp4Of } from '../../../support/files/boxes';
import { otherVideos } from '../../../support/data/otherVideos';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const canvas = createCanvas(64, 48);
const png = canvas.toBuffer('image/png');
const mp4 = mp4Of(10_000);
/** Bytes of no known format. */
const binary = Buffer.alloc(1000, 3);
const branded = (...brands: string[]) =>
	box('ftyp', latin1(`${brands[0]}\0\0\0\0${brands.slice(1).join('')}`));

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const comment = `<!-- ${'made by -'.repeat(900)} <b>me</b> -->`;
const svgDoctype =
	'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [\n<!ENTITY ns "http://ns">\n]>';

describe('the type of a file', () => {
	it.each<[string, Uint8Array, string, string]>([
		['AVIF with the first brand mif1', branded('mif1', 'miaf', 'avif'), 'image/avif', 'avif'],
		['AVIF with the first brand miaf', branded('miaf', 'avif'), 'image/avif', 'avif'],
		['HEIC with the first brand mif1', branded('mif1', 'heic'), 'image/heic', 'heic'],
		['HEIF without another brand', branded('msf1'), 'image/heic', 'heic'],
		['SVG', Buffer.from(`\n${svg}`), 'image/svg+xml', 'svg'],
		['SVG behind XML', Buffer.from(`<?xml version="1.0"?>\n${svg}`), 'image/svg+xml', 'svg'],
		['SVG behind a comment', Buffer.from(comment + svg), 'image/svg+xml', 'svg'],
		['SVG behind a mark', Buffer.from(`\ufeff${svg}`), 'image/svg+xml', 'svg'],
		['SVG behind its type', Buffer.from(`${svgDoctype}\n${svg}`), 'image/svg+xml', 'svg'],
		['SVG with a prefix', Buffer.from('<s:svg xmlns:s="svg"/>'), 'image/svg+xml', 'svg'],
		['mp4 with an unknown first brand', branded('XAVC', 'mp42'), 'video/mp4', 'mp4'],
		['PDF', Buffer.from('%PDF-1.7\n1 0 obj'), 'application/pdf', 'pdf'],
		['a web page', Buffer.from('<!-- x -->\n<!doctype html><p>'), 'text/html', 'html'],
		['a page without a root', Buffer.from('<head><title>Not found'), 'text/html', 'html'],
		['XML', Buffer.from('<?xml version="1.0"?><Error><Code>NoSuchKey'), 'application/xml', 'xml'],
		['JSON', Buffer.from(' {"error": {}}'), 'application/json', 'json'],
		['a text', Buffer.from('BMW 320d, 2019'), 'text/plain', 'txt'],
		['a text that looks like a GIF', Buffer.from(`GIF89a${'x'.repeat(600)}`), 'text/plain', 'txt'],
		['a text of the letter G', Buffer.from('G'.repeat(600)), 'text/plain', 'txt'],
		['a number', Buffer.from('<3 you'), 'text/plain', 'txt'],
		['base64', Buffer.from(png.toString('base64')), 'text/plain', 'txt'],
		['a data URL', Buffer.from('data:image/png;base64,iVBORw0KGgo='), 'text/plain', 'txt'],
	])('is recognised by its first bytes: %s', (_, bytes, mimeType, extension) => {
		const type = fileTypeOf(bytes);
		expect([type?.mimeType, type?.extensions[0]]).toEqual([mimeType, extension]);
		const within = new Uint8Array(bytes.length + 7);
		within.set(bytes, 7);
		expect(fileTypeOf(within.subarray(7))).toEqual(type);
	});

	it.each(Object.entries(otherVideos))('is recognised in its first bytes: %s', (_, video) => {
		const type = fileTypeOf(video.bytes.subarray(0, headLength));
		expect([type?.mimeType, type?.extensions[0]]).toEqual([video.mimeType, video.extension]);
	});

	it.each<[string, Uint8Array]>([
		['unknown bytes', binary],
		['zeros', Buffer.alloc(4096)],
		['nothing', Buffer.alloc(0)],
	])('is not known for %s', (_, bytes) => expect(fileTypeOf(bytes)).toBeUndefined());
});

describe('the declared type of a file', () => {
	it.each([
		['video/webm', 'video/webm', 'webm'],
		['video/WebM; codecs="vp9"', 'video/webm', 'webm'],
		['video/3gpp', 'video/3gpp', '3gpp'],
		['video/vnd.some.format+abc', 'video/vnd.some.format+abc', 'abc'],
		['image/x-new; a=b', 'image/x-new', 'new'],
		['application/x-new', 'application/x-new', 'new'],
	])('counts when the bytes say nothing: %s', (declared, mimeType, extension) => {
		const type = typeToDeliver(binary, declared);
		expect([type.mimeType, type.extensions[0]]).toEqual([mimeType, extension]);
		expect(typeToDeliver(mp4, declared).mimeType).toBe('video/mp4');
	});

	it.each([
		'video/mp4',
		'video/MP4; codecs="avc1"',
		'video/quicktime',
		'text/html',
		'text/plain',
		'application/octet-stream',
		'binary/octet-stream',
		'video',
		'video/',
		'',
		'/',
		'a b',
	])(
		'does not count when it says nothing, or what the bytes would have shown: "%s"',
		(declared) => {
			expect(declaredTypeOf(declared)).toBeUndefined();
			expect(typeToDeliver(binary, declared)).toMatchObject({ extensions: ['bin'] });
		},
	);

	it('is another type only if its name is known, or of another kind', () => {
		const type = typeToDeliver(png);
		const others = ['image/jpeg', 'application/octet-stream', 'video/mp4', 'text/plain', ''];
		expect(others.filter((declared) => !isOtherType(declared, type))).toEqual([]);
		expect(['image/png', 'image/x-png'].filter((declared) => isOtherType(declared, type))).toEqual(
			[],
		);
	});
});

describe('a file where an image or a video is wanted', () => {
	const base64 = png.toString('base64');
	const page = Buffer.from('<html><body>A page that is long enough to be a file</body>');
	const texts = [
		'A letter that says nothing of images '.repeat(3),
		base64.slice(0, 60),
		`${base64.slice(0, 80)} is how it begins: a letter`,
		`?${base64}`,
		page.toString('base64'),
	];
	type Row = [wanted: 'image' | 'video', Uint8Array, declared: string, is: string];

	it.each<Row>([
		['image', Buffer.from('<html>'), 'image/png', 'is a web page, not an image'],
		['image', Buffer.from('<?xml version="1.0"?><E/>'), '', 'is an XML document, not an image'],
		['image', Buffer.from('{"a":1}'), 'image/png', 'is JSON, not an image'],
		['image', Buffer.from('%PDF-1.4'), 'image/png', 'is a PDF, not an image'],
		['image', mp4, 'image/png', 'is an mp4 video, not an image'],
		['image', Buffer.alloc(0), 'image/png', 'is empty'],
		['image', binary, 'application/zip', 'is a file of the type application/zip, not an image'],
		['image', Buffer.from(base64), '', 'is a PNG image written as base64 text, not an image'],
		...texts.map((text): Row => ['image', Buffer.from(text), '', 'is a text, not an image']),
		['video', png, 'video/mp4', 'is a PNG image, not a video'],
		['video', latin1('ID3\x03\0\0'), 'video/mp4', 'is an MP3 sound, not a video'],
		['video', Buffer.alloc(0), 'video/mp4', 'is empty'],
	])('is named with what it is if it surely is no %s: %#', (wanted, bytes, declared, problem) => {
		expect(wrongType(bytes, declared, wanted)).toBe(problem);
	});

	it.each<[wanted: 'image' | 'video', Uint8Array, declared: string]>([
		['image', latin1('\xff\x0a\xfa\x1f\0\x01'), ''],
		['image', binary, 'image/x-new'],
		['image', binary, 'application/octet-stream'],
		// The type that n8n gives to what it does not know.
		['image', binary, 'text/plain'],
		['video', binary, 'video/x-new'],
	])('is left to the service if it may be one: %s, %#', (wanted, bytes, declared) => {
		expect(wrongType(bytes, declared, wanted)).toBeUndefined();
	});
});

// The first bytes of files that ffmpeg, GStreamer, ImageMagick, and the encoders of AVIF, HEIC and JPEG XL have written.
it.each(Object.entries(heads))(
	'says what a real file is, and where it can be used: %s',
	(name, { head, mimeType, usedAs }) => {
		const bytes = Buffer.from(head, 'base64');
		const type = fileTypeOf(bytes);
		expect(type?.mimeType).toBe(mimeType);
		// By its bytes, a 3gp is an mp4.
		expect([...(type?.extensions ?? []), '3gp']).toContain(name.split('.')[1]);
		const places = (['image', 'video'] as const).filter(
			(wanted) => wrongType(bytes, '', wanted) === undefined,
		);
		expect(places).toEqual(usedAs);
		const behindLinks = (['image', 'video'] as const).filter((wanted) => {
			const look = { status: 200, type };
			return problemOf(look, { url: '', field: '', wanted }) === undefined;
		});
		expect(behindLinks).toEqual(usedAs);
	},
);
