import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowRun,
} from '../../harness';
import { answerLater } from '../../support/store/databaseFailures';
import { picture } from '../../support/data/samples';
import { storedBy } from '../../support/workflows/interruptions';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	loopOver,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

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
		...{ credentials: withPrices(), mode: 'trigger' },
		input: Array.from({ length: count }, (_, index) => ({
			json: { prompt: `Clip ${index}`, media },
		})),
		...options,
	});

/** A video of 2 seconds and 720P costs 0.2. */
const create = (options: IDataObject = {}, parameters: IDataObject = {}): Node =>
	createReferenceVideo({ options: { resolution: '720P', duration: 2, ...options }, ...parameters });

const costsOf = (result: WorkflowRun, node = 'Create') =>
	result.items(node).map(({ json }) => json.estimated_cost);

const hintsOf = (result: WorkflowRun, node = 'Create') =>
	(result.data.resultData.runData[node][0].hints ?? []).map(({ message }) => message);

const messageOf = (result: WorkflowRun) => result.errorOf('Create')?.message;

const refuseNext = (times: number) =>
	gateway.fault({
		...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_prompt' },
		times,
	});

const messages = { values: [{ role: 'user', content: 'Hello there' }] };

describe('estimated_cost', () => {
	const node = (operation: string, parameters: IDataObject) => {
		const [resource, name] = operation.split('.');
		return modelGateway({ resource, operation: name, ...parameters }, { name: 'Create' });
	};

	it('outputs estimated_cost with each order', async () => {
		expect(costsOf(await run(create({ duration: 5, resolution: '1080P' }), { count: 2 }))).toEqual([
			0.75, 0.75,
		]);
		// The default of this model is 1080P, and 5 seconds.
		expect(costsOf(await run(create({}, { options: {} })))).toEqual([0.75]);
		const video = { model: byId('vid-3.1'), prompt: 'Waves' };
		expect(costsOf(await run(node('video.create', video)))).toEqual([0.4]);
	});

	it('outputs the estimated cost of several images once, with the first image', async () => {
		const images = { model: byId('image-1'), prompt: 'A cat', options: { n: 3 } };
		const result = await run(node('image.generate', images));
		expect(costsOf(result)).toEqual([0.12, undefined, undefined]);
	});

	it.each([
		[2, 1, '2 images were requested, 1 was returned.'],
		[1, 3, '1 image was requested, 3 were returned.'],
		[undefined, 2, undefined],
		[2, 2, undefined],
	])(
		'outputs all images that came, and their cost: %d requested, %d returned',
		async (n, count, hint) => {
			const data = Array.from({ length: count }, (_, index) => ({ url: `/${index}.png` }));
			gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
			const images = { model: byId('image-1'), prompt: 'A cat', download: false };
			const result = await run(node('image.generate', { ...images, options: n ? { n } : {} }));
			expect(costsOf(result)).toEqual(data.map((_, index) => (index ? undefined : 0.04 * count)));
			expect(hintsOf(result)).toEqual(hint === undefined ? [] : [hint]);
		},
	);

	it('counts an image that came and could not be fetched', async () => {
		const data = [
			{ url: '/gone.png' },
			{ b64_json: Buffer.from(picture('red')).toString('base64') },
		];
		gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
		const images = node('image.generate', { model: byId('image-1'), prompt: 'A cat' });
		const result = await run({ ...images, onError: 'continueErrorOutput' });
		expect(costsOf(result)).toEqual([0.08]);
	});

	it.each([
		['chat.complete', { model: byId('chat-1'), messages }],
		['chat.complete', { model: byId('chat-1'), messages, simplify: false }],
		['chat.complete', { model: byId('chat-1'), messages, options: { n: 3 } }],
		['message.create', { model: byId('chat-1'), messages }],
		['embedding.create', { model: byId('embed-1'), input: 'Hello there' }],
		[
			'embedding.create',
			{ model: byId('embed-1'), input: 'Hello there', simplify: false, options: { batchSize: 1 } },
		],
	])(
		'computes the estimated cost from the tokens used by %s with %j',
		async (operation, parameters) => {
			const result = await run(node(operation, parameters), { count: 2 });
			const outputs = result.items('Create').map(({ json }) => json);
			const costs = outputs.flatMap(({ usage, estimated_cost }) => {
				const tokens = usage as Record<string, number> | undefined;
				expect(estimated_cost === undefined).toBe(tokens === undefined);
				if (!tokens) return [];
				const input = tokens.prompt_tokens ?? tokens.input_tokens;
				const output = tokens.completion_tokens ?? tokens.output_tokens ?? 0;
				const perInput = operation === 'embedding.create' ? 1 : 2;
				expect(estimated_cost).toBeCloseTo((perInput * input + 8 * output) / 1000, 9);
				return [estimated_cost];
			});
			expect(costs.length).toBeGreaterThan(0);
			expect(hintsOf(result)).toEqual([]);
		},
	);

	it('outputs no estimated cost and no hint when there are no prices', async () => {
		const without = { credentials: credentialFor(gateway) };
		for (const made of [create(), node('chat.complete', { model: byId('chat-1'), messages })]) {
			const result = await run(made, without);
			expect(result.items('Create')[0].json).not.toHaveProperty('estimated_cost');
			expect(hintsOf(result)).toEqual([]);
		}
	});

	it.each([
		[
			{ other: { per_second: 1 } },
			/^Items 0, 1: There is no estimated cost.*“beta-2.7-r2v” has no price\.$/,
		],
		[{ 'beta-2.7-r2v': { per_second: -1 } }, /no number from 0: per_second is -1/],
		['cheap', /they must be a JSON object/],
	])('outputs a hint and no estimated cost when the prices are %j', async (written, hint) => {
		const result = await run(create(), { count: 2, credentials: withPrices(written) });
		expect(costsOf(result)).toEqual([undefined, undefined]);
		expect(hintsOf(result)).toEqual([expect.stringMatching(hint)]);
	});

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

	it('adds up the estimated costs in a preview', async () => {
		const result = await run(create({}, { preview: true }), { count: 3 });
		expect(costsOf(result)).toEqual([0.2, 0.2, 0.2]);
		expect(hintsOf(result)).toEqual([
			'Preview: nothing was ordered, and nothing charged. 3 videos (6 seconds in all) would be ordered. Estimated cost: 0.6. To order, turn off Preview (Order Nothing).',
		]);
	});

	it('adds up the known costs in a preview, and names the item that has no price', async () => {
		const model = '={{ $json.prompt === "Clip 0" ? "alpha-1.1-r2v" : "beta-2.7-r2v" }}';
		const result = await run(create({}, { preview: true, model: byId(model) }), { count: 2 });
		expect(costsOf(result)).toEqual([undefined, 0.2]);
		expect(hintsOf(result)).toEqual([
			'Preview: nothing was ordered, and nothing charged. 2 videos (4 seconds in all) would be ordered. Estimated cost: 0.2, without 1 order that has no price. To order, turn off Preview (Order Nothing).',
			'Item 0: There is no estimated cost. Prices (JSON) of the credential: “alpha-1.1-r2v” has no price.',
		]);
	});
});

