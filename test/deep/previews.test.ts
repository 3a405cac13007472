import type { IDataObject } from 'n8n-workflow';
import type { RecordedRequest } from '../../gateway';
import { processedItems, runWorkflow } from '../harness';
import { fc, tries } from '../support/data/fuzz';
import { picture } from '../support/data/samples';
import { withGateway } from '../support/http/withGateway';
import { byId, chain, credentialFor, inGroups, modelGateway } from '../support/workflows/workflows';

const link = 'https://firm.example/a.png';
const image = { type: 'reference_image', url: link };

/** The values of an item: valid ones, and ones that are refused before anything is sent. */
const items = fc.array(
	fc.record({
		prompt: fc.constantFrom('A boat', 'A boat', 'A house', '', 'x'.repeat(6000)),
		key: fc.constantFrom('A', 'A', 'B', ''),
		duration: fc.constantFrom<unknown>(2, 2, 5, 15, 1, 99, 'long', undefined),
		n: fc.constantFrom<unknown>(1, 1, 2, 0, 11, 'many', undefined),
		media: fc.constantFrom<IDataObject[]>(
			[image],
			[image],
			[image, image],
			[],
			[{ ...image, url: 'http://10.0.0.1/a.png' }],
			[{ type: 'first_frame', url: link }],
			[{ type: 'reference_video', url: link }],
		),
		url: fc.constantFrom(link, link, 'ftp://firm.example/a', '', 'a.png'),
	}),
	{ minLength: 1, maxLength: 4 },
);

const perItem = { n: '={{ $json.n }}' };

/** Operations that place orders, with values from each item. */
const operations = fc.constantFrom(
	...['beta-2.7-r2v', 'alpha-1.1-r2v', 'gamma-1', 'vid-3.1'].map((model) => ({
		resource: 'referenceVideo',
		operation: 'create',
		model: byId(model),
		mediaInput: 'json',
		mediaJson: '={{ $json.media }}',
		options: { duration: '={{ $json.duration }}' },
	})),
	...['vid-3.1', 'beta-2.7-r2v'].map((model) => ({
		resource: 'video',
		operation: 'create',
		model: byId(model),
		options: { extraBody: '={{ { seconds: $json.duration } }}' },
	})),
	...['image-1', 'image-9'].map((model) => ({
		resource: 'image',
		operation: 'generate',
		model: byId(model),
		options: perItem,
	})),
	{
		resource: 'image',
		operation: 'edit',
		model: byId('image-1'),
		options: perItem,
		imageSource: 'url',
		imageUrl: '={{ $json.url }}',
	},
	{
		resource: 'image',
		operation: 'chat',
		model: byId('image-chat-1'),
		options: perItem,
		images: { values: [{ source: 'url', url: '={{ $json.url }}' }] },
		aspectMarker: '2:3',
	},
);

const guards = fc.record(
	{
		orderKey: fc.constantFrom('={{ $json.key }}', '={{ $json.key || "none" }}'),
		ifOrderedBefore: fc.constantFrom('skip', 'fail', 'drop'),
		maxOrders: fc.constantFrom<unknown>(0, 1, 2, 3, 'few'),
		skipChecks: fc.boolean(),
	},
	{ requiredKeys: [] },
);

type Request = Pick<RecordedRequest, 'url' | 'headers' | 'body'>;

const sent = ({ url, headers, body }: Request) => {
	const names = Object.keys(headers).map((name) => name.toLowerCase());
	return { url, body, isAsync: names.includes('x-gateway-async') };
};

describe('previews of orders', () => {
	const draw = async () => picture('red', 8, 8);
	const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity, draw });

	const run = async (parameters: IDataObject, input: IDataObject[], preview: boolean) => {
		const shared = { prompt: '={{ $json.prompt }}', download: false, preview };
		const settings = { name: 'Order', onError: 'continueRegularOutput' } as const;
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(modelGateway({ ...parameters, ...shared }, settings)), {
			credentials: credentialFor(gateway),
			input: input.map((json) => ({ json })),
			mode: 'trigger',
		});
		return { outputs: result.items('Order'), requests: gateway.requests.slice(before) };
	};

	it('a preview shows the requests, in their sequence, and the refusals of the order', async () => {
		const given = fc.tuple(operations, guards, items, fc.nat(2));
		const property = fc.asyncProperty(given, async ([operation, guard, asked, earlier]) => {
			processedItems.clear();
			const options = { ...operation.options, ...inGroups(guard as IDataObject) };
			const parameters = { ...operation, options: { ...options, parallelRequests: 1 } };
			const input = asked as IDataObject[];
			if (earlier > 0) await run(parameters, input.slice(0, earlier), false);
			const shown = await run(parameters, input, true);
			expect(shown.requests).toEqual([]);
			const real = await run(parameters, input, false);

			expect(shown.outputs).toHaveLength(input.length);
			const would = shown.outputs.map(({ json }) => json);
			const requests = would.flatMap(({ would: what, request }) =>
				what === 'order' ? [request as Request] : [],
			);
			expect(
				requests.map(({ url, ...rest }) => sent({ url: new URL(url).pathname, ...rest })),
			).toEqual(real.requests.map(sent));
			for (const [index, json] of would.entries()) {
				const first = real.outputs.find(
					({ pairedItem }) => (pairedItem as { item: number }).item === index,
				);
				if (json.would === 'fail') expect(first?.json.error).toBe(json.reason);
				else if (json.would === 'skip')
					expect(first?.json ?? { ordered: false }).toMatchObject({ ordered: false });
				else expect(json.would).toBe('order');
			}
		});
		await fc.assert(property, tries(1_000));
	}, 1_200_000);
});
