import { fileTypeOf, type FileType } from '../../../../nodes/shared/service/files/fileType';
import { videoFileName } from '../../../../nodes/shared/n8n/files/video';
import { mp4Of } from '../../../support/files/boxes';
import { otherVideos } from '../../../support/data/otherVideos';

describe('the file name of a video', () => {
	const types = {
		mp4: fileTypeOf(mp4Of(10_000)) as FileType,
		webm: fileTypeOf(otherVideos.WebM.bytes) as FileType,
	};

	it.each<[string, keyof typeof types, string]>([
		['task_1', 'mp4', 'task_1.mp4'],
		['a.M4V', 'mp4', 'a.M4V'],
		['task_1', 'webm', 'task_1.webm'],
		['a.mp4', 'webm', 'a.webm'],
		['a.WebM', 'webm', 'a.WebM'],
		['a.mov', 'mp4', 'a.mp4'],
		['notes.txt', 'mp4', 'notes.txt.mp4'],
		['a/b: c?', 'webm', 'a_b_ c_.webm'],
		['.mp4', 'webm', 'mp4.webm'],
		['', 'mp4', 'video.mp4'],
		[`${'ä'.repeat(300)}.mp4`, 'webm', `${'ä'.repeat(100)}.webm`],
		['clip.', 'mp4', 'clip.mp4'],
		['. clip', 'mp4', 'clip.mp4'],
		['console', 'mp4', 'console.mp4'],
		['my con', 'mp4', 'my con.mp4'],
	])(
		'turns the name "%s" of a video of the type %s into the file name "%s"',
		(name, kind, expected) => {
			expect(videoFileName(name, types[kind])).toBe(expected);
		},
	);

	const digits = [...'0123456789¹²³'];
	const devices = ['CON', 'PRN', 'AUX', 'NUL'].concat(
		...['COM', 'LPT'].map((port) => digits.map((digit) => port + digit)),
	);

	it.each(devices)('avoids the file name %s, which Windows reserves for a device', (device) => {
		for (const name of [device, device.toLowerCase()]) {
			expect(videoFileName(name, types.mp4)).toBe(`_${name}.mp4`);
			expect(videoFileName(`${name}.mp4`, types.mp4)).toBe(`_${name}.mp4`);
			expect(videoFileName(`${name}.mp4`, types.webm)).toBe(`_${name}.webm`);
			expect(videoFileName(`${name}.v2`, types.mp4)).toBe(`_${name}.v2.mp4`);
			expect(videoFileName(`${name} .v2`, types.mp4)).toBe(`_${name} .v2.mp4`);
			expect(videoFileName(` ${name}. `, types.mp4)).toBe(`_${name}.mp4`);
		}
	});
});
