import { createCanvas } from '@napi-rs/canvas';

import type { Random } from '../../random';
import type { Size } from '../spec';
import { fixedCamera, shoot } from './camera';
import type { Scene } from './scene';

/** Slowly drifting lights of related colours, for a video made from text alone. */
export function gradientScene(frame: Size, random: Random) {
	// The scene has no sharp edges, so it is drawn small and enlarged.
	const canvas = createCanvas(Math.ceil(frame.width / 8), Math.ceil(frame.height / 8));
	const small = canvas.getContext('2d');
	const { width, height } = canvas;
	const hue = 360 * random();
	const lights = Array.from({ length: 4 }, (_, index) => ({
		colour: `${Math.round(hue + (index - 1.5) * 35)} 75% ${45 + index * 6}%`,
		x: random() * width,
		y: random() * height,
		radius: (0.5 + 0.3 * random()) * Math.max(width, height),
		phase: 2 * Math.PI * random(),
	}));
	return {
		draw(context, { seconds, progress }) {
			small.fillStyle = `hsl(${hue} 60% 16%)`;
			small.fillRect(0, 0, width, height);
			for (const { colour, x, y, radius, phase } of lights) {
				const angle = phase + seconds * 0.5;
				const centre = [x + width * 0.18 * Math.cos(angle), y + height * 0.18 * Math.sin(angle)];
				const light = small.createRadialGradient(
					centre[0],
					centre[1],
					0,
					centre[0],
					centre[1],
					radius,
				);
				light.addColorStop(0, `hsl(${colour} / 0.85)`);
				light.addColorStop(1, `hsl(${colour} / 0)`);
				small.fillStyle = light;
				small.fillRect(0, 0, width, height);
			}
			shoot(context, canvas, { camera: fixedCamera, progress });
		},
	} satisfies Scene;
}
