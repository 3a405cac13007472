import { createCanvas } from '@napi-rs/canvas';
import type { AxiosInstance } from 'axios';
import { randomBytes } from 'node:crypto';
import timers from 'node:timers/promises';
import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import { startGateway, type Gateway, type RenderSpec } from '../gateway';
import { clientOf, createTask, download, ended } from '../gateway/client';

const video = randomBytes(200_000);
const hour = 3_600_000;

let gateway: Gateway;
let client: AxiosInstance;
let picture: string;
let rendered: RenderSpec[] = [];
let time = Date.now();

beforeAll(async () => {
	gateway = await startGateway({
		jobSeconds: 0.2,
		now: () => time,
		render: async (spec) => {
			rendered.push(spec);
			return video;
		},
	});
	client = clientOf(gateway);
	picture = gateway.addMedia('a cat.png', createCanvas(64, 40).toBuffer('image/png'), 'image/png');
});
afterAll(async () => await gateway.close());
beforeEach(() => {
	rendered = [];
});

const image = (url = picture) => ({ type: 'reference_image', url });

/** A body that is accepted, with changes. */
const body = ({
	model = 'alpha-1.1-r2v',
	parameters,
	...input
}: Record<string, unknown> = {}): unknown => ({
	model,
	input: { prompt: 'a cat', media: [image()], ...input },
	parameters,
});

const poll = async (id: string) => await client.get(`/v1/tasks/${id}`);

describe('a passthrough task', () => {
	it('goes from created to downloaded', async () => {
		const phases: string[] = [];
		gateway.on('job', ({ phase, progress }) => phases.push(`${phase} ${progress}`));

		// It stays in line until it has been asked for.
		let start = () => {};
		const pause = jest
			.spyOn(timers, 'setTimeout')
			.mockImplementationOnce(async () => await new Promise<never>((go) => (start = go as never)));
		const created = await createTask(client, body());
		const requestId = String(created.headers['x-request-id']);
		expect(created.status).toBe(200);
		expect(created.data).toEqual({
			output: { task_id: expect.any(String), task_status: 'PENDING' },
			request_id: requestId,
		});

		const id = created.data.output.task_id;
		expect((await poll(id)).data).toEqual({ task_id: id, status: 'submitted', progress: 0 });
		start();
		pause.mockRestore();
		await ended(gateway, id);
		const { data } = await poll(id);
		expect(data).toEqual({
			task_id: id,
			status: 'completed',
			progress: 100,
			result_url: expect.stringContaining(gateway.storageUrl),
		});
		expect(phases).toEqual(['queued 0', 'running 30', 'succeeded 100']);

		const file = await download(data.result_url);
		expect(file.status).toBe(200);
		expect(file.headers['content-type']).toBe('video/mp4');
		expect(file.data.equals(video)).toBe(true);

		expect(gateway.ledger).toEqual([
			{
				job: id,
				kind: 'task',
				model: 'alpha-1.1-r2v',
				quantity: 1,
				unit: 'video',
				key: 'demo-key',
				requestId,
				at: expect.any(Number),
			},
		]);
		const traffic = gateway.requests.filter(({ jobId }) => jobId === id);
		expect(traffic.map(({ host, route, method, status }) => [host, route, method, status])).toEqual(
			[
				['api', 'referenceVideoCreate', 'POST', 200],
				['api', 'task', 'GET', 200],
				['api', 'task', 'GET', 200],
				['storage', 'download', 'GET', 200],
			],
		);
		expect(traffic[0].body).toEqual(body());
	});

	it('is fetched its media by plain GET', async () => {
		const { data } = await createTask(client, body());
		await ended(gateway, data.output.task_id);
		const fetches = gateway.requests.filter(({ route }) => route === 'media');
		expect(fetches.at(-1)).toMatchObject({ method: 'GET', url: '/media/a%20cat.png', status: 200 });
		expect(fetches.at(-1)?.headers).not.toHaveProperty('authorization');
	});

	it('has another signed link at each poll', async () => {
		const { data } = await createTask(client, body());
		await ended(gateway, data.output.task_id);
		const first = await poll(data.output.task_id);
		time += 1000;
		const second = await poll(data.output.task_id);
		expect(second.data.result_url).not.toBe(first.data.result_url);
	});

	it('is forgotten after 24 hours, and unknown to the other endpoint', async () => {
		const { data } = await createTask(client, body());
		const id = data.output.task_id;
		expect((await client.get(`/v1/videos/${id}`)).status).toBe(404);
		time += 24 * hour;
		expect((await poll(id)).status).toBe(200);
		time += 1;
		const forgotten = await poll(id);
		expect(forgotten.status).toBe(404);
		expect(forgotten.data.error.code).toBe('task_not_found');
	});
});

