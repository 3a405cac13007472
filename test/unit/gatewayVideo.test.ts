import type { AxiosInstance } from 'axios';
import { randomBytes } from 'node:crypto';
import { startGateway, type Gateway, type RenderSpec } from '../gateway';
import { clientOf, download, ended } from '../gateway/client';

const video = randomBytes(1000);
const rendered: RenderSpec[] = [];

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway({
		jobSeconds: ({ order }) => (order.prompt === 'for ever' ? Infinity : 0.1),
		render: async (spec) => {
			rendered.push(spec);
			return video;
		},
	});
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const create = async (prompt: unknown, model: unknown = 'vid-3.1') =>
	await client.post('/v1/videos', { model, prompt });

it('goes from created to downloaded', async () => {
	const created = await create('a cat', 'vid-3.1-landscape-fast');
	expect(created.status).toBe(200);
	expect(created.data).toMatchObject({ id: expect.any(String), status: 'queued' });
	const path = `/v1/videos/${created.data.id}`;

	await ended(gateway, created.data.id);
	expect((await client.get(path)).data).toMatchObject({ ...created.data, status: 'completed' });
	const { data } = await client.get(`${path}/content`);
	expect((await download(data.url)).data.equals(video)).toBe(true);
	expect(gateway.ledger).toMatchObject([
		{ job: created.data.id, kind: 'video', model: 'vid-3.1-landscape-fast' },
	]);
	expect(rendered).toMatchObject([{ width: 1280, height: 720, media: [] }]);
});

it('is known at the backup URL', async () => {
	const { data } = await create('for ever');
	const backup = clientOf({ url: gateway.backupUrl, apiKey: gateway.apiKey });
	expect((await backup.get(`/v1/videos/${data.id}`)).data.id).toBe(data.id);
	expect(gateway.requests.at(-1)).toMatchObject({ host: 'backup', route: 'video' });
});

it('is upright when its model is', async () => {
	const { data } = await create('a cat');
	await ended(gateway, data.id);
	expect(rendered.at(-1)).toMatchObject({ width: 720, height: 1280 });
});

it('is not ready until it has completed, and never when it failed', async () => {
	const { data } = await create('for ever');
	const content = async () => await client.get(`/v1/videos/${data.id}/content`);
	const early = await content();
	expect([early.status, early.data.error.code]).toEqual([400, 'video_not_ready']);

	const error = { reason: 'a form that nobody has shown' };
	gateway.jobs.fail(data.id, error);
	gateway.jobs.complete(data.id, video);
	expect((await client.get(`/v1/videos/${data.id}`)).data).toMatchObject({
		status: 'failed',
		error,
	});
	const late = await content();
	expect([late.status, late.data.error.code]).toEqual([400, 'upstream_error']);
});

it('is completed by a test with the bytes it likes', async () => {
	const { data } = await create('for ever');
	gateway.jobs.complete(data.id, Buffer.from('mp4'));
	const content = await client.get(`/v1/videos/${data.id}/content`);
	expect((await download(content.data.url)).data.toString()).toBe('mp4');
	expect(() => gateway.jobs.fail('nobody')).toThrow('nobody');
});

it.each([
	['invalid_model', 'model', async () => await create('a cat', 'alpha-1.1-r2v'), 400],
	['invalid_model', 'model', async () => await create('a cat', 'toString'), 400],
	['invalid_prompt', 'prompt', async () => await create(''), 400],
	['invalid_prompt', 'prompt', async () => await create('[blocked]'), 400],
	['video_not_found', 'video_id', async () => await client.get('/v1/videos/x'), 404],
	['video_not_found', 'video_id', async () => await client.get('/v1/videos/x/content'), 404],
])('refuses with %s (%s)', async (code, param, ask, status) => {
	const answer = await ask();
	expect([answer.status, answer.data.error.code, answer.data.error.param]).toEqual([
		status,
		code,
		param,
	]);
});
