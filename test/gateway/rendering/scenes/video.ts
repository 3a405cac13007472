import { createCanvas, ImageData, type SKRSContext2D } from '@napi-rs/canvas';
import type { VideoFrameCopyToOptions } from '@napi-rs/webcodecs';
import '@napi-rs/webcodecs/polyfill';
import type { InputVideoTrack, VideoSample } from 'mediabunny' with { 'resolution-mode': 'import' };

import { framesPerSecond } from '../encoder';
import { fixedCamera, shoot } from './camera';
import type { Scene } from './scene';

/** Plays a video from its start, and again when the scene is longer. Rejects for what is no playable video. */
export async function videoScene(bytes: Uint8Array): Promise<Scene> {
	const { VideoSampleSink } = await import('mediabunny');
	const track = await openVideo(bytes);
	const start = await track.getFirstTimestamp();
	const length = Math.max((await track.computeDuration()) - start, 1 / framesPerSecond);
	const samples = new VideoSampleSink(track).samplesAtTimestamps(instants({ start, length }));
	const picture = createCanvas(await track.getDisplayWidth(), await track.getDisplayHeight());
	return {
		async draw(context, { progress }) {
			const sample = await next(samples);
			if (sample) await paint(picture.getContext('2d'), sample);
			shoot(context, picture, { camera: fixedCamera, progress });
		},
		async close() {
			await samples.return();
			track.input.dispose();
		},
	};
}

async function openVideo(bytes: Uint8Array): Promise<InputVideoTrack> {
	const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
	const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
	if (!(await input.canRead())) throw new Error('The file is no video of a known format.');
	const track = await input.getPrimaryVideoTrack();
	if (!track) throw new Error('The file has no video track.');
	if (!(await track.canDecode())) {
		throw new Error(`Its codec (${(await track.getCodec()) ?? 'unknown'}) cannot be decoded.`);
	}
	return track;
}

/** The point of the video to show on each frame of the scene, in seconds. */
function* instants({ start, length }: { start: number; length: number }): Generator<number> {
	for (let frame = 0; ; frame++) yield start + ((frame / framesPerSecond) % length);
}

/** Null where the video has no frame yet, as some start late. */
async function next(samples: AsyncIterator<VideoSample | null>): Promise<VideoSample | null> {
	try {
		const { value } = await samples.next();
		return value;
	} catch (cause) {
		throw new Error('The video is damaged and cannot be decoded.', { cause });
	}
}

/** The types of the codec know this option; the ones that mediabunny uses are older. */
const asPixels: VideoFrameCopyToOptions = { format: 'RGBA' };

/** Puts a decoded frame on the canvas as it is meant to be seen: phones store upright videos lying down. */
async function paint(context: SKRSContext2D, sample: VideoSample): Promise<void> {
	const { width, height } = sample.visibleRect;
	const pixels = new Uint8Array(width * height * 4);
	await sample.copyTo(pixels, asPixels);
	const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
	const stored = createCanvas(width, height);
	stored.getContext('2d').putImageData(image, 0, 0);

	const { squarePixelWidth, squarePixelHeight, rotation } = sample;
	context.save();
	context.translate(context.canvas.width / 2, context.canvas.height / 2);
	context.rotate((rotation * Math.PI) / 180);
	context.drawImage(
		stored,
		-squarePixelWidth / 2,
		-squarePixelHeight / 2,
		squarePixelWidth,
		squarePixelHeight,
	);
	context.restore();
	sample.close();
}
