import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import type { RenderSpec } from '../../../../gateway';
import { createTask, download, ended } from '../../../../gateway/client';
import { picture } from '../../../support/data/samples';
import { refusalOf, served } from '../served';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const video = Buffer.from('the bytes of a video');
const rendered: RenderSpec[] = [];
const clock = new SimulatedClock();
const at = served({
	jobSeconds: 0,
	now: () => clock.now(),
	render: async (spec) => {
		rendered.push(spec);
		return video;
	},
});

let link: string;
beforeAll(() => {
	link = at.gateway.addMedia('a cat.png', picture('red', 64, 40), 'image/png');
});

const beta = 'beta-2.7-r2v';
const image = (url = link) => ({ type: 'reference_image', url });

/** A valid body, with changes. */
const body = ({ model = 'alpha-1.1-r2v', parameters, ...input }: Record<string, unknown> = {}) => ({
	model,
	input: { prompt: 'a cat', media: [image()], ...input },
	parameters,
});
const poll = async (id: string) => await at.client.get(`/v1/tasks/${id}`);
const made = async (changes: Record<string, unknown>) => {
	const { data } = await createTask(at.client, body(changes));
	return await ended(at.gateway, data.output.task_id);
};

describe('passthrough tasks', () => {
	it('takes a task from PENDING to a file in the forms of the specification, and charges it once', async () => {
		const created = await createTask(at.client, body());
		const requestId = String(created.headers['x-request-id']);
		expect(created.data).toEqual({
			output: { task_id: expect.any(String), task_status: 'PENDING' },
			request_id: requestId,
		});
		const id = created.data.output.task_id;
		await ended(at.gateway, id);
		const { data } = await poll(id);
		expect(data).toEqual({
			...{ task_id: id, status: 'completed', progress: 100 },
			result_url: expect.stringContaining(at.gateway.storageUrl),
		});
		const file = await download(data.result_url);
		expect([file.headers['content-type'], file.data.equals(video)]).toEqual(['video/mp4', true]);
		expect(at.gateway.ledger).toEqual([
			{
				...{ job: id, kind: 'task', model: 'alpha-1.1-r2v', quantity: 1, unit: 'video' },
				...{ key: 'demo-key', requestId, at: expect.any(Number) },
			},
		]);
		const fetched = at.gateway.requests.find(({ route }) => route === 'media');
		expect(fetched).toMatchObject({ method: 'GET', url: '/media/a%20cat.png', status: 200 });
		expect(fetched?.headers).not.toHaveProperty('authorization');
		clock.move(1000);
		expect((await poll(id)).data.result_url).not.toBe(data.result_url);
	});

	it('drops a task after 24 hours, and never shows it as a video job', async () => {
		const { id } = await made({});
		expect((await at.client.get(`/v1/videos/${id}`)).status).toBe(404);
		clock.move(24 * 3_600_000);
		expect((await poll(id)).status).toBe(200);
		clock.move(1);
		expect(refusalOf(await poll(id)).slice(0, 2)).toEqual([404, 'task_not_found']);
	});

	it.each<[object, Record<string, unknown>]>([
		[{ width: 1280, height: 720, seconds: 5, caption: 'a cat', watermark: false }, {}],
		[{ width: 1920, height: 1080 }, { model: beta }],
		[
			{ width: 720, height: 960 },
			{ model: beta, parameters: { resolution: '720P', ratio: '3:4' } },
		],
		[{ seconds: 2, watermark: true }, { parameters: { duration: 2, watermark: true } }],
	])('renders a video of %j for %j', async (spec, changes) => {
		await made(changes);
		expect(rendered.at(-1)).toMatchObject(spec);
	});

	it('renders a video in the shape of its first frame, whatever its ratio parameter', async () => {
		const media = [image(), { type: 'first_frame', url: link }];
		await made({ model: beta, media, parameters: { resolution: '720P', ratio: '3:4' } });
		expect(rendered.at(-1)).toMatchObject({ width: 1152, height: 720 });
	});
});

