import { createCanvas, type Image, type SKRSContext2D } from '@napi-rs/canvas';
import { randomFrom } from '../random';
import { fixedCamera, shoot } from './scenes/camera';
import { gradientScene } from './scenes/gradient';
import type { Size } from './spec';
import { captionLabel, cornerLabel, drawLabel } from './text/labels';

/** The specification of a still image. The same spec gives the same image. */
export interface PictureSpec extends Size {
	/** Drawn over the image, unless it is empty. */
	caption: string;
	/** A short text in the corner. */
	note: string;
	/** Another seed gives other colours. */
	seed: number;
	/** Combined into the image. Without any, it is made from the caption alone. */
	images?: Image[];
}

/** Draws a PNG. */
export async function drawPicture(spec: PictureSpec): Promise<Uint8Array> {
	const { width, height, caption, note, images = [] } = spec;
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	drawGround(context, spec);
	drawSideBySide(context, images);
	if (caption.trim()) drawLabel(context, captionLabel(caption, spec), 1);
	drawLabel(context, cornerLabel(note, spec), 1);
	return await canvas.encode('png');
}

/** Fills the canvas with a pattern made from a text and a number. */
export function drawGround(
	context: SKRSContext2D,
	{ caption, seed }: Pick<PictureSpec, 'caption' | 'seed'>,
): void {
	const random = randomFrom(JSON.stringify([caption, seed]));
	gradientScene(context.canvas, random).draw(context, { seconds: 0, progress: 0 });
}

/** Draws the images side by side in equal parts of the longer side of the canvas. */
function drawSideBySide(context: SKRSContext2D, images: Image[]): void {
	const { width, height } = context.canvas;
	const isWide = width > height;
	images.forEach((image, index) => {
		const start = (length: number) => Math.round((length * index) / images.length);
		const end = (length: number) => Math.round((length * (index + 1)) / images.length);
		const part = isWide
			? createCanvas(end(width) - start(width), height)
			: createCanvas(width, end(height) - start(height));
		shoot(part.getContext('2d'), image, { camera: fixedCamera, progress: 0 });
		context.drawImage(part, isWide ? start(width) : 0, isWide ? 0 : start(height));
	});
}
