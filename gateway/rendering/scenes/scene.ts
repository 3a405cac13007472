import type { SKRSContext2D } from '@napi-rs/canvas';

/** A point in time while a scene is on screen. */
export interface Moment {
	/** Seconds since the scene appeared. */
	seconds: number;
	/** From 0, when the scene appears, to 1, when it is gone. */
	progress: number;
}

/** One section of the video. */
export interface Scene {
	/** Fills the frame, with the opacity of the context. Called once for each frame of the section, in order. */
	draw(context: SKRSContext2D, moment: Moment): void;
}
