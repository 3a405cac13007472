import { createCanvas, type Canvas, type Image } from '@napi-rs/canvas';

import type { Size } from '../spec';
import { coveringSize, shoot, type Camera } from './camera';
import type { Scene } from './scene';

/** A picture under a slowly moving camera. */
export function stillScene(image: Image, frame: Size, camera: Camera): Scene {
	const picture = fitPicture(image, frame);
	return {
		draw: (context, { progress }) => shoot(context, picture, { camera, progress }),
	};
}

/** A panorama is cut to its middle part, at most this many frames wide or high, because its size has no limit. */
const maxFrames = 2;

/** Scales the picture once, with the best filter, to the size at which the frames show it. */
function fitPicture(image: Image, frame: Size): Canvas {
	const covering = coveringSize(image, frame);
	const width = Math.round(Math.min(covering.width, maxFrames * frame.width));
	const height = Math.round(Math.min(covering.height, maxFrames * frame.height));
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	// A cut-out product with a transparent background is meant for a white page.
	context.fillStyle = 'white';
	context.fillRect(0, 0, width, height);
	context.imageSmoothingQuality = 'high';
	context.drawImage(
		image,
		(width - covering.width) / 2,
		(height - covering.height) / 2,
		covering.width,
		covering.height,
	);
	return canvas;
}
