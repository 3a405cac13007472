import Ajv from 'ajv';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway } from '../../../gateway';
import { clientOf, createTask, download, ended } from '../../../gateway/client';
import { endpoints } from '../../../nodes/shared/service/protocol/endpoints';
import { picture } from '../../support/data/samples';
import { SimulatedClock } from '../../support/time/simulatedClock';

const video = Buffer.from('the bytes of a video');
const clock = new SimulatedClock();
let gateway: Gateway;
let client: AxiosInstance;
let link: string;

beforeAll(async () => {
	const keys = { free: {}, group: { models: ['vid-3.1', 'chat-1'] }, poor: { balance: 2 } };
	gateway = await startGateway({
		keys,
		jobSeconds: 0,
		now: () => clock.now(),
		render: async () => video,
	});
	client = clientOf(gateway, 'free');
	link = gateway.addMedia('a cat.png', picture('red', 64, 40), 'image/png');
});
afterAll(async () => await gateway.close());
let before: number;
beforeEach(() => void (before = gateway.ledger.length));
const charges = () => gateway.ledger.slice(before);

const user = (content: unknown) => ({ role: 'user', content });
const refusalOf = ({ status, data: { error } }: AxiosResponse): unknown[] => [
	status,
	error.code,
	error.param,
];
const beta = 'beta-2.7-r2v';
const image = { type: 'reference_image', url: 'https://media.example/a.png' };
const clip = { type: 'reference_video', url: 'https://media.example/clip.mp4' };
const frame = { type: 'first_frame', url: 'https://media.example/frame.png' };
const task = ({ model = 'alpha-1.1-r2v', parameters, ...input }: Record<string, unknown> = {}) => ({
	model,
	parameters,
	input: { prompt: 'a cat', media: [image], ...input },
});

describe('the embedded gateway refuses what the specification refuses', () => {
	const bodies = {
		'chat/completions': { model: 'chat-1', messages: [user('hello')] },
		messages: { model: 'chat-1', max_tokens: 9, messages: [user('hello')] },
		embeddings: { model: 'embed-1', input: 'hello' },
		'images/generations': { model: 'image-1', prompt: 'a cat' },
		videos: { model: 'vid-3.1', prompt: 'a cat' },
	};
	const invalid = 'invalid_parameter';

	it.each<[keyof typeof bodies, number, string, string, object]>([
		['chat/completions', 404, 'model_not_found', 'model', { model: 'embed-1' }],
		['chat/completions', 400, invalid, 'messages', { messages: [] }],
		['chat/completions', 400, invalid, 'messages[0].role', { messages: [{ role: 'me' }] }],
		['chat/completions', 400, 'invalid_prompt', 'messages[0].content', { messages: [user('')] }],
		['chat/completions', 400, invalid, 'temperature', { temperature: 2.1 }],
		['chat/completions', 400, invalid, 'max_tokens', { max_tokens: 1.5 }],
		['chat/completions', 400, invalid, 'stream', { stream: 'yes' }],
		['chat/completions', 400, invalid, 'top_p', { model: 'reason-1', top_p: 1 }],
		['messages', 400, invalid, 'max_tokens', { max_tokens: undefined }],
		['embeddings', 400, 'invalid_prompt', 'input', { input: ['good', ' \n'] }],
		['embeddings', 400, invalid, 'encoding_format', { encoding_format: 'hex' }],
		['images/generations', 400, invalid, 'n', { n: 11 }],
		['images/generations', 400, invalid, 'size', { size: '512x512' }],
		['videos', 400, 'invalid_model', 'model', { model: 'alpha-1.1-r2v' }],
		['videos', 400, 'invalid_prompt', 'prompt', { prompt: '[blocked]' }],
	])('refuses POST /v1/%s with %i %s for %s, and charges nothing', async (route, ...refusal) => {
		const body = { ...bodies[route], ...(refusal.pop() as object) };
		const headers = { 'vendor-version': '2023-06-01' };
		expect(refusalOf(await client.post(`/v1/${route}`, body, { headers }))).toEqual(refusal);
		expect(charges()).toEqual([]);
	});

	it.each<[number, string, string, Record<string, unknown>]>([
		[400, 'model_not_found', 'model', { model: 'vid-3.1' }],
		[403, 'invalid_prompt', 'input.prompt', { prompt: 'a [blocked] cat' }],
		[400, 'invalid_prompt', 'input.prompt', { model: beta, prompt: 'x'.repeat(5001) }],
		[500, invalid, 'input.media', { media: [] }],
		[400, invalid, 'input.media', { media: Array(10).fill(image) }],
		[400, invalid, 'input.media', { model: beta, media: Array(6).fill(image) }],
		[400, invalid, 'input.media', { model: beta, media: [frame, frame] }],
		[400, invalid, 'input.media[0].type', { media: [clip] }],
		[400, invalid, 'input.media[0].url', { media: [{ ...image, url: 'http://media.example/a' }] }],
		[400, invalid, 'parameters.resolution', { parameters: { resolution: '720p' } }],
		[
			400,
			invalid,
			'parameters.duration',
			{ model: beta, media: [clip], parameters: { duration: 11 } },
		],
		[400, invalid, 'parameters.seed', { parameters: { seed: 2_147_483_648 } }],
	])('refuses the create of a task with %i %s for %s, and charges nothing', async (...refusal) => {
		const changes = refusal.pop() as Record<string, unknown>;
		expect(refusalOf(await createTask(client, task(changes)))).toEqual(refusal);
		expect(charges()).toEqual([]);
	});

	it('refuses a create of a task without the async header', async () => {
		const response = await client.post(endpoints.referenceVideoCreate.path, task());
		expect(refusalOf(response)).toEqual([400, invalid, 'X-Gateway-Async']);
	});

	it.each([undefined, 'free', 'Bearer stranger'])(
		'refuses the Authorization header %s with 401',
		async (authorization) => {
			const response = await client.get('/v1/models', { headers: { authorization } });
			expect(refusalOf(response)).toEqual([401, 'invalid_api_key', null]);
			expect(response.headers['x-request-id']).toMatch(/^req_/);
		},
	);

	it('refuses a model outside the group of the key with 403, and an order without balance with 429', async () => {
		const group = clientOf(gateway, 'group');
		const { data } = await group.get('/v1/models');
		expect(data.data.map(({ id }: { id: string }) => id).sort()).toEqual(['chat-1', 'vid-3.1']);
		const order = { model: 'vid-3.1-fast', prompt: 'a cat' };
		expect((await group.post('/v1/videos', order)).status).toBe(403);
		const poor = clientOf(gateway, 'poor');
		const statuses = [];
		for (let count = 0; count < 3; count++) {
			statuses.push((await poor.post('/v1/videos', order)).status);
		}
		expect(statuses).toEqual([200, 200, 429]);
		expect(charges()).toHaveLength(2);
	});
});

