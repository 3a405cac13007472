import { createCanvas, type Image } from '@napi-rs/canvas';

const names = {
	black: [0, 0, 0],
	grey: [128, 128, 128],
	white: [255, 255, 255],
	red: [220, 20, 30],
	orange: [250, 140, 20],
	brown: [120, 70, 30],
	yellow: [250, 220, 40],
	green: [40, 160, 60],
	turquoise: [50, 200, 200],
	blue: [30, 70, 220],
	purple: [130, 40, 160],
	pink: [250, 140, 190],
} as const;

type ColourName = keyof typeof names;
const colours = Object.entries(names) as Array<[ColourName, (typeof names)[ColourName]]>;

/** Enough pixels to find the main colour of an image. */
const sampleSide = 32;

/** The name of the main colour of an image on a white background. */
export function mainColour(image: Image): ColourName {
	const context = createCanvas(sampleSide, sampleSide).getContext('2d');
	context.fillStyle = 'white';
	context.fillRect(0, 0, sampleSide, sampleSide);
	context.drawImage(image, 0, 0, sampleSide, sampleSide);
	const { data } = context.getImageData(0, 0, sampleSide, sampleSide);

	const pixels = new Map<ColourName, number>();
	for (let offset = 0; offset < data.length; offset += 4) {
		const name = nearestColour(data[offset], data[offset + 1], data[offset + 2]);
		pixels.set(name, (pixels.get(name) ?? 0) + 1);
	}
	const [[name]] = [...pixels].sort(([, one], [, other]) => other - one);
	return name;
}

function nearestColour(red: number, green: number, blue: number): ColourName {
	const distance = ([r, g, b]: readonly number[]) =>
		(r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
	const nearest = colours.reduce((best, colour) =>
		distance(colour[1]) < distance(best[1]) ? colour : best,
	);
	return nearest[0];
}
