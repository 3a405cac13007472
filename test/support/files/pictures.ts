import { createCanvas, loadImage } from '@napi-rs/canvas';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export const pictures = ['woman', 'beach', 'mug'] as const;
export type Picture = (typeof pictures)[number];

/** Turns a drawing into a PNG, which the service accepts as a reference image. */
export async function drawPicture(name: Picture): Promise<Buffer> {
	const drawing = await loadImage(await readFile(path.join(__dirname, 'pictures', `${name}.svg`)));
	const canvas = createCanvas(drawing.width, drawing.height);
	canvas.getContext('2d').drawImage(drawing, 0, 0);
	return canvas.toBuffer('image/png');
}
