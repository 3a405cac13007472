import { createCanvas } from '@napi-rs/canvas';
import { EncodedVideoChunk, VideoDecoder, type VideoFrame } from '@napi-rs/webcodecs';
import { createFile, MP4BoxBuffer, type ISOFile } from 'mp4box';
import { Worker } from 'node:worker_threads';

import { probeImage, Renderer, type RenderSpec } from '../gateway/rendering';
import { WorkerPool } from '../gateway/rendering/pool';
import { wrap } from '../gateway/rendering/text/wrap';
import { scenesAt } from '../gateway/rendering/timeline';

const renderer = new Renderer({ workers: 2 });
afterAll(async () => await renderer.close());

const small = { width: 320, height: 180, seconds: 1, caption: '', watermark: false, media: [] };
const render = async (spec: Partial<RenderSpec>) => await renderer.render({ ...small, ...spec });

describe('the file', () => {
	const sizes = [
		[1280, 720],
		[720, 1280],
		[720, 720],
		[960, 720],
		[720, 960],
		[1920, 1080],
		[1080, 1920],
		[1080, 1080],
		[1440, 1080],
		[1080, 1440],
	];

	it.each(sizes)('is an H.264 mp4 of %i x %i with every frame', async (width, height) => {
		const info = parse(await render({ width, height, caption: 'A lighthouse' })).getInfo();

		expect(info.tracks).toHaveLength(1);
		const [track] = info.tracks;
		expect(track.codec).toMatch(/^avc1\./);
		expect(track.video).toMatchObject({ width, height });
		expect(track.nb_samples).toBe(24);
		expect(track.samples_duration / track.timescale).toBe(1);
		expect(info.duration / info.timescale).toBe(1);
	});

	it('has its index before its data, so that it plays while it loads', async () => {
		const order = parse(await render({})).boxes.map(({ type }) => type);

		expect(order.indexOf('moov')).toBeGreaterThan(-1);
		expect(order.indexOf('moov')).toBeLessThan(order.indexOf('mdat'));
	});

	it('names the colours that the encoder really makes', async () => {
		expect(parse(await render({})).getBox('colr')).toMatchObject({
			colour_primaries: 1,
			transfer_characteristics: 1,
			matrix_coefficients: 6,
			full_range_flag: 0,
		});
	});

	it('lasts as long as asked', async () => {
		const info = parse(await render({ seconds: 3 })).getInfo();

		expect(info.tracks[0].nb_samples).toBe(72);
		expect(info.duration / info.timescale).toBe(3);
	});
});

describe('the picture', () => {
	it('shows each reference image for its share of the time', async () => {
		const media = ['red', 'lime', 'blue'].map((colour) => reference(picture(colour)));
		const [first, second, third] = await decode(await render({ seconds: 3, media }), [12, 36, 60]);

		expect(colourAt(first, 160, 60)).toEqual([255, 0, 0]);
		expect(colourAt(second, 160, 60)).toEqual([0, 255, 0]);
		expect(colourAt(third, 160, 60)).toEqual([0, 0, 255]);
	});

	it('starts exactly on the first frame and then moves', async () => {
		const image = createCanvas(320, 180);
		const context = image.getContext('2d');
		for (let column = 0; column < 8; column++) {
			context.fillStyle = `hsl(${column * 45} 70% 50%)`;
			context.fillRect(column * 40, 0, 40, 180);
		}
		const media = [
			reference(picture('black')),
			{ type: 'first_frame' as const, bytes: image.toBuffer('image/png') },
		];
		const [start, later] = await decode(await render({ caption: 'It moves', media }), [0, 11]);

		expect(difference(start, image.data())).toBeLessThan(4);
		expect(difference(later, image.data())).toBeGreaterThan(8);
	});

	it('plays a reference video, over again when it is shorter than its scene', async () => {
		const halves = ['red', 'blue'].map((colour) => reference(picture(colour)));
		const bytes = await render({ seconds: 2, media: halves });
		const video = await render({ seconds: 4, media: [{ type: 'reference_video', bytes }] });
		const [first, second, again] = await decode(video, [6, 42, 54]);

		expect(colourAt(first, 160, 60)).toEqual([255, 0, 0]);
		expect(colourAt(second, 160, 60)).toEqual([0, 0, 255]);
		expect(colourAt(again, 160, 60)).toEqual([255, 0, 0]);
	});

	it('fills the frame from an image of another shape', async () => {
		const media = [reference(picture('red', { width: 50, height: 400 }))];
		const [frame] = await decode(await render({ media }), [12]);

		expect(colourAt(frame, 2, 2)).toEqual([255, 0, 0]);
		expect(colourAt(frame, 317, 177)).toEqual([255, 0, 0]);
	});

	it('is the same for the same spec, and another for another seed', async () => {
		const [one, same, other] = await Promise.all(
			[1, 1, 2].map(async (seed) => (await decode(await render({ seed }), [12]))[0]),
		);

		expect(difference(one, same.pixels)).toBe(0);
		expect(difference(one, other.pixels)).toBeGreaterThan(2);
	});

	it('carries the caption in white letters in the lower part, however long it is', async () => {
		const media = [reference(picture('red'))];
		const [plain] = await decode(await render({ media }), [20]);
		const [captioned] = await decode(await render({ media, caption: 'word '.repeat(999) }), [20]);

		const { top, bottom } = changedArea(plain, captioned);
		expect(top).toBeGreaterThan(90);
		expect(bottom).toBeLessThan(165);
		expect(whitePixels(plain)).toBe(0);
		expect(whitePixels(captioned)).toBeGreaterThan(50);
	});

	it('carries the watermark at the bottom-right and nowhere else', async () => {
		const spec = { width: 640, height: 360, media: [reference(picture('red'))] };
		const [plain] = await decode(await render(spec), [12]);
		const [marked] = await decode(await render({ ...spec, watermark: true }), [12]);

		const { left, top } = changedArea(plain, marked);
		expect(left).toBeGreaterThan(480);
		expect(top).toBeGreaterThan(310);
	});
});