describe('refused creates of tasks', () => {
	const still = (url = 'https://media.example/a.png') => image(url);
	const clip = { type: 'reference_video', url: 'https://media.example/clip.mp4' };
	const frame = { type: 'first_frame', url: 'https://media.example/frame.png' };
	const images = (count: number) => Array.from({ length: count }, () => still());
	const invalid = 'invalid_parameter';
	const voiced = (item: object) => [{ ...item, reference_voice: still().url }];

	it.each<[number, string, string, Record<string, unknown>]>([
		[400, 'model_not_found', 'model', { model: 'vid-3.1' }],
		[400, 'invalid_prompt', 'input.prompt', { prompt: undefined }],
		[400, 'invalid_prompt', 'input.prompt', { model: beta, prompt: 'x'.repeat(5001) }],
		[403, 'invalid_prompt', 'input.prompt', { prompt: 'a [blocked] cat' }],
		[500, invalid, 'input.media', { media: undefined }],
		[500, invalid, 'input.media', { media: [] }],
		[400, invalid, 'input.media', { media: still() }],
		[400, invalid, 'input.media', { media: images(10) }],
		[400, invalid, 'input.media', { model: beta, media: images(6) }],
		[400, invalid, 'input.media', { model: beta, media: [frame, frame] }],
		[400, invalid, 'input.media[0].type', { media: [clip] }],
		[400, invalid, 'input.media[1].url', { media: [still(), still('http://media.example/a')] }],
		[400, invalid, 'input.media[0].reference_voice', { media: voiced(still()) }],
		[400, invalid, 'input.media[0].reference_voice', { model: beta, media: voiced(frame) }],
		[400, invalid, 'parameters.resolution', { parameters: { resolution: '720p' } }],
		[400, invalid, 'parameters.duration', { parameters: { duration: 16 } }],
		[400, invalid, 'parameters.duration', { parameters: { duration: 2.5 } }],
		[
			400,
			invalid,
			'parameters.duration',
			{ model: beta, media: [clip], parameters: { duration: 11 } },
		],
		[400, invalid, 'parameters.ratio', { model: beta, parameters: { ratio: '21:9' } }],
		[400, invalid, 'parameters.seed', { parameters: { seed: 2_147_483_648 } }],
		[400, invalid, 'parameters.watermark', { parameters: { watermark: 'yes' } }],
	])(
		'refuses a create with %i %s for %s and charges nothing',
		async (status, code, param, changes) => {
			const charges = at.gateway.ledger.length;
			const response = await createTask(at.client, body(changes));
			const error = { message: expect.any(String), type: expect.any(String), param, code };
			expect([response.status, response.data.error]).toEqual([status, error]);
			expect(response.headers['x-request-id']).toMatch(/^req_/);
			expect(at.gateway.ledger).toHaveLength(charges);
		},
	);

	it('refuses a create without the async header, and names the header', async () => {
		const response = await at.client.post(endpoints.referenceVideoCreate.path, body());
		expect(refusalOf(response)).toEqual([400, 'invalid_parameter', 'X-Gateway-Async']);
	});

	it('refuses a body that is not JSON with 400', async () => {
		const response = await createTask(at.client, Buffer.from('{"model":'));
		expect(refusalOf(response).slice(0, 2)).toEqual([400, 'invalid_request']);
	});
});

describe('failed tasks', () => {
	/** A wav file of silence, with 1000 bytes a second. */
	const wav = (seconds: number) => {
		const header = Buffer.from(`RIFF....WAVEfmt ${'\x10\0\0\0\x01\0\x01\0'}`, 'latin1');
		const rates = Buffer.alloc(12);
		rates.writeUInt32LE(1000, 0);
		rates.writeUInt32LE(1000, 4);
		rates.writeUInt16LE(1, 8);
		rates.writeUInt16LE(8, 10);
		const data = Buffer.from('data....', 'latin1');
		data.writeUInt32LE(1000 * seconds, 4);
		const bytes = Buffer.concat([header, rates, data, Buffer.alloc(1000 * seconds, 128)]);
		return at.gateway.addMedia(`${seconds}s.wav`, bytes, 'audio/wav');
	};
	const spoken = (voice: string) => ({
		model: beta,
		media: [{ ...image(), reference_voice: voice }],
	});
	const textFile = () => at.gateway.addMedia('text.jpg', Buffer.from('text'), 'image/jpeg');
	const gone = () => `${at.gateway.storageUrl}/media/gone.png`;

	it.each<[string, object, () => Record<string, unknown>]>([
		[
			'a link to a missing file',
			{ code: 'invalid_parameter', param: 'input.media[1].url' },
			() => ({ media: [image(), image(gone())] }),
		],
		[
			'a file that is not an image',
			{ code: 'invalid_image_file' },
			() => ({ media: [image(textFile())] }),
		],
		['a voice of 11 seconds', { param: 'input.media[0].reference_voice' }, () => spoken(wav(11))],
		['a voice that is not audio', { param: 'input.media[0].reference_voice' }, () => spoken(link)],
		[
			'a prompt that asks for a failure',
			{ code: 'upstream_error' },
			() => ({ prompt: 'please [fail]' }),
		],
	])('fails a task with the matching error for %s', async (_, error, changes) => {
		const { id } = await made(changes());
		expect((await poll(id)).data).toMatchObject({ status: 'failed', error });
	});

	it('completes a task with a voice of 2 seconds', async () => {
		expect((await made(spoken(wav(2)))).phase).toBe('succeeded');
	});
});
