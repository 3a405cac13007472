import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';

// Files in the form that phones and cameras write, built from real JPEGs.

/** A baseline JPEG with a pattern, in which a lost byte is visible. */
export function jpegOf(colour: string, width = 64, height = 48): Buffer {
	const canvas = createCanvas(width, height);
	drawPattern(canvas.getContext('2d'), colour);
	return canvas.toBuffer('image/jpeg');
}

function drawPattern(context: SKRSContext2D, colour: string): void {
	const { width, height } = context.canvas;
	context.fillStyle = colour;
	context.fillRect(0, 0, width, height);
	for (let x = 0; x < width; x += 4) {
		context.fillStyle = `hsl(${x * 5}, 80%, 50%)`;
		context.fillRect(x, (x * 3) % height, 4, height / 2);
	}
}

/** A progressive JPEG of 48 x 40 pixels with ten scans, restart markers and stuffed bytes, made by libjpeg. */
export const progressiveJpeg = Buffer.from(
	'/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wgARCAAoADADASIAAhEBAxEB/8QAGQAAAwEBAQAAAAAAAAAAAAAAAAMEAgUG/8QAGAEBAQEBAQAAAAAAAAAAAAAABAMCAQX/3QAEAAP/2gAMAwEAAhADEAAAAfO1NwjCq24mxNbcTX//0OdW1fAqrbia1VtXNn//0SsDePioJsxWGF//xAAVEAEBAAAAAAAAAAAAAAAAAAAAEf/dAAQABv/aAAgBAQABBQKIiIj/0IiIiP/RiIiI/9KIiIj/04iIiP/EABcRAAMBAAAAAAAAAAAAAAAAAAABAhH/3QAEAAP/2gAIAQMBAT8Bi9IvSL0//9CL0i9IvT//0UxMTP/EABsRAAEFAQEAAAAAAAAAAAAAAAABAhFUYQQx/9oACAECAQE/AVdW2RXVtkV1bZP/0FdW2RXVtkV1bZP/0eNfTjX0419P/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/dAAQABv/aAAgBAQAGPwJf/9Bf/9Ff/9Jf/9Nf/8QAFRABAQAAAAAAAAAAAAAAAAAAAAH/2gAIAQEAAT8hjGMYx//QjGMYx//RjGMYx//SjGMYx//TjGMYx//dAAQAA//aAAwDAQACAAMAAAAQdi7/AP/Qk7G//9H96H//xAAXEQADAQAAAAAAAAAAAAAAAAAAASEQ/9oACAEDAQE/EN//AP/Q3/8A/9FsGwbD/8QAGxEAAQUBAQAAAAAAAAAAAAAAEQABUZHwocH/2gAIAQIBAT8QzGAuVmMBcrMYC5X/0MxgLlZjAXKzGAuV/9Fzn1Oc+pzn1f/EABUQAQEAAAAAAAAAAAAAAAAAAABh/90ABAAG/9oACAEBAAE/EJJJpJJP/9CaSaSSb//Rkkkkkm//0pJJJpJP/9OSaSSST//Z',
	'base64',
);

/** The JPEG with one more segment. @param offset where it is inserted; by default right after the start marker */
export function withSegment(jpeg: Buffer, marker: number, data: Buffer, offset = 2): Buffer {
	const head = Buffer.from([0xff, marker, 0, 0]);
	head.writeUInt16BE(data.length + 2, 2);
	return Buffer.concat([jpeg.subarray(0, offset), head, data, jpeg.subarray(offset)]);
}

/** The index of a file with several images (CIPA DC-007), as far as readers use it: the entry with their number. */
function pictureIndex(count: number): Buffer {
	const index = Buffer.alloc(26);
	index.write('MPF\0II*\0', 'latin1');
	const view = new DataView(index.buffer, index.byteOffset + 4, 22);
	view.setUint32(4, 8, true);
	view.setUint16(8, 1, true);
	view.setUint16(10, 0xb001, true);
	view.setUint16(12, 4, true);
	view.setUint32(14, 1, true);
	view.setUint32(18, count, true);
	return index;
}

/** A phone's file: the first image has an index, and the other images follow it. */
export const withPictures = (jpeg: Buffer, ...others: Buffer[]): Buffer =>
	Buffer.concat([withSegment(jpeg, 0xe2, pictureIndex(1 + (others.length || 1))), ...others]);
