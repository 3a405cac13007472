import { createCanvas, type Canvas, type SKRSContext2D } from '@napi-rs/canvas';

import type { Size } from '../spec';
import { textFont } from './fonts';
import { wrap } from './wrap';

/** Text on a dark, half transparent plate, which is drawn once and then laid over every frame. */
interface Label {
	plate: Canvas;
	x: number;
	y: number;
}

/** Lays the label over the frame. @param opacity from 0 to 1 */
export function drawLabel(context: SKRSContext2D, { plate, x, y }: Label, opacity: number): void {
	context.globalAlpha = opacity;
	context.drawImage(plate, x, y);
	context.globalAlpha = 1;
}

/** The caption in the lower part of the frame, above the watermark. */
export function captionLabel(caption: string, frame: Size): Label {
	const pixels = pixelsOf(frame);
	const font = fontOf(pixels(30));
	const lines = wrap(caption, {
		lines: 3,
		width: frame.width * 0.84,
		measure: (text) => widthOf(text, font),
	});
	const plate = drawPlate(lines, { font, lineHeight: pixels(40), padding: pixels(18) });
	return {
		plate,
		x: Math.round((frame.width - plate.width) / 2),
		y: frame.height - plate.height - pixels(72),
	};
}

export const watermarkLabel = (frame: Size): Label => cornerLabel('AI generated', frame);

/** A short text at the bottom-right. */
export function cornerLabel(text: string, frame: Size): Label {
	const pixels = pixelsOf(frame);
	const plate = drawPlate([text], {
		font: fontOf(pixels(20)),
		lineHeight: pixels(22),
		padding: pixels(9),
	});
	return {
		plate,
		x: frame.width - plate.width - pixels(16),
		y: frame.height - plate.height - pixels(16),
	};
}

/** Scales lengths that are given for a 720P frame. */
function pixelsOf(frame: Size): (length: number) => number {
	return (length) => Math.round((length * Math.min(frame.width, frame.height)) / 720);
}

function fontOf(size: number): string {
	return `${size}px ${textFont}`;
}

const ruler = createCanvas(1, 1).getContext('2d');

function widthOf(text: string, font: string): number {
	ruler.font = font;
	return ruler.measureText(text).width;
}

interface PlateStyle {
	font: string;
	lineHeight: number;
	padding: number;
}

function drawPlate(lines: string[], { font, lineHeight, padding }: PlateStyle): Canvas {
	const textWidth = Math.max(...lines.map((line) => widthOf(line, font)));
	const plate = createCanvas(
		Math.ceil(textWidth) + 3 * padding,
		lines.length * lineHeight + 2 * padding,
	);
	const context = plate.getContext('2d');
	context.fillStyle = 'rgb(0 0 0 / 0.55)';
	context.roundRect(0, 0, plate.width, plate.height, padding);
	context.fill();
	context.fillStyle = 'white';
	context.font = font;
	context.textAlign = 'center';
	context.textBaseline = 'middle';
	lines.forEach((line, index) => {
		context.fillText(line, plate.width / 2, padding + (index + 0.5) * lineHeight);
	});
	return plate;
}
