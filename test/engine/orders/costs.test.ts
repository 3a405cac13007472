import type { IDataObject } from 'n8n-workflow';
import { retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	loopOver,
	modelGateway,
	type Node,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const { gateway, media, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: Infinity,
	render: async () => new Uint8Array(0),
});

const prices = {
	'beta-2.7-r2v': { per_second: { '720P': 0.1, '1080P': 0.15 } },
	'vid-3.1': { per_video: 0.4 },
	'image-1': { per_image: 0.04 },
	'edit-1': { per_image: 0.02, per_million_output_tokens: 1, per_million_input_tokens: 1 },
	'chat-1': { per_million_input_tokens: 2000, per_million_output_tokens: 8000 },
	'embed-1': { per_million_input_tokens: 1000 },
};

const withPrices = (written: unknown = prices): RunOptions['credentials'] =>
	credentialFor(gateway, { advanced: true, prices: written as string });

const run = async (
	node: Node,
	{ count = 1, ...options }: RunOptions & { count?: number } = {},
): Promise<WorkflowRun> =>
	await runWorkflow(chain(node), {
		credentials: withPrices(),
		mode: 'trigger',
		input: Array.from({ length: count }, (_, index) => ({
			json: { prompt: `Clip ${index}`, media },
		})),
		...options,
	});

/** A video of 2 seconds and 720P costs 0.2. */
const create = (options: IDataObject = {}, parameters: IDataObject = {}): Node =>
	createReferenceVideo({
		options: inGroups({ resolution: '720P', duration: 2, ...options }),
		...parameters,
	});

const costsOf = (result: WorkflowRun, node = 'Create') =>
	result.items(node).map(({ json }) => json.estimated_cost);

const messageOf = (result: WorkflowRun) => result.errorOf('Create')?.message;

const refuseNext = (times: number) =>
	gateway.fault({
		route: 'referenceVideoCreate',
		action: 'error',
		status: 400,
		code: 'invalid_prompt',
		times,
	});

const messages = { values: [{ role: 'user', content: 'Hello there' }] };

describe('estimated_cost', () => {
	const node = (operation: string, parameters: IDataObject) => {
		const [resource, name] = operation.split('.');
		return modelGateway({ resource, operation: name, ...parameters }, { name: 'Create' });
	};

	it.each([
		[2, 1, '2 images were requested, 1 was returned.'],
		[undefined, 2, undefined],
	])(
		'outputs all images that came, and their cost: %d requested, %d returned',
		async (n, count, hint) => {
			const data = Array.from({ length: count }, (_, index) => ({ url: `/${index}.png` }));
			gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
			const images = { model: byId('image-1'), prompt: 'A cat', download: false };
			const result = await run(node('image.generate', { ...images, options: n ? { n } : {} }));
			expect(costsOf(result)).toEqual(data.map((_, index) => (index ? undefined : 0.04 * count)));
			expect(result.hintsOf('Create')).toEqual(hint === undefined ? [] : [hint]);
		},
	);

	it.each([
		['chat.complete', { model: byId('chat-1'), messages }],
		['chat.complete', { model: byId('chat-1'), messages, simplify: false }],
		['message.create', { model: byId('chat-1'), messages }],
		[
			'embedding.create',
			{ model: byId('embed-1'), input: 'Hello there', simplify: false, options: { batchSize: 1 } },
		],
	])(
		'computes the estimated cost from the tokens used by %s with %j',
		async (operation, parameters) => {
			const result = await run(node(operation, parameters));
			const [{ usage, estimated_cost }] = result.items('Create').map(({ json }) => json);
			const tokens = usage as Record<string, number>;
			const input = tokens.prompt_tokens ?? tokens.input_tokens;
			const output = tokens.completion_tokens ?? tokens.output_tokens ?? 0;
			const perInput = operation === 'embedding.create' ? 1 : 2;
			expect(estimated_cost).toBeCloseTo((perInput * input + 8 * output) / 1000, 9);
			expect(result.hintsOf('Create')).toEqual([]);
		},
	);

	it('outputs the same estimated cost when a Retry reuses the order', async () => {
		refuseNext(1);
		const failed = await run(create({ parallelRequests: 1 }), { count: 3 });
		expect(failed.status).toBe('error');
		const retried = await retryExecution(failed);
		expect(costsOf(retried)).toEqual([0.2, 0.2, 0.2]);
		expect(gateway.ledger).toHaveLength(3);
	});

	it("keeps the service's own estimated_cost as it is", async () => {
		const body = JSON.stringify({ output: { task_id: 'task-1' }, estimated_cost: 7 });
		gateway.fault({ route: 'referenceVideoCreate', action: 'answer', status: 200, body });
		expect(costsOf(await run(create()))).toEqual([7]);
	});

	it('adds up the known costs in a preview, and names the item that has no price', async () => {
		const model = '={{ $json.prompt === "Clip 0" ? "alpha-1.1-r2v" : "beta-2.7-r2v" }}';
		const result = await run(create({}, { preview: true, model: byId(model) }), { count: 2 });
		expect(costsOf(result)).toEqual([undefined, 0.2]);
		expect(result.hintsOf('Create')).toEqual([
			'Item 0: There is no estimated cost. Prices (JSON) of the credential: “alpha-1.1-r2v” has no price.',
			'Preview: nothing was ordered, and nothing charged. 2 videos (4 seconds in all) would be ordered. Estimated cost: 0.2, without 1 order that has no price. To order, turn off Preview (Order Nothing).',
		]);
	});
});

