import { encodeVideo } from './encoder';
import { openScenes } from './scenes';
import type { RenderSpec } from './spec';
import { captionLabel, drawLabel, watermarkLabel } from './text/labels';
import { scenesAt } from './timeline';

/** The caption fades in, because the first frame of the video must equal a given first frame. */
const captionFadeSeconds = 0.5;

/** Renders the whole video on this thread. Rejects when aborted, or with an error that names the invalid media item. */
export async function render(
	spec: RenderSpec,
	signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
	const { width, height, seconds } = spec;
	const scenes = await openScenes(spec);
	const caption = spec.caption.trim() ? captionLabel(spec.caption, spec) : undefined;
	const watermark = spec.watermark ? watermarkLabel(spec) : undefined;
	return await encodeVideo({
		width,
		height,
		seconds,
		drawFrame(context, instant) {
			signal.throwIfAborted();
			for (const showing of scenesAt(instant, { scenes: scenes.length, seconds })) {
				context.globalAlpha = showing.opacity;
				scenes[showing.scene].draw(context, showing);
			}
			context.globalAlpha = 1;
			if (caption) drawLabel(context, caption, Math.min(1, instant / captionFadeSeconds));
			if (watermark) drawLabel(context, watermark, 1);
		},
	});
}
