import { createCanvas, GifEncoder } from '@napi-rs/canvas';
import { fileTypeOf } from '../../../../nodes/shared/service/files/fileType';

import {
	followFile,
	hasSeveralFrames,
	stateOf,
} from '../../../../nodes/shared/service/files/fileFormats';
import { withSegment } from '../../../support/files/jpegs';

const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

// ── Real files ──────────────────────────────────────────────────────────────────────────────────

const canvas = createCanvas(64, 48);
const drawing = canvas.getContext('2d');
const png = canvas.toBuffer('image/png');
const jpeg = canvas.toBuffer('image/jpeg');
const webp = canvas.toBuffer('image/webp');
const avif = canvas.toBuffer('image/avif');

/** Any number of 0xff may come before the code of a marker, also behind the data of a scan. */
const filled = Buffer.concat([
	jpeg.subarray(0, 2),
	Buffer.alloc(3, 0xff),
	jpeg.subarray(2, -2),
	Buffer.alloc(50, 0xff),
	jpeg.subarray(-2),
]);

function gifOf(frames: number): Buffer {
	const encoder = new GifEncoder(64, 48);
	const { data } = drawing.getImageData(0, 0, 64, 48);
	for (let frame = 0; frame < frames; frame++) {
		encoder.addFrame(new Uint8Array(data), 64, 48, { delay: 100 });
	}
	return encoder.finish();
}

const uint32 = (value: number, isLittle = false) => {
	const bytes = Buffer.alloc(4);
	if (isLittle) bytes.writeUInt32LE(value);
	else bytes.writeUInt32BE(value);
	return bytes;
};

/** A PNG with other chunks after its IHDR, which ends at byte 33. Nothing here verifies their checksums. */
function pngWith(...chunks: Array<[string, Buffer]>): Buffer {
	const made = chunks.map(([name, data]) =>
		Buffer.concat([uint32(data.length), Buffer.from(name), data, uint32(0)]),
	);
	return Buffer.concat([png.subarray(0, 33), ...made, png.subarray(33)]);
}

/** A WebP in its extended form. @param flags 0x02: animated, 0x20: with a colour profile */
function webpWith(flags: number, ...chunks: Array<[string, Buffer]>): Buffer {
	const made = [
		['VP8X', Buffer.from([flags, 0, 0, 0, 63, 0, 0, 47, 0, 0])] as const,
		...chunks,
	].map(([name, data]) => Buffer.concat([Buffer.from(name), uint32(data.length, true), data]));
	const body = Buffer.concat([Buffer.from('WEBP'), ...made, webp.subarray(12)]);
	return Buffer.concat([Buffer.from('RIFF'), uint32(body.length, true), body]);
}

const profile = Buffer.alloc(6000, 'profile ');
const animation = Buffer.alloc(6);
const actl = Buffer.concat([uint32(2), uint32(0)]);
const control = Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]);
const frame = pixel.subarray(pixel.indexOf(0x2c), -1);
const gifHead = pixel.subarray(0, pixel.indexOf(0x2c));
const gif = (...blocks: Buffer[]) => Buffer.concat([gifHead, ...blocks, Buffer.from(';')]);
const comment = (data: Buffer) =>
	Buffer.concat([Buffer.from([0x21, 0xfe, data.length]), data, Buffer.from([0])]);

describe('images with several frames', () => {
	it.each<[string, Uint8Array]>([
		['GIF', gifOf(2)],
		['APNG', pngWith(['acTL', actl])],
		['WebP', webpWith(0x02, ['ANIM', animation])],
		['WebP with profile and animation', webpWith(0x22, ['ICCP', profile], ['ANIM', animation])],
	])('recognises an image with several frames: %s', (_, bytes) => {
		expect(hasSeveralFrames(bytes)).toBe(true);
		const within = new Uint8Array(bytes.length + 7);
		within.set(bytes, 7);
		expect(hasSeveralFrames(within.subarray(7))).toBe(true);
	});

	it.each<[string, Uint8Array]>([
		['PNG', png],
		['PNG with acTL in a text', pngWith(['tEXt', Buffer.from('Comment\0has no acTL')])],
		['JPEG', jpeg],
		['WebP', webp],
		['AVIF', avif],
		['GIF with the bytes of a control block in its data', gif(control, comment(control), frame)],
		['empty file', Buffer.alloc(0)],
	])('finds no second frame in a file with at most one: %s', (_, bytes) => {
		expect(hasSeveralFrames(bytes)).toBe(false);
	});
});

/** The known end of an image after the first half and after all of it, in pieces of this size. */
function followed(file: Buffer, size: number) {
	const image = followFile(fileTypeOf(file));
	const half = file.length >> 1;
	return [file.subarray(0, half), file.subarray(half)].map((part) => {
		for (let at = 0; at < part.length; at += size) image.push(part.subarray(at, at + size));
		return image.state;
	});
}

describe('images that end in the middle', () => {
	const files: Array<[string, Buffer]> = [
		['PNG', png],
		['JPEG', jpeg],
		['JPEG with a thumbnail', withSegment(jpeg, 0xe1, Buffer.concat([Buffer.from('Exif'), jpeg]))],
		['JPEG with fill bytes', filled],
		['WebP', webp],
		['AVIF', avif],
	];

	it.each(files)('recognises %s that is cut anywhere behind its first half', (_, file) => {
		expect(stateOf(file)).toBe('whole');
		for (let length = file.length >> 1; length < file.length; length += 7) {
			expect(stateOf(file.subarray(0, length))).toBe('cut');
		}
	});

	it.each(files)('judges %s alike when its bytes arrive one by one', (_, file) => {
		const [whole, bytes] = [followed(file, file.length), followed(file, 1)];
		expect(bytes).toEqual(whole);
		expect(whole).toEqual(['cut', 'whole']);
	});

	it('cannot tell whether a JPEG with unknown markers is whole', () => {
		const file = Buffer.from('\xff\xd8\xff\0\xff\xd9 notes', 'latin1');
		expect(stateOf(file)).toBe('unknown');
		expect(followed(file, 1).at(-1)).toBe('unknown');
	});
});
