import { createCanvas, loadImage } from '@napi-rs/canvas';
import { firstImage } from '../../../../nodes/shared/service/files/jpeg';
import { fc } from '../../../support/data/fuzz';
import { jpegOf, progressiveJpeg, withPictures, withSegment } from '../../../support/files/jpegs';

const baseline = jpegOf('teal');
const other = jpegOf('orange', 16, 16);
const clip = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1');

/** Exif that rotates the image by 90 degrees, with a thumbnail that has markers of its own. */
const exif = Buffer.concat([
	Buffer.from('Exif\0\0MM\0*\0\0\0\b\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0', 'latin1'),
	jpegOf('black', 8, 8),
]);

async function pixelsOf(jpeg: Buffer) {
	const image = await loadImage(jpeg);
	const { width, height } = image;
	const context = createCanvas(width, height).getContext('2d');
	context.drawImage(image, 0, 0);
	return { width, height, data: context.getImageData(0, 0, width, height).data };
}

describe.each<[string, Buffer]>([
	['baseline', baseline],
	['progressive, with restart markers', progressiveJpeg],
	['rotated by its Exif, with a thumbnail', withSegment(baseline, 0xe1, exif)],
])('the first image of a JPEG: %s', (_, jpeg) => {
	it.each<[string, Buffer]>([
		['another image', withPictures(jpeg, other)],
		['another image without an index', Buffer.concat([jpeg, other])],
		['a video clip', Buffer.concat([jpeg, clip])],
	])('keeps the first image of a file with %s', async (_name, file) => {
		const cut = firstImage(file);
		expect(cut?.equals(jpeg)).toBe(true);
		expect(await pixelsOf(cut ?? file)).toEqual(await pixelsOf(file));
	});

	it.each<[string, Buffer]>([
		['one image', jpeg],
		['one image and the notes of a camera', Buffer.concat([jpeg, Buffer.from('SEFT: 12 Mar')])],
	])('leaves a file with only %s as it is', (_name, file) => {
		expect(firstImage(file)).toBe(file);
	});

	it('finds no first image in a file that breaks off', () => {
		for (let length = 0; length < jpeg.length; length++) {
			expect(firstImage(jpeg.subarray(0, length))).toBeUndefined();
		}
	});
});

it.each<[string, Buffer]>([
	['an empty file', Buffer.alloc(0)],
	['a file that is no JPEG', Buffer.from('\x89PNG\r\n', 'latin1')],
	['a JPEG without an image', Buffer.from([0xff, 0xd8, 0xff, 0xd9])],
	['a JPEG with a segment of a length of 1', Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 1, 0, 0])],
	['a JPEG without its next marker', Buffer.concat([baseline.subarray(0, 20), Buffer.alloc(9)])],
	[
		'a JPEG with more segments than a camera writes',
		Buffer.concat([
			baseline.subarray(0, 2),
			Buffer.alloc(80_000, Buffer.from([0xff, 0xe1, 0, 2])),
			baseline.subarray(2),
		]),
	],
])('finds no first image in %s', (_, file) => expect(firstImage(file)).toBeUndefined());

it('returns a part of any file, the file itself or nothing, and never throws', () => {
	const heads = fc.constantFrom(baseline, progressiveJpeg, withPictures(baseline, other));
	const bytes = fc.oneof(
		fc.uint8Array(),
		fc.array(fc.constantFrom(0xff, 0xd8, 0xd9, 0xda, 0xe2, 0xd0, 0, 2, 4)),
	);
	const files = fc
		.tuple(heads, fc.nat(1200), bytes, fc.nat(1200))
		.map(([head, length, middle, rest]) =>
			Buffer.concat([head.subarray(0, length), Buffer.from(middle), head.subarray(rest)]),
		);
	fc.assert(
		fc.property(files, (file) => {
			const cut = firstImage(file) ?? file;
			expect(cut.length).toBeLessThanOrEqual(file.length);
			// The result cannot be cut any further.
			expect(firstImage(cut) ?? cut).toBe(cut);
		}),
		{ numRuns: 1000 },
	);
});
