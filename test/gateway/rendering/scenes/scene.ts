import type { SKRSContext2D } from '@napi-rs/canvas';

/** A point in the time that a scene is on screen. */
export interface Moment {
	/** Since the scene appeared. */
	seconds: number;
	/** From 0, when it appears, to 1, when it is gone. */
	progress: number;
}

/** What is on screen for a stretch of the video. */
export interface Scene {
	/** Fills the frame, with the opacity of the context. Called once for each frame of the stretch, in order. */
	draw(context: SKRSContext2D, moment: Moment): void;
}
