import type { IDataObject } from 'n8n-workflow';
import { withGateway } from '../../support/http/withGateway';
import {
	byId,
	chain,
	createReferenceVideo,
	createVideo,
	modelGateway,
} from '../../support/workflows/workflows';

const { gateway, media, runWorkflow } = withGateway({ jobSeconds: Infinity });

/** The `parameters` that are sent for these options, or the error. Each option is an expression that gives its value. */
const run = async (values: IDataObject, model = 'beta-2.7-r2v') => {
	const options = Object.fromEntries(
		Object.keys(values).map((name) => [name, `={{ $json.${name} }}`]),
	);
	const result = await runWorkflow(chain(createReferenceVideo({ model: byId(model), options })), {
		input: [{ json: { media, ...values } }],
	});
	const body = gateway.requests.at(-1)?.body as { parameters?: IDataObject } | undefined;
	return { error: result.errorOf('Create')?.message, parameters: body?.parameters };
};

describe('values of a spreadsheet', () => {
	it.each([
		['TRUE', true],
		[' false ', false],
		['Yes', true],
		['no', false],
		[1, true],
		['0', false],
	])('takes %j for a switch as %j', async (watermark, expected) => {
		expect((await run({ watermark })).parameters).toEqual({ watermark: expected });
	});

	it.each(['beta-2.7-r2v', 'gamma-3.0-r2v'])(
		'sends a known value in the spelling of the menu: %s',
		async (model) => {
			gateway.fault({ route: 'referenceVideoCreate', action: 'error', status: 403, code: 'x' });
			const { parameters } = await run({ resolution: ' 1080p ', ratio: '9:16 ' }, model);
			expect(parameters).toEqual({ resolution: '1080P', ratio: '9:16' });
		},
	);

	it('sends texts of options without the spaces around them', async () => {
		gateway.fault({ route: 'imageGenerate', action: 'error', status: 403, code: 'x' });
		const order = { resource: 'image', operation: 'generate', model: byId('image-1') };
		const options = { size: '={{ " 1024x1024" }}', aspectRatio: '16:9 ', quality: 'hd\n' };
		const node = modelGateway({ ...order, prompt: 'A boat', options });
		await runWorkflow(chain(node));
		const expected = { size: '1024x1024', aspect_ratio: '16:9', quality: 'hd' };
		expect(gateway.requests.at(-1)?.body).toMatchObject(expected);
	});

	it('takes a type and a source of media in any case', async () => {
		const [{ type, url }] = media as Array<Record<string, string>>;
		const values = [{ type: ` ${type.toUpperCase()}`, source: '={{ "URL" }}', url }];
		const create = createReferenceVideo({ mediaInput: 'fields', media: { values } });
		const result = await runWorkflow(chain(create));
		expect(result.errorOf('Create')).toBeUndefined();
		expect(gateway.requests.at(-1)?.body).toMatchObject({ input: { media: [{ type, url }] } });
	});

	it.each(['TRUE', ' true '])('orders nothing when Preview is %j', async (preview) => {
		const result = await runWorkflow(chain(createVideo({ preview })));
		expect(result.items('Create')).toMatchObject([{ json: { preview: true } }]);
		expect(gateway.requests).toEqual([]);
	});
});
