import { createCanvas } from '@napi-rs/canvas';
import type { GatewayOptions, RenderSpec } from '../../../gateway';
import { Renderer } from '../../../gateway/rendering';
import { box } from '../files/boxes';

const drawn = new Map<string, Uint8Array>();

/** An image of one colour. */
export function picture(colour: string, width = 640, height = 480): Uint8Array {
	const key = [colour, width, height].join();
	const known = drawn.get(key) ?? draw(colour, width, height);
	drawn.set(key, known);
	return known;
}

function draw(colour: string, width: number, height: number): Uint8Array {
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	context.fillStyle = colour;
	context.fillRect(0, 0, width, height);
	return canvas.toBuffer('image/png');
}

const rendered = new Map<string, Promise<Uint8Array>>();

/** A real mp4 of one second, rendered once for each caption, for tests in which its content does not matter. */
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

/** The same video with its own title, so that a mix-up of videos shows. */
export const withTitle = (video: Uint8Array, title: string): Uint8Array =>
	Buffer.concat([video, box('free', Buffer.from(title))]);

/** The title that `withTitle` gave to a video. */
export function titleOf(video: Uint8Array): string {
	const bytes = Buffer.from(video);
	return bytes.subarray(bytes.lastIndexOf('free') + 'free'.length).toString();
}

/** Settings of a gateway whose videos have their prompts as titles. */
export const titledVideos = (jobSeconds: GatewayOptions['jobSeconds']) => ({
	jobSeconds,
	render: async ({ caption }: RenderSpec) => withTitle(await sampleVideo(), caption),
});