describe('media that cannot be shown', () => {
	const broken = Buffer.from('<html>not found</html>');

	it('fails its own job by name, and the next one succeeds', async () => {
		const media = [reference(picture('red')), reference(broken)];
		await expect(render({ media })).rejects.toThrow(
			'media[1] (reference_image): The file is no JPEG, PNG, WebP, GIF, BMP, or AVIF image.',
		);
		await expect(render({ media: [{ type: 'reference_video', bytes: broken }] })).rejects.toThrow(
			'media[0] (reference_video): The file is no video of a known format.',
		);
		await expect(render({ media: [reference(picture('red'))] })).resolves.toBeInstanceOf(
			Uint8Array,
		);
	});

	it('is found by probing, which gives the size of a good image', async () => {
		await expect(probeImage(picture('red', { width: 30, height: 20 }))).resolves.toEqual({
			width: 30,
			height: 20,
		});
		await expect(probeImage(broken)).rejects.toThrow('The file is no JPEG');
		await expect(probeImage(picture('red').subarray(0, 40))).rejects.toThrow(
			'The file looks like a PNG image but cannot be decoded.',
		);
		await expect(probeImage(twoFrameGif())).rejects.toThrow('an animated GIF and no still image');
	});
});

describe('WorkerPool', () => {
	const startWorker = () =>
		new Worker(
			`const { parentPort } = require('node:worker_threads');
			parentPort.on('message', (task) => {
				if (task === 'throw') throw new Error('boom');
				if (task === 'exit') process.exit(3);
				if (task !== 'hang') parentPort.postMessage({ result: task });
			});`,
			{ eval: true },
		);

	it('replaces a worker that crashed', async () => {
		const pool = new WorkerPool<string, string>({ size: 1, startWorker });
		const results = await Promise.allSettled(
			['throw', 'exit', 'work'].map((task) => pool.run(task)),
		);
		await pool.close();

		expect(results).toMatchObject([
			{ status: 'rejected', reason: { message: 'The worker crashed: boom' } },
			{ reason: { message: 'The worker ended unexpectedly with exit code 3.' } },
			{ status: 'fulfilled', value: 'work' },
		]);
	});

	it('rejects what is unfinished when it closes, and all that comes later', async () => {
		const pool = new WorkerPool<string, string>({ size: 1, startWorker });
		const results = Promise.allSettled([pool.run('hang'), pool.run('queued')]);
		await pool.close();

		const closed = { status: 'rejected', reason: { message: 'The worker pool was closed.' } };
		expect(await results).toMatchObject([closed, closed]);
		await expect(pool.run('late')).rejects.toThrow('The worker pool is closed.');
	});
});

describe('wrap', () => {
	const wrapped = (text: string) =>
		wrap(text, { lines: 3, width: 10, measure: (line) => [...line].length });

	it.each([
		['', []],
		['short', ['short']],
		['one two three', ['one two', 'three']],
		['incomprehensible', ['incomprehe', 'nsible']],
		['一二三四五六七八九十甲乙', ['一二三四五六七八九十', '甲乙']],
		['one two three four five six seven', ['one two', 'three four', 'five six…']],
	])('breaks %j', (text, lines) => {
		expect(wrapped(text)).toEqual(lines);
	});
});

