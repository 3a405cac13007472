import { imageSizeOf } from '../../../../nodes/shared/service/files/imageSize';
import { picture } from '../../../support/data/samples';
import { jpegOf, withPictures } from '../../../support/files/jpegs';

const webp = (chunk: string, size: string) =>
	Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0${size.padEnd(20, '\0')}`, 'latin1');

it.each<[string, Buffer, [number, number] | undefined]>([
	['a PNG', Buffer.from(picture('red', 64, 48)), [64, 48]],
	['a GIF', Buffer.from('GIF89a\x40\x01\x30\x00', 'latin1'), [320, 48]],
	['a WebP with features', webp('VP8X', '\0\0\0\0\x3f\x01\0\x2f\0\0'), [320, 48]],
	['a lossy WebP', webp('VP8 ', '\0\0\0\x9d\x01\x2a\x40\xc1\x30\x40'), [320, 48]],
	['a lossless WebP', webp('VP8L', '\x2f\x3f\xc1\x0b\x80'), [320, 48]],
	[
		'a JPEG without a frame',
		Buffer.from('\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\0\0', 'latin1'),
		undefined,
	],
	['the beginning of a PNG', Buffer.from('\x89PNG\r\n', 'latin1'), undefined],
	['a text', Buffer.from('GIF or RIFF'), undefined],
])('reads the size of %s', (_, head, size) => {
	expect(imageSizeOf(head)).toEqual(size && { width: size[0], height: size[1] });
});

it('reads the size of a JPEG behind other segments', () => {
	const jpeg = jpegOf('teal');
	expect(imageSizeOf(jpeg)).toEqual(imageSizeOf(withPictures(jpeg, jpegOf('orange'))));
	expect(imageSizeOf(jpeg)).toMatchObject({ width: expect.any(Number) as number });
});