describe.each([
	['maxCost', 'Max Cost', 'execution'],
	['maxCostPerDay', 'Max Cost per Day', 'day'],
])('the limit %s', (option, label) => {
	const onError = { onError: 'continueRegularOutput' } as const;

	it('counts each item with its own cost', async () => {
		const duration = '={{ $json.prompt === "Clip 0" ? 10 : 2 }}';
		const node = { ...create({ [option]: 0.5, duration }), ...onError };
		const result = await run(node, { count: 3 });
		expect(costsOf(result)).toEqual([undefined, 0.2, 0.2]);
	});

	it.each([
		['', 'needs prices: add them to the credential, in Prices (JSON) under Advanced'],
		[{ other: { per_second: 1 } }, '“beta-2.7-r2v” has no price'],
		['{', 'they must be a JSON object'],
	])('places no order with the prices %j', async (written, problem) => {
		const credentials = withPrices(written);
		const refused = await run(create({ [option]: 5, skipChecks: true }), { credentials });
		expect(messageOf(refused)).toContain(label);
		expect(messageOf(refused)).toContain(problem);
		expect(gateway.requests).toEqual([]);
	});

	it.each([
		['a longer video', { parameters: { duration: 15 } }, /estimated cost of 1\.5 /],
		['another model', { model: 'alpha-1.1-r2v' }, /“alpha-1.1-r2v” has no price/],
		[
			'a video of unknown length',
			{ parameters: { duration: 'x' } },
			/does not say how many seconds/,
		],
	])('checks the cost of %s that Extra Body asks for', async (_, extraBody, message) => {
		const options = { [option]: 1, skipChecks: true, extraBody: JSON.stringify(extraBody) };
		expect(messageOf(await run(create(options)))).toMatch(message);
		expect(gateway.requests).toEqual([]);
	});
});

describe('Max Cost', () => {
	const loop = (options: IDataObject) => loopOver(create(options));
	const inputOf = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ json: { prompt: `Clip ${index}`, media } }));

	it('places no more orders when earlier orders of the execution had no price', async () => {
		gateway.fault({
			route: 'referenceVideoCreate',
			action: 'error',
			status: 400,
			code: 'invalid_prompt',
			when: ({ body }) => JSON.stringify(body).includes('Clip 1'),
			times: 1,
		});
		const failed = await runWorkflow(loop({}), { mode: 'trigger', input: inputOf(3) });
		expect(failed.status).toBe('error');
		expect(gateway.ledger).toHaveLength(1);
		const workflow = loop({ maxCost: 100 });
		const retried = await retryExecution(failed, { workflow, credentials: withPrices() });
		expect(messageOf(retried)).toMatch(/limit of 100 per execution/);
		expect(gateway.ledger).toHaveLength(1);
	});
});
