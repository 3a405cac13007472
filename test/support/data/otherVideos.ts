import { randomBytes } from 'node:crypto';
import { box, mp4Of } from '../files/boxes';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const file = (head: string) => Buffer.concat([latin1(head), Buffer.from([0]), randomBytes(99_999)]);

/** One file of each kind of video other than mp4; only its beginning is real. */
export const otherVideos: Record<string, { bytes: Buffer; mimeType: string; extension: string }> = {
	WebM: {
		bytes: file('\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm'),
		extension: 'webm',
		mimeType: 'video/webm',
	},
	'WebM of a streaming encoder': {
		bytes: file(
			'\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x82\x01\0\0\0\0\0\0\x04webmM\x80\x8clibmatroska',
		),
		extension: 'webm',
		mimeType: 'video/webm',
	},
	'WebM that does not say so': {
		bytes: file('\x1aE\xdf\xa3\x9fB\x86\x81\x01'),
		extension: 'webm',
		mimeType: 'video/webm',
	},
	Matroska: {
		bytes: file('\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska'),
		extension: 'mkv',
		mimeType: 'video/x-matroska',
	},
	QuickTime: {
		bytes: Buffer.concat([box('ftyp', latin1('qt  \0\0\x02\0qt  ')), mp4Of(90_000).subarray(32)]),
		extension: 'mov',
		mimeType: 'video/quicktime',
	},
	'QuickTime of old': {
		bytes: Buffer.concat([box('wide'), mp4Of(90_000).subarray(32)]),
		extension: 'mov',
		mimeType: 'video/quicktime',
	},
	AVI: { bytes: file('RIFF\x24\xf0\x01\0AVI LIST'), extension: 'avi', mimeType: 'video/x-msvideo' },
	GIF: { bytes: file('GIF89a\x40\x01\xf0'), extension: 'gif', mimeType: 'image/gif' },
	'animated WebP': {
		bytes: file('RIFF\xbd\x86\x01\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x3f\x01\0\xef\0\0ANIM\x06\0\0'),
		extension: 'webp',
		mimeType: 'image/webp',
	},
};
