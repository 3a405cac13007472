import type { AxiosInstance } from 'axios';
import { videoModels } from '../../nodes/shared/gateway/protocol/models';
import { startGateway, type Gateway } from '../gateway';
import { clientOf } from '../gateway/client';

const models = ['vid-3.1', 'alpha-1.1-r2v'];

let gateway: Gateway;
let time = Date.now();

beforeAll(async () => {
	gateway = await startGateway({
		keys: {
			free: {},
			group: { models },
			poor: { balance: 2 },
			thrifty: { balance: 2 },
			slow: { requestsPerMinute: 2 },
		},
		jobSeconds: Infinity,
		now: () => time,
	});
});
afterAll(async () => await gateway.close());

const create = async (client: AxiosInstance, model = 'vid-3.1') =>
	await client.post('/v1/videos', { model, prompt: 'a cat' });

it('knows its keys', async () => {
	expect(gateway.apiKey).toBe('free');
	expect((await clientOf(gateway).get('/v1/models')).status).toBe(200);
});

it.each([undefined, 'free', 'Bearer', 'Bearer stranger', 'Basic free'])(
	'refuses %s on every route',
	async (authorization) => {
		for (const path of ['/v1/models', '/v1/tasks/x', '/v1/videos/x', '/v1/nowhere']) {
			const headers = { authorization };
			const answer = await clientOf(gateway).get(path, { headers });
			expect(answer.status).toBe(401);
			expect(answer.data.error.code).toBe('invalid_api_key');
			expect(answer.headers['x-request-id']).toBe(gateway.requests.at(-1)?.requestId);
		}
	},
);

it('has no other routes', async () => {
	const answer = await clientOf(gateway).get('/v1/nowhere');
	expect(answer.status).toBe(404);
	expect(answer.data.error).toEqual({
		message: 'there is no GET /v1/nowhere',
		type: 'invalid_request_error',
		param: null,
		code: 'not_found',
	});
	expect(gateway.requests.at(-1)).toMatchObject({ route: undefined, status: 404 });
});

it('lists the models of the group', async () => {
	const { data } = await clientOf(gateway, 'group').get('/v1/models');
	expect(data).toEqual({
		object: 'list',
		data: expect.arrayContaining(
			models.map((id) => ({
				id,
				object: 'model',
				created: expect.any(Number),
				owned_by: expect.any(String),
			})),
		),
	});
	expect(data.data).toHaveLength(2);
});

it('lists models of every kind', async () => {
	const { data } = await clientOf(gateway).get('/v1/models');
	expect(data.data.map(({ id }: { id: string }) => id)).toEqual([
		'chat-1',
		'chat-1-mini',
		'reason-1',
		'reason-1-mini',
		'image-chat-1',
		'embed-1',
		'embed-1-large',
		'image-1',
		'image-1-kontext',
		'image-edit-1',
		'image-edit-1-url',
		'alpha-1.1-r2v',
		'beta-2.7-r2v',
		...Object.keys(videoModels),
	]);
});

it('refuses a model that the group may not use', async () => {
	const answer = await create(clientOf(gateway, 'group'), 'vid-3.1-fast');
	expect([answer.status, answer.data.error.param]).toEqual([403, 'model']);
	expect((await create(clientOf(gateway, 'group'))).status).toBe(200);
});

it('refuses when the balance is used up, and bills nobody else', async () => {
	const client = clientOf(gateway, 'poor');
	expect((await create(client)).status).toBe(200);
	expect((await create(client)).status).toBe(200);
	const answer = await create(client);
	expect([answer.status, answer.data.error.code]).toEqual([429, 'quota_exceeded']);
	expect(answer.headers).not.toHaveProperty('retry-after');
	expect(gateway.ledger.filter(({ key }) => key === 'poor')).toHaveLength(2);
	expect((await create(clientOf(gateway))).status).toBe(200);
});

it('keeps a charge back for every call under way, and frees it when the call fails', async () => {
	const client = clientOf(gateway, 'thrifty');
	const draw = async (prompt: string): Promise<number> =>
		(await client.post('/v1/images/generations', { model: 'image-1', prompt })).status;
	const edit = async (): Promise<number> => {
		const form = new FormData();
		form.set('model', 'image-edit-1');
		form.set('prompt', 'a hat');
		return (await client.post('/v1/images/edits', form)).status;
	};
	expect([await edit(), await edit()]).toEqual([400, 400]);
	const statuses = await Promise.all(['cat', 'dog', 'owl', 'fox'].map(draw));
	expect(statuses.sort()).toEqual([200, 200, 429, 429]);
	expect(gateway.ledger.filter(({ key }) => key === 'thrifty')).toHaveLength(2);
	expect(await draw('cat')).toBe(429);
});

it('limits the requests of a minute and says when to come back', async () => {
	const client = clientOf(gateway, 'slow');
	await client.get('/v1/models');
	time += 20_000;
	await client.get('/v1/models');
	const answer = await client.get('/v1/models');
	expect([answer.status, answer.headers['retry-after']]).toEqual([429, '40']);
	time += 40_000;
	expect((await client.get('/v1/models')).status).toBe(200);
});