describe('what is rendered', () => {
	const spec = async (changes: Record<string, unknown>): Promise<RenderSpec> => {
		const { data } = await createTask(client, body(changes));
		await ended(gateway, data.output.task_id);
		return rendered[0];
	};

	it('has the defaults of its model', async () => {
		expect(await spec({})).toMatchObject({
			width: 1280,
			height: 720,
			seconds: 5,
			caption: 'a cat',
			watermark: false,
		});
		rendered = [];
		expect(await spec({ model: 'beta-2.7-r2v' })).toMatchObject({ width: 1920, height: 1080 });
	});

	it('has what was asked for', async () => {
		const parameters = { resolution: '1080P', duration: 2, watermark: true, seed: 7 };
		expect(await spec({ parameters })).toMatchObject({
			width: 1920,
			height: 1080,
			seconds: 2,
			watermark: true,
			seed: 7,
			media: [{ type: 'reference_image' }],
		});
	});

	it('has the ratio, unless a first frame gives its shape', async () => {
		const model = 'beta-2.7-r2v';
		const parameters = { resolution: '720P', ratio: '3:4' };
		expect(await spec({ model, parameters })).toMatchObject({ width: 720, height: 960 });
		rendered = [];
		const media = [image(), { type: 'first_frame', url: picture }];
		expect(await spec({ model, parameters, media })).toMatchObject({ width: 1152, height: 720 });
	});
});

describe('a creation that is refused', () => {
	const still = (url = 'https://media.example/a.png') => image(url);
	const beta = 'beta-2.7-r2v';
	const clip = { type: 'reference_video', url: 'https://media.example/clip.mp4' };
	const frame = { type: 'first_frame', url: 'https://media.example/frame.png' };
	const images = (count: number) => Array.from({ length: count }, () => still());

	it.each<[string, Record<string, unknown>, number, string, string]>([
		['unknown model', { model: 'vid-3.1' }, 400, 'model_not_found', 'model'],
		['no prompt', { prompt: undefined }, 400, 'invalid_prompt', 'input.prompt'],
		[
			'long prompt',
			{ model: beta, prompt: 'x'.repeat(5001) },
			400,
			'invalid_prompt',
			'input.prompt',
		],
		['moderation', { prompt: 'a [blocked] cat' }, 403, 'invalid_prompt', 'input.prompt'],
		['no media', { media: undefined }, 500, 'invalid_parameter', 'input.media'],
		['empty media', { media: [] }, 500, 'invalid_parameter', 'input.media'],
		['media no array', { media: still() }, 400, 'invalid_parameter', 'input.media'],
		['10 images', { media: images(10) }, 400, 'invalid_parameter', 'input.media'],
		['6 of 5', { model: beta, media: images(6) }, 400, 'invalid_parameter', 'input.media'],
		['2 frames', { model: beta, media: [frame, frame] }, 400, 'invalid_parameter', 'input.media'],
		['video for alpha', { media: [clip] }, 400, 'invalid_parameter', 'input.media[0].type'],
		['no type', { media: [{ url: still().url }] }, 400, 'invalid_parameter', 'input.media[0].type'],
		[
			'http link',
			{ media: [still(), still('http://media.example/a.png')] },
			400,
			'invalid_parameter',
			'input.media[1].url',
		],
		['no link', { media: [still('a.png')] }, 400, 'invalid_parameter', 'input.media[0].url'],
		[
			'voice for alpha',
			{ media: [{ ...still(), reference_voice: still().url }] },
			400,
			'invalid_parameter',
			'input.media[0].reference_voice',
		],
		[
			'voice on a frame',
			{ model: beta, media: [{ ...frame, reference_voice: still().url }] },
			400,
			'invalid_parameter',
			'input.media[0].reference_voice',
		],
		...(
			[
				[{ resolution: '720p' }, {}],
				[{ duration: 1 }, {}],
				[{ duration: 16 }, {}],
				[{ duration: 2.5 }, {}],
				[{ duration: 11 }, { model: beta, media: [clip] }],
				[{ ratio: '21:9' }, { model: beta }],
				[{ seed: -1 }, {}],
				[{ seed: 2_147_483_648 }, {}],
				[{ watermark: 'yes' }, {}],
				[{ prompt_extend: 1 }, {}],
			] as const
		).map(([parameters, changes]): [string, Record<string, unknown>, number, string, string] => [
			JSON.stringify(parameters),
			{ ...changes, parameters },
			400,
			'invalid_parameter',
			`parameters.${Object.keys(parameters)[0]}`,
		]),
	])('%s', async (_what, changes, status, code, param) => {
		const billed = gateway.ledger.length;
		const answer = await createTask(client, body(changes));
		expect([answer.status, answer.data.error]).toEqual([
			status,
			{ message: expect.any(String), type: expect.any(String), param, code },
		]);
		expect(answer.headers['x-request-id']).toMatch(/^req_/);
		expect(gateway.ledger).toHaveLength(billed);
	});

	it('without the asynchronous switch', async () => {
		const answer = await client.post(endpoints.referenceVideoCreate.path, body());
		expect(answer.status).toBe(400);
		expect(answer.data.error.param).toBe('X-Gateway-Async');
	});

	it('that is not JSON', async () => {
		const answer = await createTask(client, Buffer.from('{"model":'));
		expect(answer.status).toBe(400);
		expect(answer.data.error.code).toBe('invalid_request');
	});
});