describe('the embedded gateway responds in the forms of the specification, and charges once', () => {
	const text = expect.any(String) as string;

	it.each<object>([
		{
			type: 'object',
			required: ['a', 'b'],
			additionalProperties: false,
			properties: { a: { enum: ['x', 'y'] }, b: { type: 'array', items: {}, minItems: 2 } },
		},
		{ oneOf: [{ type: 'integer', minimum: 5 }, { type: 'string' }] },
		{ type: 'object', required: ['next'], properties: { next: { anyOf: [{ $ref: '#' }, {}] } } },
		{ type: 'string', format: 'date-time' },
	])('answers with JSON that is valid for the schema %j', async (schema) => {
		const json_schema = { name: 'answer', schema };
		const { data } = await client.post('/v1/chat/completions', {
			model: 'chat-1',
			messages: [user('A boat')],
			response_format: { type: 'json_schema', json_schema },
		});
		const answer = JSON.parse(data.choices[0].message.content) as unknown;
		expect(new Ajv().validate(schema, answer)).toBe(true);
	});

	it('takes a task from PENDING to a signed link, and drops it after 24 hours', async () => {
		const { data } = await createTask(client, task({ media: [{ ...image, url: link }] }));
		const { task_id: id } = data.output;
		expect(data).toEqual({ output: { task_id: id, task_status: 'PENDING' }, request_id: text });
		await ended(gateway, id);
		const poll = async () => await client.get(`/v1/tasks/${id}`);
		const { data: status } = await poll();
		expect(status).toEqual({ task_id: id, status: 'completed', progress: 100, result_url: text });
		const file = await download(status.result_url);
		expect([file.headers['content-type'], file.data.equals(video)]).toEqual(['video/mp4', true]);
		expect(charges()).toMatchObject([{ job: id, kind: 'task', quantity: 1, unit: 'video' }]);
		const fetched = gateway.requests.find(({ route }) => route === 'media');
		expect(fetched?.headers).not.toHaveProperty('authorization');
		const forged = status.result_url.replace(/signature=.{6}/, 'signature=AAAAAA');
		expect((await download(forged)).status).toBe(403);
		expect((await download(status.result_url, { authorization: 'Bearer free' })).status).toBe(403);
		clock.move(24 * 3_600_000 + 1);
		expect((await poll()).status).toBe(404);
		expect((await download(status.result_url)).status).toBe(403);
	});
});
