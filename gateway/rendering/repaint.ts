import { createCanvas, type Canvas, type Image } from '@napi-rs/canvas';
import { drawGround } from './picture';
import { fixedCamera, shoot } from './scenes/camera';
import type { Size } from './spec';

interface Repainting {
	image: Image;
	/** Only its white area is painted over. Without a mask, the paint is half transparent over the whole image. */
	mask?: Image;
	prompt: string;
	/** Another seed gives other colours. */
	seed: number;
	/** Size of the result. Default: the size of the image. */
	size?: Size;
}

/** Paints a pattern made from the prompt over an image. @returns a PNG */
export async function repaint({
	image,
	mask,
	prompt,
	seed,
	size,
}: Repainting): Promise<Uint8Array> {
	const canvas = createCanvas(image.width, image.height);
	const context = canvas.getContext('2d');
	context.drawImage(image, 0, 0);

	const paint = createCanvas(image.width, image.height);
	drawGround(paint.getContext('2d'), { caption: prompt, seed });
	if (mask) keepWhite(paint, mask);
	else context.globalAlpha = 0.5;
	context.drawImage(paint, 0, 0);
	if (!size) return await canvas.encode('png');

	const sized = createCanvas(size.width, size.height);
	shoot(sized.getContext('2d'), canvas, { camera: fixedCamera, progress: 0 });
	return await sized.encode('png');
}

/** Makes the paint transparent wherever the mask, stretched over it, is not white. */
function keepWhite(paint: Canvas, mask: Image): void {
	const { width, height } = paint;
	const stencil = createCanvas(width, height);
	const context = stencil.getContext('2d');
	// Edges stay sharp when the mask is stretched.
	context.imageSmoothingEnabled = false;
	context.drawImage(mask, 0, 0, width, height);
	const pixels = context.getImageData(0, 0, width, height);
	for (let offset = 0; offset < pixels.data.length; offset += 4) {
		const isWhite = pixels.data.subarray(offset, offset + 4).every((channel) => channel > 127);
		pixels.data[offset + 3] = isWhite ? 255 : 0;
	}
	context.putImageData(pixels, 0, 0);
	const painting = paint.getContext('2d');
	painting.globalCompositeOperation = 'destination-in';
	painting.drawImage(stencil, 0, 0);
}
