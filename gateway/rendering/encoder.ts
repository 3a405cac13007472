import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import '@napi-rs/webcodecs/polyfill';
import { setImmediate } from 'node:timers/promises';

import type { Size } from './spec';

const framesPerSecond = 24;

/** Enough for a detailed picture in slow motion to look clean at the fastest setting of the encoder. */
const bitsPerPixelAndSecond = 4.5;

interface Video extends Size {
	seconds: number;
	/** Draws the frame at a time in the video. The canvas still contains the frame before. */
	drawFrame(context: SKRSContext2D, seconds: number): void;
}

/** Encodes H.264 into an mp4 that plays while it loads: its index is before its data. */
export async function encodeVideo({
	width,
	height,
	seconds,
	drawFrame,
}: Video): Promise<Uint8Array<ArrayBuffer>> {
	const { BufferTarget, Mp4OutputFormat, Output, VideoSample, VideoSampleSource } =
		await import('mediabunny');
	const target = new BufferTarget();
	const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
	const source = new VideoSampleSource({
		codec: 'avc',
		bitrate: width * height * bitsPerPixelAndSecond,
		keyFrameInterval: 2,
		latencyMode: 'realtime',
		// The frames are the same on every machine, whatever its graphics card.
		hardwareAcceleration: 'prefer-software',
	});
	output.addVideoTrack(source, { frameRate: framesPerSecond });

	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d', { alpha: false });
	try {
		await output.start();
		for (let frame = 0; frame < Math.round(seconds * framesPerSecond); frame++) {
			drawFrame(context, frame / framesPerSecond);
			const sample = new VideoSample(canvas.data(), {
				format: 'RGBX',
				codedWidth: width,
				codedHeight: height,
				timestamp: frame / framesPerSecond,
				duration: 1 / framesPerSecond,
				colorSpace: encodedColours,
			});
			await source.add(sample);
			sample.close();
			// Native memory is freed between turns of the event loop. Without a turn, every frame would stay in memory.
			await setImmediate();
		}
		await output.finalize();
	} catch (error) {
		await output.cancel();
		throw error;
	}
	return new Uint8Array(target.buffer!);
}

/**
 * The colour space into which the encoder converts RGB. Without it, the file would declare the colour space of the
 * canvas, and players would show wrong colours.
 */
const encodedColours = {
	primaries: 'bt709',
	transfer: 'bt709',
	matrix: 'smpte170m',
	fullRange: false,
} as const;
