import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { picture } from '../support/data/samples';
import { byId, chain, credentialFor, modelGateway, inGroups } from '../support/workflows/workflows';
import { startGateway, type Gateway, type RecordedRequest } from '../../gateway';
import { processedItems, runWorkflow, SimulatedTime } from '../harness';
import { fc, tries } from '../support/data/fuzz';

const link = 'https://firm.example/a.png';
const image = { type: 'reference_image', url: link };
const file = {
	...{ data: Buffer.from(picture('red', 8, 8)).toString('base64'), mimeType: 'image/png' },
	fileName: 'a.png',
};

/** The values of an item: valid ones, and ones that are refused before anything is sent. */
interface Asked {
	prompt: string;
	key: string;
	duration: unknown;
	n: unknown;
	media: IDataObject[];
	url: string;
}

const asked: fc.Arbitrary<Asked> = fc.record({
	prompt: fc.constantFrom('A boat', 'A boat', 'A house', '', 'x'.repeat(6000)),
	key: fc.constantFrom('A', 'A', 'B', ''),
	duration: fc.constantFrom<unknown>(2, 2, 5, 15, 1, 99, 'long', undefined),
	n: fc.constantFrom<unknown>(1, 1, 2, 0, 11, 'many', undefined),
	media: fc.constantFrom<IDataObject[]>(
		...[[image], [image], [image, image], [], [{ ...image, url: 'http://10.0.0.1/a.png' }]],
		[{ type: 'first_frame', url: link }],
		[{ type: 'reference_video', url: link }],
	),
	url: fc.constantFrom(link, link, 'ftp://firm.example/a', '', 'a.png'),
});

const perItem = { n: '={{ $json.n }}' };

/** Every operation that places orders, with values from each item. */
const operations: Array<{ models: string[]; parameters: IDataObject; options: IDataObject }> = [
	{
		models: ['beta-2.7-r2v', 'alpha-1.1-r2v', 'gamma-1', 'vid-3.1'],
		parameters: {
			...{ resource: 'referenceVideo', operation: 'create' },
			...{ mediaInput: 'json', mediaJson: '={{ $json.media }}' },
		},
		options: { duration: '={{ $json.duration }}' },
	},
	{
		models: ['vid-3.1', 'beta-2.7-r2v'],
		parameters: { resource: 'video', operation: 'create' },
		options: { extraBody: '={{ { seconds: $json.duration } }}' },
	},
	{
		models: ['image-1', 'image-9'],
		parameters: { resource: 'image', operation: 'generate', download: false },
		options: perItem,
	},
	{
		models: ['image-1'],
		parameters: { resource: 'image', operation: 'edit', download: false },
		options: perItem,
	},
	{
		models: ['image-1'],
		parameters: {
			...{ resource: 'image', operation: 'edit', download: false },
			...{ imageSource: 'url', imageUrl: '={{ $json.url }}' },
		},
		options: perItem,
	},
	{
		models: ['image-chat-1'],
		parameters: {
			...{ resource: 'image', operation: 'chat', download: false, aspectMarker: '2:3' },
			images: { values: [{ source: 'url', url: '={{ $json.url }}' }] },
		},
		options: perItem,
	},
];

interface Given {
	operation: (typeof operations)[number];
	model: number;
	items: Asked[];
	/** How many of the items were ordered before. */
	earlier: number;
	guards: IDataObject;
	skipChecks: boolean;
	hasHeader: boolean;
}

const given: fc.Arbitrary<Given> = fc.record({
	operation: fc.constantFrom(...operations),
	model: fc.nat(3),
	items: fc.array(asked, { minLength: 1, maxLength: 4 }),
	earlier: fc.nat(2),
	guards: fc.record(
		{
			orderKey: fc.constantFrom('={{ $json.key }}', '={{ $json.key || "none" }}'),
			ifOrderedBefore: fc.constantFrom('skip', 'fail', 'drop'),
			maxOrders: fc.constantFrom<unknown>(0, 1, 2, 3, 'few'),
		},
		{ requiredKeys: [] },
	) as fc.Arbitrary<IDataObject>,
	skipChecks: fc.boolean(),
	hasHeader: fc.boolean(),
});

const requestsPerGateway = 5_000;