it('fades from one scene to the next at the seam', () => {
	const at = (instant: number) => scenesAt(instant, { scenes: 2, seconds: 4 });

	expect(at(0)).toMatchObject([{ scene: 0, opacity: 1, progress: 0 }]);
	expect(at(2)).toMatchObject([
		{ scene: 0, opacity: 1 },
		{ scene: 1, opacity: expect.closeTo(0.5) },
	]);
	expect(at(3.9)).toMatchObject([{ scene: 1, opacity: 1 }]);
});

// ── Making media ────────────────────────────────────────────────────────────────────────────────

function picture(colour: string, { width, height } = { width: 320, height: 180 }): Buffer {
	const canvas = createCanvas(width, height);
	const context = canvas.getContext('2d');
	context.fillStyle = colour;
	context.fillRect(0, 0, width, height);
	return canvas.toBuffer('image/png');
}

function reference(bytes: Uint8Array) {
	return { type: 'reference_image' as const, bytes };
}

function twoFrameGif(): Buffer {
	const header = Buffer.from('GIF89a\x01\0\x01\0\0\0\0', 'latin1');
	const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 0x01, 0]);
	return Buffer.concat([header, frame, frame, Buffer.from([0x3b])]);
}

// ── Reading videos, without the library that wrote them ─────────────────────────────────────────

function parse(video: Uint8Array): ISOFile {
	const file = createFile();
	file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(video).buffer, 0));
	file.flush();
	return file;
}

interface Frame {
	width: number;
	/** RGBA. */
	pixels: Uint8Array;
}

/** Decodes the frames with these numbers, which must ascend. */
async function decode(video: Uint8Array, numbers: number[]): Promise<Frame[]> {
	const file = parse(video);
	const [track] = file.getInfo().tracks;
	const configuration = file.getBox('avcC')!;
	const frames: Array<Promise<Frame>> = [];
	await new Promise<void>((resolve, reject) => {
		const decoder = new VideoDecoder({
			error: reject,
			output(frame) {
				const number = Math.round((frame.timestamp * 24) / 1e6);
				if (numbers.includes(number)) frames.push(readPixels(frame));
				else frame.close();
			},
		});
		decoder.configure({
			codec: track.codec,
			description: video.slice(
				configuration.start! + configuration.hdr_size!,
				configuration.start! + configuration.size,
			),
		});
		for (const { is_sync, cts, timescale, offset, size } of file.getTrackSamplesInfo(track.id)) {
			decoder.decode(
				new EncodedVideoChunk({
					type: is_sync ? 'key' : 'delta',
					timestamp: Math.round((cts * 1e6) / timescale),
					data: video.slice(offset, offset + size),
				}),
			);
		}
		decoder.flush().then(resolve, reject);
	});
	return await Promise.all(frames);
}

async function readPixels(frame: VideoFrame): Promise<Frame> {
	const width = frame.codedWidth;
	const pixels = new Uint8Array(width * frame.codedHeight * 4);
	await frame.copyTo(pixels, { format: 'RGBA' });
	frame.close();
	return { width, pixels };
}

/** Red, green and blue in steps of 51, as no codec keeps them exactly. */
function colourAt({ width, pixels }: Frame, x: number, y: number): number[] {
	const offset = (y * width + x) * 4;
	return [...pixels.subarray(offset, offset + 3)].map((value) => Math.round(value / 51) * 51);
}

function whitePixels({ pixels }: Frame): number {
	let count = 0;
	for (let offset = 0; offset < pixels.length; offset += 4)
		if (Math.min(...pixels.subarray(offset, offset + 3)) > 200) count += 1;
	return count;
}

/** Mean difference of the channels, from 0 to 255. */
function difference({ pixels }: Frame, other: Uint8Array): number {
	return (
		pixels.reduce((sum, value, index) => sum + Math.abs(value - other[index]), 0) / pixels.length
	);
}

/** The edges of the area in which two frames clearly differ. */
function changedArea({ width, pixels }: Frame, { pixels: others }: Frame) {
	const area = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
	for (let offset = 0; offset < pixels.length; offset++) {
		if (Math.abs(pixels[offset] - others[offset]) < 24) continue;
		const x = Math.floor(offset / 4) % width;
		const y = Math.floor(offset / 4 / width);
		area.left = Math.min(area.left, x);
		area.right = Math.max(area.right, x);
		area.top = Math.min(area.top, y);
		area.bottom = Math.max(area.bottom, y);
	}
	return area;
}
