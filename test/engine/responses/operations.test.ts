import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { sampleVideo } from '../../support/data/samples';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

describe('videos, models and refusals', () => {
	let gateway: Gateway;
	let video: Uint8Array;
	beforeAll(async () => {
		video = await sampleVideo();
		gateway = await startGateway({
			...{ jobSeconds: Infinity },
			keys: { 'demo-key': {}, 'limited-key': { models: ['vid-3.1'] } },
		});
	});
	afterAll(async () => await gateway.close());

	const run = async (...nodes: Array<Node>) =>
		await runWorkflow(chain(...nodes), { credentials: credentialFor(gateway) });
	const create = modelGateway(
		{
			resource: 'video',
			operation: 'create',
			model: byId('vid-3.1-fast'),
			prompt: 'A boat',
			options: { extraBody: '{"quality": "best"}' },
		},
		{ name: 'Create' },
	);

	/** Creates a video job and completes it. */
	const finishedVideo = async () => {
		const [{ json }] = (await run(create)).items('Create');
		gateway.jobs.complete(String(json.id), video);
		return json;
	};
	const runOn = async (json: IDataObject, parameters: IDataObject) => {
		const node = modelGateway({ resource: 'video', ...parameters });
		const input = [{ json }];
		const result = await runWorkflow(chain(node), { credentials: credentialFor(gateway), input });
		return { result, item: result.items('Model Gateway')[0] };
	};

	it('creates a video, gets its status and downloads its content', async () => {
		const created = await finishedVideo();
		expect(gateway.requests[0].body).toEqual({
			...{ model: 'vid-3.1-fast', prompt: 'A boat', quality: 'best' },
		});
		const { id } = created;
		const got = await runOn(created, { operation: 'get' });
		expect(got.item.json).toMatchObject({
			id,
			status: 'completed',
			request_id: expect.any(String),
		});

		const { result, item } = await runOn(created, { operation: 'getContent', binaryField: 'clip' });
		expect(item.json).toMatchObject({ id, url: expect.stringContaining(gateway.storageUrl) });
		expect(sha256(await result.binary(item, 'clip'))).toBe(sha256(video));
	});

	it('returns only the link of a video when Download is off', async () => {
		const { item } = await runOn(await finishedVideo(), {
			operation: 'getContent',
			download: false,
		});
		expect(item.json.url).toContain(gateway.storageUrl);
		expect(item.binary).toBeUndefined();
	});

	it('lists some models, all models, or those with a text in the ID', async () => {
		const list = (more: object) =>
			modelGateway({ resource: 'model', operation: 'getAll', ...more });
		const ids = async (more: object) =>
			(await run(list(more))).items('Model Gateway').map(({ json }) => json.id);
		const all = await ids({ returnAll: true });
		expect(all).toContain('beta-2.7-r2v');
		expect(await ids({ limit: 2 })).toEqual(all.slice(0, 2));
		expect(await ids({ returnAll: true, filter: 'R2V' })).toEqual(
			all.filter((id) => String(id).includes('r2v')),
		);
	});
});
