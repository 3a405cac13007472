import { createCanvas } from '@napi-rs/canvas';
import { createHash } from 'node:crypto';
import { Renderer } from '../../gateway/rendering';

/** A picture of one colour. */
export function picture(colour: string, width = 640, height = 480): Uint8Array {
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	context.fillStyle = colour;
	context.fillRect(0, 0, width, height);
	return canvas.toBuffer('image/png');
}

const rendered = new Map<string, Promise<Uint8Array>>();

/** A true mp4 of one second, rendered once for each caption: for tests that are not about pictures. */
export async function sampleVideo(caption = 'A sample'): Promise<Uint8Array> {
	const video = rendered.get(caption) ?? render(caption);
	rendered.set(caption, video);
	return await video;
}

async function render(caption: string): Promise<Uint8Array> {
	const renderer = new Renderer({ workers: 1 });
	const size = { width: 320, height: 180, seconds: 1 };
	try {
		return await renderer.render({ ...size, caption, watermark: false, media: [] });
	} finally {
		await renderer.close();
	}
}

/** The same film with a title of its own: a mix-up of videos shows. */
export function withTitle(video: Uint8Array, title: string): Uint8Array {
	const text = Buffer.from(title);
	const head = Buffer.alloc(8);
	head.writeUInt32BE(8 + text.length);
	head.write('free', 4);
	return Buffer.concat([video, head, text]);
}

export const sha256 = (bytes: Uint8Array): string =>
	createHash('sha256').update(bytes).digest('hex');