describe('a task that fails', () => {
	const failed = async (changes: Record<string, unknown>) => {
		const { data } = await createTask(client, body(changes));
		await ended(gateway, data.output.task_id);
		const answer = await poll(data.output.task_id);
		expect(answer.data).toMatchObject({ status: 'failed' });
		expect(answer.data).not.toHaveProperty('result_url');
		return answer.data.error;
	};
	const wav = (seconds: number): string => {
		const rate = 8000;
		const header = Buffer.from('RIFF0000WAVEfmt 0000112233334444bbBBdata0000', 'latin1');
		header.writeUInt32LE(36 + rate * seconds, 4);
		header.writeUInt32LE(16, 16);
		header.writeUInt16LE(1, 20);
		header.writeUInt16LE(1, 22);
		header.writeUInt32LE(rate, 24);
		header.writeUInt32LE(rate, 28);
		header.writeUInt16LE(1, 32);
		header.writeUInt16LE(8, 34);
		header.writeUInt32LE(rate * seconds, 40);
		const bytes = Buffer.concat([header, Buffer.alloc(rate * seconds, 128)]);
		return gateway.addMedia(`${seconds}s.wav`, bytes, 'audio/wav');
	};
	const spoken = (voice: string) => ({
		model: 'beta-2.7-r2v',
		media: [{ ...image(), reference_voice: voice }],
	});

	it('for media that cannot be fetched', async () => {
		const url = `${gateway.storageUrl}/media/gone.png`;
		expect(await failed({ media: [image(), image(url)] })).toMatchObject({
			code: 'invalid_parameter',
			param: 'input.media[1].url',
			message: expect.stringContaining('HTTP 404'),
		});
	});

	it('for a file that is no image', async () => {
		const url = gateway.addMedia('text.jpg', Buffer.from('text'), 'image/jpeg');
		expect(await failed({ media: [image(url)] })).toMatchObject({ code: 'invalid_image_file' });
	});

	it('for a voice that is too long, or no audio', async () => {
		for (const voice of [wav(11), picture]) {
			expect(await failed(spoken(voice))).toMatchObject({
				code: 'invalid_parameter',
				param: 'input.media[0].reference_voice',
			});
		}
	});

	it('but not for a good voice', async () => {
		const { data } = await createTask(client, body(spoken(wav(2))));
		expect((await ended(gateway, data.output.task_id)).phase).toBe('succeeded');
	});

	it('because its prompt asks for it', async () => {
		expect(await failed({ prompt: 'please [fail]' })).toMatchObject({ code: 'upstream_error' });
	});
});
