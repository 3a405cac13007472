import { createCanvas } from '@napi-rs/canvas';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { Renderer, type ReferenceMedia, type RenderSpec } from '../gateway/rendering';
import { atMost, type Figure } from './report';

const caption =
	'image 1 walks through the night market of image 2, the camera follows; rain on the ground, and the crowd opens slowly as the light of image 3 falls on the stalls';

/** Measures the embedded gateway's renderer: how long videos take, and whether the caller stays responsive. */
export async function measureRendering(): Promise<Figure[]> {
	const media = [
		landscape('image/jpeg', 20),
		landscape('image/png', 140),
		landscape('image/webp', 260),
	];
	const spec = { seconds: 5, caption, watermark: true, media };
	const renderer = new Renderer();
	const delay = monitorEventLoopDelay({ resolution: 1 });
	try {
		delay.enable();
		// The histogram measures from one run of its timer to the next, so the timer must have run before.
		await sleep(50);
		delay.reset();
		const cold = await secondsOf(renderer, { ...spec, width: 1280, height: 720 });
		const warm = await secondsOf(renderer, { ...spec, width: 1280, height: 720 });
		const large = await secondsOf(renderer, { ...spec, width: 1920, height: 1080 });
		delay.disable();
		const seconds = { unit: 's', digits: 1 };
		const blocked = delay.max / 1e6;
		return [
			atMost('5 s of 720P from 3 images, first video', cold, 3, seconds),
			atMost('5 s of 720P from 3 images, next video', warm, 3, seconds),
			atMost('5 s of 1080P from 3 images', large, 8, seconds),
			atMost('longest event-loop delay of the gateway meanwhile', blocked, 50, {
				unit: 'ms',
				digits: 1,
			}),
		];
	} finally {
		await renderer.close();
	}
}

async function secondsOf(renderer: Renderer, spec: RenderSpec): Promise<number> {
	const start = performance.now();
	await renderer.render(spec);
	return (performance.now() - start) / 1000;
}

/** An image of 2400x1600 with gradients, edges and fine grain, as hard to decode and encode as a photo. */
function landscape(type: 'image/jpeg' | 'image/png' | 'image/webp', hue: number): ReferenceMedia {
	const canvas = createCanvas(2400, 1600);
	const context = canvas.getContext('2d');
	const { width, height } = canvas;
	const sky = context.createLinearGradient(0, 0, 0, height);
	sky.addColorStop(0, `hsl(${hue} 70% 75%)`);
	sky.addColorStop(1, `hsl(${hue + 60} 60% 35%)`);
	context.fillStyle = sky;
	context.fillRect(0, 0, width, height);
	for (let hill = 0; hill < 6; hill++) {
		context.fillStyle = `hsl(${hue + 120 + 10 * hill} 40% ${50 - 7 * hill}%)`;
		context.beginPath();
		context.moveTo(0, height);
		for (let x = 0; x <= width; x += 5) {
			const slope = Math.sin(x / (300 - 30 * hill) + hill) * 90 + Math.sin(x / 23) * 8;
			context.lineTo(x, height * (0.4 + 0.1 * hill) + slope);
		}
		context.lineTo(width, height);
		context.fill();
	}
	for (let grain = 0; grain < 60_000; grain++) {
		context.fillStyle = grain % 2 ? 'rgb(255 255 255 / 0.06)' : 'rgb(0 0 0 / 0.06)';
		context.fillRect((grain * 7919) % width, (grain * 104_729) % height, 3, 3);
	}
	return {
		type: 'reference_image',
		bytes: type === 'image/png' ? canvas.toBuffer(type) : canvas.toBuffer(type, 90),
	};
}
