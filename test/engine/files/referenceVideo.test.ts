import type { IDataObject } from 'n8n-workflow';
import { valueAt } from '../../../nodes/shared/service/json';
import { withGateway } from '../../support/http/withGateway';
import { picture } from '../../support/data/samples';
import { chain, createReferenceVideo } from '../../support/workflows/workflows';

describe('reference videos', () => {
	let red: string;
	let blue: string;

	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });
	beforeEach(() => {
		red = gateway.addMedia('red.png', picture('red'), 'image/png');
		blue = gateway.addMedia('blue.png', picture('blue'), 'image/png');
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
		const result = await runWorkflow(chain(create), { input: [{ json: { links: [red, blue] } }] });
		expect(result.errorOf('Create')).toBeUndefined();
		expect(
			valueAt(gateway.requests.find(({ method }) => method === 'POST')?.body, 'input.media'),
		).toEqual(sent(red, blue));
	});

	it('counts media as the panel does in messages of the service, but not in the raw response', async () => {
		gateway.fault({
			route: 'referenceVideoCreate',
			action: 'error',
			status: 400,
			code: 'invalid_parameter',
			message: 'input.media[0].url cannot be read',
			param: 'input.media[0].url',
		});
		const result = await runWorkflow(chain(createReferenceVideo()), {
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
