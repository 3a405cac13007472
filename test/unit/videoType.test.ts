import { headLength, videoTypeOf } from '../../nodes/shared/gateway/jobs/videoType';
import { videoFileName } from '../../nodes/shared/n8n/files/video';
import { mp4Of } from '../support/boxes';
import { fc } from '../support/fuzz';
import { otherVideos } from '../support/otherVideos';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const mp4 = mp4Of(10_000);
/** Bytes of no known kind. */
const binary = Buffer.alloc(headLength, 3);

describe('the kind of a video', () => {
	it.each(Object.entries(otherVideos))('is told by its first bytes: %s', (_, video) => {
		const type = videoTypeOf(video.bytes.subarray(0, headLength), 'video/mp4');
		expect(type).toMatchObject({ mimeType: video.mimeType });
		expect(type?.extensions[0]).toBe(video.extension);
	});

	it('is that of an mp4 with its usual beginning, whatever its storage host says', () => {
		for (const declared of ['video/webm', 'text/html', '', undefined]) {
			expect(videoTypeOf(mp4, declared)?.mimeType).toBe('video/mp4');
		}
	});

	it('is the same however many bytes are there, or not known yet', () => {
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
		'is what its storage host says where the bytes do not tell: %s',
		(declared, mime, extension) => {
			const type = videoTypeOf(binary, declared);
			expect([type?.mimeType, type?.extensions[0]]).toEqual([mime, extension]);
		},
	);

	it.each<[string, Buffer]>([
		['a page', latin1('<!DOCTYPE html><html></html>')],
		['a long page', latin1(`<!DOCTYPE html>${'x'.repeat(1000)}`)],
		['JSON', latin1(JSON.stringify({ error: { message: 'no'.repeat(500) } }))],
		['an error of a storage', latin1(`<?xml version="1.0"?><Error>${' '.repeat(600)}</Error>`)],
		['a page in UTF-16', Buffer.from(`\ufeff<html>${'x'.repeat(600)}`, 'utf16le')],
		['a text of letters G', latin1('G'.repeat(600))],
		['a text that looks like a GIF', latin1(`GIF89a${'x'.repeat(600)}`)],
		['too few bytes', binary.subarray(0, 100)],
		['nothing', Buffer.alloc(0)],
	])('is none of %s, whatever its storage host says', (_, bytes) => {
		expect(videoTypeOf(bytes.subarray(0, headLength), 'video/mp4')).toBeUndefined();
	});

	it.each(['application/octet-stream', 'image/png', 'text/html', 'video', 'video/', ''])(
		'is none of unknown bytes that are called "%s"',
		(declared) => expect(videoTypeOf(binary, declared)).toBeUndefined(),
	);

	it.each(['video/mp4', 'video/MP4; codecs="avc1"', 'video/quicktime'])(
		'is none of bytes that cannot be what they are called: %s',
		(declared) => expect(videoTypeOf(binary, declared)).toBeUndefined(),
	);

	it('is none of a still picture', () => {
		expect(videoTypeOf(latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0'))).toBeUndefined();
		expect(videoTypeOf(latin1('RIFF\x24\0\0\0WEBPVP8 \x24\0\0\0'))).toBeUndefined();
	});

	it('never makes trouble, whatever is there', () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 600 }), fc.string(), (bytes, declared) => {
				const { mimeType = 'video/' } = videoTypeOf(bytes, declared) ?? {};
				expect(mimeType).toMatch(/^(video|image)\//);
			}),
		);
	});
});

describe('the name of a video', () => {
	const webm = videoTypeOf(otherVideos.WebM.bytes.subarray(0, headLength));
	const types = { mp4: videoTypeOf(mp4), webm };
	const typeOf = (kind: keyof typeof types) => {
		const type = types[kind];
		if (!type) throw new Error(`${kind} is not known`);
		return type;
	};

	it.each<[string, keyof typeof types, string]>([
		['task_1', 'mp4', 'task_1.mp4'],
		['a.mp4', 'mp4', 'a.mp4'],
		['a.M4V', 'mp4', 'a.M4V'],
		['task_1', 'webm', 'task_1.webm'],
		['a.mp4', 'webm', 'a.webm'],
		['a.MOV', 'webm', 'a.webm'],
		['a.WebM', 'webm', 'a.WebM'],
		['a.mov', 'mp4', 'a.mp4'],
		['a v1.2', 'webm', 'a v1.2.webm'],
		['notes.txt', 'mp4', 'notes.txt.mp4'],
		['a/b: c?', 'webm', 'a_b_ c_.webm'],
		['.mp4', 'webm', 'mp4.webm'],
		['...', 'webm', 'video.webm'],
		['', 'mp4', 'video.mp4'],
		[`${'ä'.repeat(300)}.mp4`, 'webm', `${'ä'.repeat(100)}.webm`],
		['clip.', 'mp4', 'clip.mp4'],
		['clip. . ', 'mp4', 'clip.mp4'],
		['clip..mp4', 'mp4', 'clip.mp4'],
		['clip .MOV', 'mp4', 'clip.mp4'],
		['. clip', 'mp4', 'clip.mp4'],
		['v1.2 .webm', 'webm', 'v1.2.webm'],
		['console', 'mp4', 'console.mp4'],
		['com10', 'mp4', 'com10.mp4'],
		['my con', 'mp4', 'my con.mp4'],
	])('%s as %s is %s', (name, kind, expected) => {
		expect(videoFileName(name, typeOf(kind))).toBe(expected);
	});

	const digits = [...'0123456789¹²³'];
	const devices = ['CON', 'PRN', 'AUX', 'NUL'].concat(
		...['COM', 'LPT'].map((port) => digits.map((digit) => port + digit)),
	);

	it.each(devices)('is not %s, which Windows keeps for a device', (device) => {
		for (const name of [device, device.toLowerCase()]) {
			expect(videoFileName(name, typeOf('mp4'))).toBe(`_${name}.mp4`);
			expect(videoFileName(`${name}.mp4`, typeOf('mp4'))).toBe(`_${name}.mp4`);
			expect(videoFileName(`${name}.mp4`, typeOf('webm'))).toBe(`_${name}.webm`);
			expect(videoFileName(`${name}.v2`, typeOf('mp4'))).toBe(`_${name}.v2.mp4`);
			expect(videoFileName(`${name} .v2`, typeOf('mp4'))).toBe(`_${name} .v2.mp4`);
			expect(videoFileName(` ${name}. `, typeOf('mp4'))).toBe(`_${name}.mp4`);
		}
	});
});
