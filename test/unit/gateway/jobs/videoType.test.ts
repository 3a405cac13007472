import { headLength, videoTypeOf } from '../../../../nodes/shared/gateway/jobs/videoType';
import { mp4Of } from '../../../support/boxes';
import { fc } from '../../../support/fuzz';
import { otherVideos } from '../../../support/otherVideos';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const mp4 = mp4Of(10_000);
/** Bytes of no known format. */
const binary = Buffer.alloc(headLength, 3);

describe('video formats', () => {
	it.each(Object.entries(otherVideos))(
		'recognises the format of a video by its first bytes: %s',
		(_, video) => {
			const type = videoTypeOf(video.bytes.subarray(0, headLength), 'video/mp4');
			expect(type).toMatchObject({ mimeType: video.mimeType });
			expect(type?.extensions[0]).toBe(video.extension);
		},
	);

	it('recognises an mp4 by its first bytes, whatever its Content-Type is', () => {
		for (const declared of ['video/webm', 'text/html', '', undefined]) {
			expect(videoTypeOf(mp4, declared)?.mimeType).toBe('video/mp4');
		}
	});

	it('finds the same format however many bytes have arrived, or none yet', () => {
		const files = [mp4, ...Object.values(otherVideos).map(({ bytes }) => bytes)];
		for (const bytes of files) {
			const expected = videoTypeOf(bytes.subarray(0, headLength));
			for (let length = 0; length < headLength; length++) {
				expect([expected, undefined]).toContain(videoTypeOf(bytes.subarray(0, length)));
			}
		}
	});

	it.each([
		['video/webm', 'video/webm', 'webm'],
		['video/WebM; codecs="vp9"', 'video/webm', 'webm'],
		['video/3gpp', 'video/3gpp', '3gpp'],
		['video/x-new', 'video/x-new', 'new'],
		['video/vnd.some.format+abc', 'video/vnd.some.format+abc', 'abc'],
	])(
		'uses the Content-Type when the bytes do not show the format: %s',
		(declared, mime, extension) => {
			const type = videoTypeOf(binary, declared);
			expect([type?.mimeType, type?.extensions[0]]).toEqual([mime, extension]);
		},
	);

	it.each<[string, Buffer]>([
		['a page', latin1('<!DOCTYPE html><html></html>')],
		['a long page', latin1(`<!DOCTYPE html>${'x'.repeat(1000)}`)],
		['JSON', latin1(JSON.stringify({ error: { message: 'no'.repeat(500) } }))],
		[
			'an error of a storage host',
			latin1(`<?xml version="1.0"?><Error>${' '.repeat(600)}</Error>`),
		],
		['a page in UTF-16', Buffer.from(`\ufeff<html>${'x'.repeat(600)}`, 'utf16le')],
		['a text of the letter G', latin1('G'.repeat(600))],
		['a text that looks like a GIF', latin1(`GIF89a${'x'.repeat(600)}`)],
		['too few bytes', binary.subarray(0, 100)],
		['nothing', Buffer.alloc(0)],
	])('finds no video format in %s, even with the Content-Type video/mp4', (_, bytes) => {
		expect(videoTypeOf(bytes.subarray(0, headLength), 'video/mp4')).toBeUndefined();
	});

	it.each(['application/octet-stream', 'image/png', 'text/html', 'video', 'video/', ''])(
		'finds no video format in unknown bytes with the Content-Type "%s"',
		(declared) => expect(videoTypeOf(binary, declared)).toBeUndefined(),
	);

	it.each(['video/mp4', 'video/MP4; codecs="avc1"', 'video/quicktime'])(
		'finds no video format in bytes that contradict their Content-Type: %s',
		(declared) => expect(videoTypeOf(binary, declared)).toBeUndefined(),
	);

	it('finds no video format in a still image', () => {
		expect(videoTypeOf(latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0'))).toBeUndefined();
		expect(videoTypeOf(latin1('RIFF\x24\0\0\0WEBPVP8 \x24\0\0\0'))).toBeUndefined();
	});

	it('looks for the format of any bytes without an error', () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 600 }), fc.string(), (bytes, declared) => {
				const { mimeType = 'video/' } = videoTypeOf(bytes, declared) ?? {};
				expect(mimeType).toMatch(/^(video|image)\//);
			}),
		);
	});
});
