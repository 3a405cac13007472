import type { RenderSpec } from '../../../../gateway';
import { download, ended } from '../../../../gateway/client';
import { refusalOf, served } from '../served';

const video = Buffer.from('the bytes of a video');
const rendered: RenderSpec[] = [];
const at = served({
	jobSeconds: ({ order }) => (order.prompt === 'for ever' ? Infinity : 0.1),
	render: async (spec) => {
		rendered.push(spec);
		return video;
	},
});

const create = async (prompt: unknown, model: unknown = 'vid-3.1') =>
	await at.client.post('/v1/videos', { model, prompt });

describe('video jobs', () => {
	it.each([
		['vid-3.1', 720, 1280],
		['vid-3.1-landscape-fast', 1280, 720],
	])(
		'takes a video job of %s from queued to a file of %i x %i pixels',
		async (model, width, height) => {
			const created = await create('a cat', model);
			expect(created.data).toMatchObject({ id: expect.any(String), status: 'queued' });
			const path = `/v1/videos/${created.data.id}`;

			await ended(at.gateway, created.data.id);
			expect((await at.client.get(path)).data).toMatchObject({
				...created.data,
				status: 'completed',
			});
			const { data } = await at.client.get(`${path}/content`);
			expect((await download(data.url)).data.equals(video)).toBe(true);
			expect(at.gateway.ledger.at(-1)).toMatchObject({
				job: created.data.id,
				kind: 'video',
				model,
			});
			expect(rendered.at(-1)).toMatchObject({ width, height, media: [] });
		},
	);

	it('has no content for a video job that has not completed or has failed', async () => {
		const { data } = await create('for ever');
		const content = async () => await at.client.get(`/v1/videos/${data.id}/content`);
		expect(refusalOf(await content()).slice(0, 2)).toEqual([400, 'video_not_ready']);

		const error = { reason: 'a form that the specification does not show' };
		at.gateway.jobs.fail(data.id, error);
		const status = 'failed';
		expect((await at.client.get(`/v1/videos/${data.id}`)).data).toMatchObject({ status, error });
		expect(refusalOf(await content()).slice(0, 2)).toEqual([400, 'upstream_error']);
	});
});
