import type { IDataObject } from 'n8n-workflow';
import { valueAt } from '../../../nodes/shared/gateway/json';
import { startGateway, type Gateway } from '../../../gateway';
import { Renderer } from '../../../gateway/rendering';
import { runWorkflow, SimulatedTime } from '../../harness';
import { readMp4 } from '../../support/files/mp4';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	waitForVideo,
} from '../../support/workflows/workflows';

describe('reference videos', () => {
	const renderer = new Renderer();
	let time: SimulatedTime;
	let gateway: Gateway;
	let red: string;
	let blue: string;

	beforeAll(async () => {
		time = new SimulatedTime();
		gateway = await startGateway({
			jobSeconds: 0,
			render: async (spec) => await time.during(renderer.render(spec)),
		});
		red = gateway.addMedia('red.png', picture('red'), 'image/png');
		blue = gateway.addMedia('blue.png', picture('blue'), 'image/png');
	});
	afterAll(async () => {
		await gateway.close();
		await time.end();
		await renderer.close();
	});

	const run = async (create: IDataObject, json: IDataObject = {}) =>
		await runWorkflow(
			chain(createReferenceVideo(create), waitForVideo({ options: { pollIntervalSeconds: 3 } })),
			{
				credentials: credentialFor(gateway),
				input: [{ json }],
			},
		);

	it.each([
		['alpha-1.1-r2v', {}, { width: 1280, height: 720 }],
		['beta-2.7-r2v', { ratio: '9:16' }, { width: 720, height: 1280 }],
	])('delivers the mp4 that was ordered from %s', async (model, options, size) => {
		const media = [red, blue].map((url) => ({ type: 'reference_image', url }));
		const order = { resolution: '720P', duration: 2, ...options };
		const result = await run({ model: byId(model), options: order }, { media });

		const [item] = result.items('Wait for Video');
		expect(item.json).toMatchObject({ status: 'completed', progress: 100 });
		expect(item.json.request_id).toEqual(expect.any(String));
		expect(item.pairedItem).toEqual({ item: 0 });
		expect(item.binary?.data).toMatchObject({
			mimeType: 'video/mp4',
			fileName: `${String(item.json.task_id)}.mp4`,
		});
		const file = await result.binary(item);
		expect(await readMp4(file)).toMatchObject({
			...size,
			seconds: 2,
			codec: expect.stringMatching(/^avc1/),
		});
		expect(
			file.equals(gateway.jobs.get(String(item.json.task_id))?.video?.bytes as Uint8Array),
		).toBe(true);
	});

	const image = (url: string) => ({ type: 'reference_image', url });

	it.each<[string, unknown, (red: string, blue: string) => unknown]>([
		['links', '={{ $json.links }}', (red, blue) => [image(red), image(blue)]],
		['a link', '={{ $json.links[0] }}', (red) => [image(red)]],
		[
			'a link on each line',
			'={{ $json.links.join("\\n\\n") }}\n',
			(red, blue) => [image(red), image(blue)],
		],
		[
			'a cell with several links',
			'={{ [$json.links.join(", ")] }}',
			(red, blue) => [image(red), image(blue)],
		],
		[
			'an object with several links',
			'={{ { type: "reference_image", url: $json.links.join(" ") } }}',
			(red, blue) => [image(red), image(blue)],
		],
		['a quoted link', '="{{ $json.links[0] }}"', (red) => [image(red)]],
		[
			'objects and links',
			'={{ [{ type: "first_frame", url: $json.links[1] }, $json.links[0]] }}',
			(red, blue) => [{ type: 'first_frame', url: blue }, image(red)],
		],
		[
			'unknown fields of a medium, without an empty voice,',
			'={{ { type: "reference_image", url: ` ${$json.links[0]} `, weight: 0.5, tags: ["a"], reference_voice: "" } }}',
			(red) => [{ ...image(red), weight: 0.5, tags: ['a'] }],
		],
	])('accepts %s as Media (JSON)', async (_, mediaJson, sent) => {
		const create = createReferenceVideo({ mediaJson } as IDataObject);
		const result = await runWorkflow(chain(create), {
			credentials: credentialFor(gateway),
			input: [{ json: { links: [red, blue] } }],
		});
		expect(result.errorOf('Create')).toBeUndefined();
		expect(valueAt(gateway.requests.at(-1)?.body, 'input.media')).toEqual(sent(red, blue));
	});

	it('counts media as the panel does in messages of the service, but not in the raw response', async () => {
		gateway.fault({
			...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_parameter' },
			...{ message: 'input.media[0].url cannot be read', param: 'input.media[0].url' },
		});
		const result = await runWorkflow(chain(createReferenceVideo()), {
			credentials: credentialFor(gateway),
			input: [{ json: { media: [red] } }],
		});
		const error = result.errorOf('Create');
		expect(error?.message).toBe(
			'Could not create the reference video: Media 1: URL cannot be read (HTTP 400, invalid_parameter)',
		);
		expect(error?.description).not.toContain('media[0]');
		expect(error).toMatchObject({
			messages: [expect.stringContaining('input.media[0].url cannot be read')],
		});
	});
});