describe('previews of orders', () => {
	let time: SimulatedTime;
	let gateway: Gateway;
	const start = async () =>
		await startGateway({
			...{ jobSeconds: Infinity, balance: Infinity },
			draw: async () => picture('red', 8, 8),
		});
	beforeAll(async () => {
		time = new SimulatedTime();
		gateway = await start();
	});
	afterAll(async () => {
		await gateway.close();
		await time.end();
	});

	const run = async (
		{ operation, model, guards, skipChecks, hasHeader }: Given,
		items: Asked[],
		preview: boolean,
	) => {
		const { models, parameters, options } = operation;
		const node = modelGateway(
			{
				...{ ...parameters, preview, prompt: '={{ $json.prompt }}' },
				model: byId(models[model % models.length]),
				options: { ...options, ...inGroups(guards), skipChecks, parallelRequests: 1 },
			},
			{ name: 'Order', onError: 'continueRegularOutput' },
		);
		const { modelGatewayApi } = credentialFor(gateway);
		const header: Record<string, string> = hasHeader
			? { idempotencyHeaderName: 'Idempotency-Key' }
			: {};
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(node), {
			credentials: { modelGatewayApi: { ...modelGatewayApi, ...header } },
			input: items.map((item) => ({
				json: { ...item } as IDataObject,
				binary: { data: file },
			})),
			mode: 'trigger',
		});
		return { outputs: result.items('Order'), requests: gateway.requests.slice(before) };
	};

	it(
		'a preview shows the same requests, in the same sequence, and the same refusals as the order',
		async () => {
			const property = fc.asyncProperty(given, async (what) => {
				processedItems.clear();
				if (gateway.requests.length > requestsPerGateway) {
					await gateway.close();
					gateway = await start();
				}
				const earlier = what.items.slice(0, what.earlier);
				if (earlier.length > 0) await run(what, earlier, false);
				const shown = await run(what, what.items, true);
				expect(shown.requests).toEqual([]);
				const real = await run(what, what.items, false);

				expect(shown.outputs).toHaveLength(what.items.length);
				const would = shown.outputs.map(({ json }) => json);
				const ordered = would.filter((json) => json.would === 'order');
				expect(real.requests.map(sentIn)).toEqual(
					ordered.map(({ request }) => shownIn(request as IDataObject)),
				);
				would.forEach((json, index) => {
					const [first] = outputsOf(index, real.outputs);
					switch (json.would) {
						case 'fail':
							expect(first?.json.error).toBe(json.reason);
							return;
						case 'skip':
							expect(first?.json ?? { ordered: false }).toMatchObject({ ordered: false });
							return;
						default:
							expect(json.would).toBe('order');
					}
				});
			});
			await fc.assert(property, tries(1_000));
		},
		20 * 60_000,
	);
});

const outputsOf = (index: number, outputs: INodeExecutionData[]) =>
	outputs.filter(({ pairedItem }) => (pairedItem as { item: number }).item === index);

/** The headers that belong to the order. */
const orderHeaders = ['x-gateway-async', 'idempotency-key'];

const headersIn = (headers: Record<string, unknown>) =>
	Object.fromEntries(
		Object.entries(headers)
			.map(([name, value]) => [name.toLowerCase(), value] as const)
			// The idempotency key of an order belongs to its execution, so it differs from that of the preview.
			.map(([name, value]) => [name, name === orderHeaders[1] ? typeof value : value] as const)
			.filter(([name]) => orderHeaders.includes(name)),
	);

/** A file, as the gateway records it and as a preview describes it. */
const isFile = (value: unknown) => typeof value === 'object' && value !== null;

const fieldsIn = (body: IDataObject, isForm: boolean): IDataObject =>
	isForm
		? Object.fromEntries(
				Object.entries(body).map(([name, value]) => [name, isFile(value) ? 'a file' : value]),
			)
		: body;

const sentIn = ({ url, headers, body, route }: RecordedRequest) => ({
	...{ url, headers: headersIn(headers) },
	body: fieldsIn(body as IDataObject, route === 'imageEdit'),
});

function shownIn({ url, headers, body }: IDataObject) {
	const { pathname } = new URL(String(url));
	return {
		...{ url: pathname, headers: headersIn(headers as IDataObject) },
		body: fieldsIn(body as IDataObject, pathname.endsWith('/edits')),
	};
}
