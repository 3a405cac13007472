import type { Canvas, Image, SKRSContext2D } from '@napi-rs/canvas';

import type { Random } from '../../random';
import type { Size } from '../spec';

/** The part that the camera shows. Zoom 1 is the largest part that fills the frame; x and y (0 to 1) are its place. */
interface Shot {
	zoom: number;
	x: number;
	y: number;
}

/** A slow move over a still picture. */
export interface Camera {
	from: Shot;
	to: Shot;
}

const wholePicture: Shot = { zoom: 1, x: 0.5, y: 0.5 };

/** Shows the picture without a move. */
export const fixedCamera: Camera = { from: wholePicture, to: wholePicture };

/** Starts exactly on the picture and closes in on a part of it. */
export function closingIn(random: Random): Camera {
	return { from: wholePicture, to: { zoom: 1.14, x: aside(random), y: aside(random) } };
}

/** Closes in or draws back, drifting across the picture. */
export function drifting(random: Random): Camera {
	const x = aside(random);
	const y = aside(random);
	const wide = { zoom: 1.03, x: 1 - x, y: 1 - y };
	const close = { zoom: 1.16, x, y };
	return random() < 0.5 ? { from: wide, to: close } : { from: close, to: wide };
}

/** A place visibly off the middle, to either side. */
function aside(random: Random): number {
	const distance = 0.15 + 0.15 * random();
	return random() < 0.5 ? 0.5 - distance : 0.5 + distance;
}

/** The size at which a picture just fills the frame with its proportions kept. */
export function coveringSize(picture: Size, frame: Size): Size {
	const scale = Math.max(frame.width / picture.width, frame.height / picture.height);
	return { width: picture.width * scale, height: picture.height * scale };
}

/** Fills the frame with the part of the picture that the camera shows at this point of its move (0 to 1). */
export function shoot(
	context: SKRSContext2D,
	picture: Image | Canvas,
	{ camera, progress }: { camera: Camera; progress: number },
): void {
	const frame = context.canvas;
	const between = (key: keyof Shot) =>
		camera.from[key] + (camera.to[key] - camera.from[key]) * progress;
	const covering = coveringSize(picture, frame);
	const width = covering.width * between('zoom');
	const height = covering.height * between('zoom');
	context.drawImage(
		picture,
		(frame.width - width) * between('x'),
		(frame.height - height) * between('y'),
		width,
		height,
	);
}
