import type { AxiosInstance } from 'axios';
import { clientOf } from '../../../gateway/client';
import { refusalOf, served } from './served';

const at = served({
	keys: {
		free: {},
		group: { models: ['vid-3.1', 'alpha-1.1-r2v'] },
		poor: { balance: 2 },
		thrifty: { balance: 2 },
	},
	jobSeconds: Infinity,
});

const create = async (client: AxiosInstance, model = 'vid-3.1') =>
	await client.post('/v1/videos', { model, prompt: 'a cat' });
const chargesOf = (name: string) => at.gateway.ledger.filter(({ key }) => key === name).length;

describe('accounts', () => {
	it.each([undefined, 'free', 'Bearer', 'Bearer stranger', 'Basic free'])(
		'refuses every route with 401 when the Authorization header is %s',
		async (authorization) => {
			for (const path of ['/v1/models', '/v1/tasks/x', '/v1/videos/x', '/v1/nowhere']) {
				const response = await at.client.get(path, { headers: { authorization } });
				expect(refusalOf(response)).toEqual([401, 'invalid_api_key', null]);
				expect(response.headers['x-request-id']).toBe(at.gateway.requests.at(-1)?.requestId);
			}
		},
	);

	it.each(['Bearer free', 'bearer free', 'BEARER free'])(
		'accepts the scheme of the Authorization header in any letter case: %s',
		async (authorization) => {
			const { status } = await at.client.get('/v1/models', { headers: { authorization } });
			expect(status).toBe(200);
		},
	);

	it('lists and accepts the models of the key’s group, and refuses others with 403', async () => {
		const group = clientOf(at.gateway, 'group');
		const { data } = await group.get('/v1/models');
		const model = { id: expect.any(String), object: 'model' };
		const listed = { ...model, created: expect.any(Number), owned_by: expect.any(String) };
		expect(data).toEqual({ object: 'list', data: [listed, listed] });
		const ids = data.data.map(({ id }: { id: string }) => id);
		expect(ids.sort()).toEqual(['alpha-1.1-r2v', 'vid-3.1']);
		expect(refusalOf(await create(group, 'vid-3.1-fast'))[0]).toBe(403);
		expect((await create(group)).status).toBe(200);
	});

	it('refuses a create with 429 and no Retry-After once the balance is used up', async () => {
		const client = clientOf(at.gateway, 'poor');
		expect([(await create(client)).status, (await create(client)).status]).toEqual([200, 200]);
		const response = await create(client);
		expect(refusalOf(response)).toEqual([429, 'quota_exceeded', null]);
		expect(response.headers).not.toHaveProperty('retry-after');
		expect(chargesOf('poor')).toBe(2);
		expect((await create(at.client)).status).toBe(200);
	});

	it('reserves the charge of each call under way, and returns it when the call fails', async () => {
		const client = clientOf(at.gateway, 'thrifty');
		const draw = async (prompt: string): Promise<number> =>
			(await client.post('/v1/images/generations', { model: 'image-1', prompt })).status;
		expect(await draw('a [blocked] cat')).toBe(400);
		const statuses = await Promise.all(['cat', 'dog', 'owl', 'fox'].map(draw));
		expect(statuses.sort()).toEqual([200, 200, 429, 429]);
		expect(chargesOf('thrifty')).toBe(2);
	});
});
