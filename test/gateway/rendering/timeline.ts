import type { Moment } from './scenes';

/** One scene as it is seen at an instant: the later in the list, the more in front. */
interface Showing extends Moment {
	scene: number;
	/** From 0 to 1; below 1 only while it fades in over the scene before it. */
	opacity: number;
}

const longestFadeSeconds = 0.6;

/** Gives every scene an even share of the video; at the seams the next fades in over the one before. */
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
