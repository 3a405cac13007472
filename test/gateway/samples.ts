import { createCanvas, loadImage, type SKRSContext2D } from '@napi-rs/canvas';

// Pictures for the gateway's own tests.

/** A PNG of one colour, and what is drawn on it. */
export function samplePng(
	colour: string,
	{ width = 64, height = 40 } = {},
	draw?: (context: SKRSContext2D) => void,
): Buffer {
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	context.fillStyle = colour;
	context.fillRect(0, 0, width, height);
	draw?.(context);
	return canvas.toBuffer('image/png');
}

const emptyFrame = `,${'\0'.repeat(9)}\x02\0`;
export const twoFrameGif = Buffer.from(`GIF89a${'\0'.repeat(7)}${emptyFrame.repeat(2)};`, 'latin1');

export const dataUrlOf = (png: Buffer): string => `data:image/png;base64,${png.toString('base64')}`;

export interface Pixels {
	width: number;
	height: number;
	/** Red, green, blue and alpha, row by row. */
	data: Uint8ClampedArray;
}

export async function pixelsOf(image: Uint8Array): Promise<Pixels> {
	const picture = await loadImage(Buffer.from(image));
	const { width, height } = picture;
	const context = createCanvas(width, height).getContext('2d');
	context.drawImage(picture, 0, 0);
	return { width, height, data: context.getImageData(0, 0, width, height).data };
}
