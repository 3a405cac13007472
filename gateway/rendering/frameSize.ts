import type { Size } from './spec';

/** The size in pixels of a frame of this shape (`width:height`): even numbers, which H.264 needs. */
export function frameSize(shortSide: number, shape: string): Size {
	const [width, height] = shape.split(':').map(Number);
	const scale = shortSide / Math.min(width, height);
	const even = (length: number) => 2 * Math.round((length * scale) / 2);
	return { width: even(width), height: even(height) };
}
