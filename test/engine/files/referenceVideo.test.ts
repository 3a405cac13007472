import type { IDataObject } from 'n8n-workflow';
import { valueAt } from '../../../nodes/shared/gateway/json';
import { startGateway, type Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import { chain, createReferenceVideo, credentialFor } from '../../support/workflows/workflows';

describe('reference videos', () => {
	let gateway: Gateway;
	let red: string;
	let blue: string;

	beforeAll(async () => {
		gateway = await startGateway({
			jobSeconds: Infinity,
		});
		red = gateway.addMedia('red.png', picture('red'), 'image/png');
		blue = gateway.addMedia('blue.png', picture('blue'), 'image/png');
	});
	afterAll(async () => await gateway.close());

	const run = async (create: IDataObject, json: IDataObject = {}) =>
		await runWorkflow(chain(createReferenceVideo(create)), {
			credentials: credentialFor(gateway),
			input: [{ json }],
		});

	it('sends the media in their order and only the options that were set, and shows hints', async () => {
		const media = [
			{ type: 'reference_image', url: blue },
			{ type: 'first_frame', url: red },
			{ type: 'reference_image', url: red },
		];
		const options = { duration: 3, promptExtend: false, watermark: false, ratio: '1:1', seed: 0 };
		const result = await run({ options }, { media, prompt: 'Image 1 beside image 3' });

		expect(result.status).toBe('success');
		expect(
			gateway.requests.filter(({ route }) => route === 'referenceVideoCreate').at(-1)?.body,
		).toEqual({
			model: 'beta-2.7-r2v',
			input: { prompt: 'Image 1 beside image 3', media },
			parameters: { duration: 3, ratio: '1:1', prompt_extend: false, watermark: false, seed: 0 },
		});
		// The last hint is that of every run in the editor.
		expect(result.hintsOf('Create').slice(0, -1)).toEqual([
			'Prompt names image 3, but there are 2 reference images; it is ordered all the same.',
			'Seed is not listed for beta-2.7-r2v: it is sent, and the service may ignore or refuse it.',
			'Aspect Ratio has no effect with a first frame.',
		]);
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
