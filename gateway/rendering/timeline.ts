import type { Moment } from './scenes';

/** One visible scene at an instant. A later scene in the list is in front of an earlier one. */
interface Showing extends Moment {
	scene: number;
	/** From 0 to 1. It is below 1 only while the scene fades in over the one before. */
	opacity: number;
}

const longestFadeSeconds = 0.6;

/** Gives every scene an equal share of the video. At each seam, the next scene fades in over the one before. */
export function scenesAt(
	instant: number,
	{ scenes, seconds }: { scenes: number; seconds: number },
): Showing[] {
	const share = seconds / scenes;
	const fade = Math.min(longestFadeSeconds, share / 3);
	const showings: Showing[] = [];
	for (let scene = 0; scene < scenes; scene++) {
		const start = scene === 0 ? 0 : scene * share - fade / 2;
		const end = scene === scenes - 1 ? seconds : (scene + 1) * share + fade / 2;
		if (instant < start || instant >= end) continue;
		showings.push({
			scene,
			opacity: scene === 0 ? 1 : Math.min(1, (instant - start) / fade),
			seconds: instant - start,
			progress: (instant - start) / (end - start),
		});
	}
	return showings;
}