describe.each([
	['maxCost', 'Max Cost per Execution', 'execution'],
	['maxCostPerDay', 'Max Cost per Day', 'day'],
])('the limit %s', (option, label, per) => {
	const onError = { onError: 'continueRegularOutput' } as const;

	it('places no order of a list that costs more than the limit, and says what to do', async () => {
		const refused = await run(create({ [option]: 0.5 }), { count: 3 });
		expect(messageOf(refused)).toContain(
			`Item 2: Not ordered: its estimated cost of 0.2 is more than what is left of the limit of 0.5 per ${per}`,
		);
		expect(refused.errorOf('Create')?.description).toContain(`raise ${label}`);
		expect(gateway.requests).toEqual([]);
	});

	it('places the orders that fit the limit when the node continues on error', async () => {
		const result = await run({ ...create({ [option]: 0.5 }), ...onError }, { count: 3 });
		expect(costsOf(result)).toEqual([0.2, 0.2, undefined]);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('places orders that reach the limit exactly', async () => {
		expect((await run(create({ [option]: 0.6 }), { count: 3 })).status).toBe('success');
		expect(gateway.ledger).toHaveLength(3);
	});

	it('counts each item with its own cost', async () => {
		const duration = '={{ $json.prompt === "Clip 0" ? 10 : 2 }}';
		const node = { ...create({ [option]: 0.5, duration }), ...onError };
		const result = await run(node, { count: 3 });
		expect(costsOf(result)).toEqual([undefined, 0.2, 0.2]);
	});

	it('places no order without prices, and says where to enter them', async () => {
		const without = { credentials: credentialFor(gateway) };
		const refused = await run(create({ [option]: 5, skipChecks: true }), without);
		expect(messageOf(refused)).toBe(
			`${label} needs prices: add them to the credential, in Prices (JSON) under Advanced`,
		);
		expect(gateway.requests).toEqual([]);
	});

	it.each([
		[{ other: { per_second: 1 } }, '“beta-2.7-r2v” has no price'],
		[{ 'beta-2.7-r2v': { per_image: 1 } }, '“beta-2.7-r2v” has no per_second or per_video'],
		[
			{ 'beta-2.7-r2v': { per_second: { '1080P': 1 } } },
			'“beta-2.7-r2v” has no per_second of 720P',
		],
		[{ 'beta-2.7-r2v': { per_second: '-1' } }, 'per_second is "-1"'],
		['{', 'they must be a JSON object'],
	])('places no order with the prices %j', async (written, problem) => {
		const credentials = withPrices(written);
		const refused = await run(create({ [option]: 5, skipChecks: true }), { credentials });
		expect(messageOf(refused)).toContain(`${label} cannot be kept`);
		expect(messageOf(refused)).toContain(problem);
		expect(gateway.requests).toEqual([]);
	});

	it('places no order when the length of a video that is priced per second is unknown', async () => {
		const node = create({ [option]: 5, skipChecks: true, duration: '={{ "long" }}' });
		const refused = await run(node);
		expect(messageOf(refused)).toMatch(/does not say how many seconds its video has/);
		expect(gateway.requests).toEqual([]);
	});

	it.each(['', '={{ undefined }}', "={{ 'much' }}", '={{ -1 }}', '={{ [] }}', '={{ NaN }}'])(
		'refuses the limit %j, which is not an amount',
		async (limit) => {
			const refused = await run(create({ [option]: limit, skipChecks: true }));
			expect(messageOf(refused)).toMatch(
				new RegExp(`${label} must be a number (of at least|from) 0`),
			);
			expect(gateway.requests).toEqual([]);
		},
	);

	it('shows in a preview what the limit would refuse, without using it up', async () => {
		for (let times = 0; times < 2; times++) {
			const shown = await run(create({ [option]: 0.5 }, { preview: true }), { count: 3 });
			expect(shown.items('Create').map(({ json }) => json.would)).toEqual([
				...['order', 'order', 'fail'],
			]);
		}
	});

	it('counts an order once when a Retry reuses it, and no order that the service refused', async () => {
		refuseNext(1);
		const failed = await run(create({ [option]: 0.6, parallelRequests: 1 }), { count: 3 });
		expect(failed.status).toBe('error');
		expect((await retryExecution(failed)).status).toBe('success');
		expect(gateway.ledger).toHaveLength(3);
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

	it('counts the cost of as many images as the request asks for', async () => {
		const node = (n: number) =>
			modelGateway(
				{
					...{ resource: 'image', operation: 'generate', model: byId('image-1'), prompt: 'A cat' },
					options: { n, [option]: 0.12 },
				},
				{ name: 'Create' },
			);
		expect(messageOf(await run(node(4)))).toMatch(/estimated cost of 0\.16/);
		expect((await run(node(3))).status).toBe('success');
	});
});

describe('Max Cost per Execution', () => {
	/** The node runs once for each item. */
	const loop = (options: IDataObject) => loopOver(create(options));
	const inputOf = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ json: { prompt: `Clip ${index}`, media } }));

	it('applies Max Cost per Execution across the runs of a loop and all Retries', async () => {
		const failed = await runWorkflow(loop({ maxCost: 0.5 }), {
			...{ credentials: withPrices(), mode: 'trigger', input: inputOf(4) },
		});
		expect(messageOf(failed)).toMatch(/more than what is left of the limit of 0.5 per execution/);
		expect(gateway.ledger).toHaveLength(2);
		expect(messageOf(await retryExecution(failed))).toMatch(/limit of 0.5 per execution/);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('places no more orders when earlier orders of the execution had no price', async () => {
		gateway.fault({
			...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_prompt' },
			when: ({ body }) => JSON.stringify(body).includes('Clip 1'),
			times: 1,
		});
		const failed = await runWorkflow(loop({}), {
			...{ credentials: credentialFor(gateway), mode: 'trigger', input: inputOf(3) },
		});
		expect(failed.status).toBe('error');
		expect(gateway.ledger).toHaveLength(1);
		const workflow = loop({ maxCost: 100 });
		const retried = await retryExecution(failed, { workflow, credentials: withPrices() });
		expect(messageOf(retried)).toMatch(/limit of 100 per execution/);
		expect(gateway.ledger).toHaveLength(1);
	});

	it('starts Max Cost per Execution from zero in each execution', async () => {
		for (let times = 0; times < 2; times++) {
			expect((await run(create({ maxCost: 0.4 }), { count: 2 })).status).toBe('success');
		}
		expect(gateway.ledger).toHaveLength(4);
	});
});

describe('Max Cost per Day', () => {
	it('counts the cost of all executions of a day, and allows orders again on the next day', async () => {
		const limited = create({ maxCostPerDay: 0.7 });
		expect((await run(limited, { count: 2 })).status).toBe('success');
		expect((await run(limited)).status).toBe('success');
		expect(messageOf(await run(limited))).toBe(
			'Not ordered: its estimated cost of 0.2 is more than what is left of the limit of 0.7 per day. It opens again on 1 January 2026 at 00:00 (America/New_York).',
		);
		expect(gateway.ledger).toHaveLength(3);
		jest.setSystemTime(Date.UTC(2026, 0, 1, 5));
		expect((await run(limited, { count: 3 })).status).toBe('success');
	});

	describe('that is changed during the day', () => {
		/** Orders a list under this limit. @returns how many orders there are then in all */
		const orderedUnder = async (maxCostPerDay: number, count: number) => {
			const onError = 'continueRegularOutput' as const;
			await run({ ...create({ maxCostPerDay }), onError }, { count });
			return gateway.ledger.length;
		};

		it('allows no more when it is lowered to what was spent, and again when it is raised', async () => {
			for (let orders = 1; orders <= 5; orders++) expect(await orderedUnder(4, 1)).toBe(orders);
			expect(await orderedUnder(1, 3)).toBe(5);
			expect(await orderedUnder(0.4, 3)).toBe(5);
			expect(await orderedUnder(1.4, 3)).toBe(7);
		});

		it('does not count a preview and refused orders when it is lowered to what was spent', async () => {
			await run(create({ maxCostPerDay: 4 }, { preview: true }), { count: 10 });
			refuseNext(5);
			expect(await orderedUnder(4, 5)).toBe(0);
			expect(await orderedUnder(4, 5)).toBe(5);
			expect(await orderedUnder(1, 3)).toBe(5);
			expect(await orderedUnder(1.2, 3)).toBe(6);
		});
	});

	it('counts earlier orders of the day after Max Cost per Day was changed', async () => {
		expect((await run(create({ maxCostPerDay: 10 }), { count: 4 })).status).toBe('success');
		expect(messageOf(await run(create({ maxCostPerDay: 0.9 })))).toMatch(/limit of 0.9 per day/);
		expect((await run(create({ maxCostPerDay: 1 }))).status).toBe('success');
		expect(messageOf(await run(create({ maxCostPerDay: 1 })))).toMatch(/limit of 1 per day/);
		expect((await run(create({ maxCostPerDay: 1000 }))).status).toBe('success');
	});

	it('applies Max Cost per Day together with Max Orders per Day, which counts only placed orders', async () => {
		const limited = {
			...create({ maxCostPerDay: 0.5, maxOrdersPerDay: 3 }),
			onError: 'continueRegularOutput' as const,
		};
		expect(costsOf(await run(limited, { count: 4 }))).toEqual([0.2, 0.2, undefined, undefined]);
		// Max Orders per Day does not count what Max Cost per Day refused.
		const free = { ...create({ maxOrdersPerDay: 3 }), onError: 'continueRegularOutput' as const };
		expect(costsOf(await run(free, { count: 2 }))).toEqual([0.2, undefined]);
	});

	it('does not count the cost of orders that the service refused', async () => {
		const { remove } = refuseNext(Infinity);
		for (let times = 0; times < 10; times++) {
			expect((await run(create({ maxCostPerDay: 0.6 }), { count: 3 })).status).toBe('error');
		}
		expect(gateway.ledger).toHaveLength(0);
		remove();
		expect((await run(create({ maxCostPerDay: 0.6 }), { count: 3 })).status).toBe('success');
	});

	it.each([2, 40])('keeps the cost of %d executions at once within the limit', async (count) => {
		const results = await Promise.all(
			Array.from({ length: count }, async () => await run(create({ maxCostPerDay: 0.3 }))),
		);
		expect(gateway.ledger).toHaveLength(1);
		expect(results.filter(({ status }) => status === 'success')).toHaveLength(1);
	});

	it('keeps the cost of two workers at once within the limit, and later allows all that is left of it', async () => {
		const limited = create({ maxCostPerDay: 0.7 });
		answerLater();
		const workers = [1, 2].map(() => new EngineProcess());
		const runs = async () =>
			await Promise.all([1, 2, 3].map(async () => await run(limited, { inWorker: true })));
		await Promise.all(workers.map(async (worker) => await worker.run(runs)));
		expect(gateway.ledger.length).toBeLessThanOrEqual(3);
		for (let left = 3 - gateway.ledger.length; left > 0; left--) {
			expect((await run(limited)).status).toBe('success');
		}
		expect(messageOf(await run(limited))).toMatch(/limit of 0.7 per day/);
		expect(gateway.ledger).toHaveLength(3);
	});

	it('counts many cheap orders in one process exactly', async () => {
		const image = modelGateway(
			{
				...{ resource: 'image', operation: 'generate', model: byId('image-1'), prompt: 'A cat' },
				options: { maxCostPerDay: 0.4 },
			},
			{ name: 'Create' },
		);
		for (let times = 0; times < 10; times++) expect((await run(image)).status).toBe('success');
		expect(messageOf(await run(image))).toMatch(/limit of 0.4 per day/);
	});

	it('counts the cost of orders that were under way when n8n was killed', async () => {
		const n8n = new EngineProcess();
		gateway.on('request', () => n8n.kill());
		const limited = create({ maxCostPerDay: 0.6 });
		const stored = await storedBy(
			n8n,
			async (onStart) => await run(limited, { count: 3, onStart }),
		);
		expect(n8n.isKilled).toBe(true);
		const before = gateway.ledger.length;
		expect(messageOf(await run(limited))).toMatch(/limit of 0.6 per day/);
		await retryExecution(recoverExecution(stored, { ended: ['Start'], begun: 'Create' }));
		expect(gateway.ledger.length).toBeLessThanOrEqual(Math.max(before, 3));
	});

	it("places no order when the day's cost cannot be looked up", async () => {
		processedItems.intercept = () => {
			throw new Error('The database is locked');
		};
		expect(messageOf(await run(create({ maxCostPerDay: 5 })))).toMatch(
			/orders of the day could not be looked up/,
		);
		expect(gateway.requests).toEqual([]);
	});

	it("adds at most a few hundred entries to n8n's store, however much is ordered", async () => {
		const { size } = processedItems;
		await run(create({ maxCostPerDay: 1_000, duration: 15 }), { count: 15 });
		expect(processedItems.size - size).toBeLessThan(15 * 3 + 350);
	});
});
