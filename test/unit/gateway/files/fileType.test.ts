import { createCanvas } from '@napi-rs/canvas';
import {
	declaredTypeOf,
	fileTypeOf,
	headLength,
	typeToDeliver,
	wrongType,
} from '../../../../nodes/shared/gateway/files/fileType';
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
const svgDoctype =
	'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [\n<!ENTITY ns "http://ns">\n]>';

describe('the type of a file', () => {
	it.each<[string, Uint8Array, string, string]>([
		['PNG', png, 'image/png', 'png'],
		['JPEG', canvas.toBuffer('image/jpeg'), 'image/jpeg', 'jpg'],
		['WebP', canvas.toBuffer('image/webp'), 'image/webp', 'webp'],
		['AVIF', canvas.toBuffer('image/avif'), 'image/avif', 'avif'],
		['GIF', latin1('GIF89a\x01\0\x01\0'), 'image/gif', 'gif'],
		['HEIC', branded('heic', 'mif1', 'heic'), 'image/heic', 'heic'],
		['TIFF', latin1('II*\0\b\0\0\0'), 'image/tiff', 'tiff'],
		['BMP', latin1('BM6\0\0\0\0\0\0\0'), 'image/bmp', 'bmp'],
		['SVG', Buffer.from(`\n${svg}`), 'image/svg+xml', 'svg'],
		[
			'SVG behind a comment',
			Buffer.from(`<!-- ${'made by -'.repeat(9000)} -->${svg}`),
			'image/svg+xml',
			'svg',
		],
		['SVG behind a DOCTYPE', Buffer.from(`${svgDoctype}\n${svg}`), 'image/svg+xml', 'svg'],
		['mp4', mp4, 'video/mp4', 'mp4'],
		['Ogg Theora', latin1('OggS\0\x02\0\0\0\x80theora'), 'video/ogg', 'ogv'],
		['Ogg Opus', latin1('OggS\0\x02\0\0\0OpusHead'), 'audio/ogg', 'ogg'],
		['M4A', branded('M4A ', 'mp42', 'isom'), 'audio/mp4', 'm4a'],
		['MP3', latin1('ID3\x03\0\0'), 'audio/mpeg', 'mp3'],
		['WAV', latin1('RIFF\x24\0\0\0WAVEfmt '), 'audio/wav', 'wav'],
		['PDF', Buffer.from('%PDF-1.7\n1 0 obj'), 'application/pdf', 'pdf'],
		['ZIP', latin1('PK\x03\x04\x14\0'), 'application/zip', 'zip'],
		['a program', latin1('\x7fELF\x02\x01\x01\0'), 'application/x-executable', 'bin'],
		['a web page', Buffer.from('<!-- x -->\n<!doctype html><p>'), 'text/html', 'html'],
		['XML', Buffer.from('<?xml version="1.0"?><Error><Code>NoSuchKey'), 'application/xml', 'xml'],
		['JSON', Buffer.from(' {"error": {}}'), 'application/json', 'json'],
		['a text', Buffer.from('BMW 320d, 2019'), 'text/plain', 'txt'],
		['base64', Buffer.from(png.toString('base64')), 'text/plain', 'txt'],
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
		['nothing', Buffer.alloc(0)],
	])('is not known for %s', (_, bytes) => expect(fileTypeOf(bytes)).toBeUndefined());
});

describe('the declared type of a file', () => {
	it.each([
		['video/webm', 'video/webm', 'webm'],
		['video/WebM; codecs="vp9"', 'video/webm', 'webm'],
		['video/3gpp', 'video/3gpp', '3gpp'],
		['application/x-new', 'application/x-new', 'new'],
	])('counts when the bytes say nothing: %s', (declared, mimeType, extension) => {
		const type = typeToDeliver(binary, declared);
		expect([type.mimeType, type.extensions[0]]).toEqual([mimeType, extension]);
		expect(typeToDeliver(mp4, declared).mimeType).toBe('video/mp4');
	});

	it.each([
		...['video/mp4', 'video/MP4; codecs="avc1"', 'video/quicktime', 'text/html', 'text/plain'],
		...['application/octet-stream', 'binary/octet-stream', 'video', 'video/', '', '/', 'a b'],
	])(
		'does not count when it says nothing, or what the bytes would have shown: "%s"',
		(declared) => {
			expect(declaredTypeOf(declared)).toBeUndefined();
			expect(typeToDeliver(binary, declared)).toMatchObject({ extensions: ['bin'] });
		},
	);
});

describe('files that surely cannot be used', () => {
	it.each<['image' | 'video', Uint8Array, string, string]>([
		['image', Buffer.from('<html>'), 'image/png', 'is a web page, not an image'],
		[
			'image',
			Buffer.from('<?xml version="1.0"?><Error/>'),
			'image/png',
			'is an XML document, not an image',
		],
		['image', mp4, 'image/png', 'is an mp4 video, not an image'],
		['image', Buffer.alloc(0), 'image/png', 'is empty'],
		['image', binary, 'application/zip', 'is a ZIP archive or an Office document, not an image'],
		[
			'image',
			Buffer.from(png.toString('base64')),
			'image/png',
			'is a PNG image written as base64 text, not an image',
		],
		['video', png, 'video/mp4', 'is a PNG image, not a video'],
		['video', Buffer.alloc(0), 'video/mp4', 'is empty'],
	])('are named with what they are, where %s is wanted: %#', (wanted, bytes, declared, problem) => {
		expect(wrongType(bytes, declared, wanted)).toBe(problem);
	});

	it.each<['image' | 'video', Uint8Array, string]>([
		['image', png, 'video/mp4'],
		['image', binary, 'image/x-new'],
		['image', binary, 'application/octet-stream'],
		// The type that n8n gives to what it does not know.
		['image', binary, 'text/plain'],
		['video', mp4, 'image/png'],
		['video', otherVideos['animated WebP'].bytes, 'image/webp'],
		['video', binary, 'video/x-new'],
	])('are not those that may work, where %s is wanted: %#', (wanted, bytes, declared) => {
		expect(wrongType(bytes, declared, wanted)).toBeUndefined();
	});
});
