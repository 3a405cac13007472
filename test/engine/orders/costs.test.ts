import { retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import {
	charged,
	create,
	refuseNext,
	run as order,
	withOrders,
	world,
	type Fields,
	type Thing,
} from '../../support/orders';
import { byId, chain, credentialFor, loopOver, type Node } from '../../support/workflows/workflows';

withOrders();

const prices = {
	'beta-2.7-r2v': { per_second: { '720P': 0.1, '1080P': 0.15 } },
	'vid-3.1': { per_video: 0.4 },
	'image-1': { per_image: 0.04 },
	'edit-1': { per_image: 0.02, per_million_output_tokens: 1, per_million_input_tokens: 1 },
	'chat-1': { per_million_input_tokens: 2000, per_million_output_tokens: 8000 },
	'embed-1': { per_million_input_tokens: 1000 },
};

const withPrices = (written: unknown = prices): RunOptions['credentials'] =>
	credentialFor(world.gateway, { advanced: true, prices: written as string });

const clips = (count: number) => Array.from({ length: count }, (_, index) => `Clip ${index}`);
const run = async (node: Node, count = 1, credentials = withPrices()): Promise<WorkflowRun> =>
	await order(chain(node), clips(count), { credentials });

/** A video of 2 seconds and 720P costs 0.2. */
const video = (options: Fields = {}, more: Fields = {}): Node =>
	create('a reference video', { options, ...more });

const costsOf = (result: WorkflowRun) =>
	result.items('Create').map(({ json }) => json.estimated_cost);
const messageOf = (result: WorkflowRun) => result.errorOf('Create')?.message;

describe('estimated_cost', () => {
	it.each([
		[2, 1, '2 images were requested, 1 was returned.'],
		[undefined, 2, undefined],
	])(
		'outputs all images that came, and their cost: %d requested, %d returned',
		async (n, count, hint) => {
			const data = Array.from({ length: count }, (_, index) => ({ url: `/${index}.png` }));
			const body = JSON.stringify({ data });
			world.gateway.fault({ route: 'imageGenerate', action: 'answer', body });
			const options = n ? { n } : {};
			const result = await run(create('an image', { download: false, options }));
			expect(costsOf(result)).toEqual(data.map((_, index) => (index ? undefined : 0.04 * count)));
			expect(result.hintsOf('Create')).toEqual(hint === undefined ? [] : [hint]);
		},
	);

	it.each<[Thing, Fields]>([
		['a chat', {}],
		['a chat', { simplify: false }],
		['a message', {}],
		['an embedding', { simplify: false }],
	])('computes the estimated cost from the tokens used by %s with %j', async (thing, more) => {
		const result = await run(create(thing, more));
		const [{ usage, estimated_cost }] = result.items('Create').map(({ json }) => json);
		const tokens = usage as Record<string, number>;
		const input = tokens.prompt_tokens ?? tokens.input_tokens;
		const output = tokens.completion_tokens ?? tokens.output_tokens ?? 0;
		const perInput = thing === 'an embedding' ? 1 : 2;
		expect(estimated_cost).toBeCloseTo((perInput * input + 8 * output) / 1000, 9);
		expect(result.hintsOf('Create')).toEqual([]);
	});

	it('outputs the same estimated cost when a Retry reuses the order', async () => {
		refuseNext('a reference video');
		const failed = await run(video({ parallelRequests: 1 }), 3);
		expect(failed.status).toBe('error');
		expect(costsOf(await retryExecution(failed))).toEqual([0.2, 0.2, 0.2]);
		expect(charged()).toBe(3);
	});

	it("keeps the service's own estimated_cost as it is", async () => {
		const body = JSON.stringify({ output: { task_id: 'task-1' }, estimated_cost: 7 });
		world.gateway.fault({ route: 'referenceVideoCreate', action: 'answer', body });
		expect(costsOf(await run(video()))).toEqual([7]);
	});

	it('adds up the known costs in a preview, and names the item that has no price', async () => {
		const model = '={{ $json.prompt === "Clip 0" ? "alpha-1.1-r2v" : "beta-2.7-r2v" }}';
		const result = await run(video({}, { preview: true, model: byId(model) }), 2);
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
	it('counts each item with its own cost', async () => {
		const duration = '={{ $json.prompt === "Clip 0" ? 10 : 2 }}';
		const settings = { onError: 'continueRegularOutput' };
		const result = await run(video({ [option]: 0.5, duration }, { settings }), 3);
		expect(costsOf(result)).toEqual([undefined, 0.2, 0.2]);
	});

	it.each([
		['', 'needs prices: add them to the credential, in Prices (JSON) under Advanced'],
		[{ other: { per_second: 1 } }, '“beta-2.7-r2v” has no price'],
		['{', 'they must be a JSON object'],
	])('places no order with the prices %j', async (written, problem) => {
		const refused = await run(video({ [option]: 5, skipChecks: true }), 1, withPrices(written));
		expect(messageOf(refused)).toContain(label);
		expect(messageOf(refused)).toContain(problem);
		expect(world.gateway.requests).toEqual([]);
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
		expect(messageOf(await run(video(options)))).toMatch(message);
		expect(world.gateway.requests).toEqual([]);
	});
});

it('places no more orders under Max Cost when earlier orders of the execution had no price', async () => {
	refuseNext('a reference video', 'Clip 1');
	const failed = await order(loopOver(video()), clips(3));
	expect([failed.status, charged()]).toEqual(['error', 1]);
	const workflow = loopOver(video({ maxCost: 100 }));
	const retried = await retryExecution(failed, { workflow, credentials: withPrices() });
	expect(messageOf(retried)).toMatch(/limit of 100 per execution/);
	expect(charged()).toBe(1);
});
