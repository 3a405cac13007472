import type { IDataObject } from 'n8n-workflow';
import { runWorkflow, type WorkflowRun } from '../../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// The options that guard money, with whatever value an expression may give them.

const { gateway, media } = withGateway({
	jobSeconds: 60,
	render: async () => new Uint8Array(0),
	draw: async () => new Uint8Array(0),
});

const { parameters: referenceVideo } = createReferenceVideo();
const video = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
const image = { resource: 'image', operation: 'generate', model: byId('image-1'), download: false };
const prompt = '={{ $json.prompt }}';

/** The operations that have an Order Key and a limit on orders. */
const operations: Array<[string, IDataObject]> = [
	['a reference video', referenceVideo as IDataObject],
	['a video', { ...video, prompt }],
	['an image', { ...image, prompt }],
];

async function order(
	options: IDataObject,
	{ parameters = referenceVideo as IDataObject, count = 3 } = {},
): Promise<WorkflowRun> {
	const node = modelGateway({ ...parameters, options: inGroups(options) }, { name: 'Create' });
	return await runWorkflow(chain(node), {
		credentials: credentialFor(gateway),
		input: Array.from({ length: count }, (_, index) => ({
			json: { prompt: `Video ${index}`, media, sku: `A-${index}` },
		})),
		mode: 'trigger',
	});
}

/** Orders with these options in every operation, and expects an error before anything is sent. */
async function expectProblem(options: IDataObject, label: RegExp): Promise<void> {
	for (const [, parameters] of operations) {
		const result = await order({ ...options, skipChecks: true }, { parameters, count: 1 });
		expect(result.errorOf('Create')?.message ?? 'No error').toMatch(label);
	}
	expect(gateway.requests).toEqual([]);
	expect(gateway.ledger).toEqual([]);
}

const nothing = [
	'',
	'  ',
	'={{ $json.nothing }}',
	'={{ undefined }}',
	'={{ null }}',
	"={{ '' }}",
	"={{ '  ' }}",
];

const limits = [
	['maxOrders', 'Max Orders'],
	['maxOrdersPerDay', 'Max Orders per Day'],
	['maxCost', 'Max Cost'],
	['maxCostPerDay', 'Max Cost per Day'],
];

describe('a limit set by an expression', () => {
	it.each([
		...nothing,
		"={{ 'abc' }}",
		'={{ -1 }}',
		'={{ NaN }}',
		'={{ Infinity }}',
		'={{ true }}',
		'={{ false }}',
		'={{ [] }}',
		'={{ [2] }}',
		'={{ ({}) }}',
	])('places no order when a limit is not an amount: %j', async (value) => {
		for (const [option, label] of limits)
			await expectProblem({ [option]: value }, new RegExp(`${label} must be a`));
	});

	it.each([
		['maxOrders', '={{ 1.5 }}', /^Max Orders must be a whole number/],
		['maxOrdersPerDay', '={{ 1.5 }}', /^Max Orders per Day must be a whole number/],
		['maxOrdersPerDay', '={{ 100001 }}', /^Max Orders per Day must be .* from 0 to 100000/],
	])('places no order when %s is %s', async (option, value, problem) => {
		await expectProblem({ [option]: value }, problem);
	});

	it.each([
		[{ maxOrders: 100_001, inEach: 'month' }, /^Max Orders must be at most 100000 in each month/],
		[{ maxCost: 1e9 + 1, inEach: 'day' }, /^Max Cost must be at most 1000000000 in each day/],
	])('places no order when nobody can count as far as %j', async (options, problem) => {
		await expectProblem(options, problem);
	});
});

describe('a group that guards money', () => {
	const shapes = [
		{},
		null,
		'',
		'three',
		'={{ { maxOrders: 3, orderKey: "A" } }}',
		[{ maxOrders: 3, orderKey: 'A' }],
		{ max_orders: 3, order_key: 'A' },
	];

	it.each(shapes)('places no order when n8n finds nothing in it: %j', async (group) => {
		await expectProblem({ limits: group } as IDataObject, /^Limits needs a limit/);
		await expectProblem({ once: group } as IDataObject, /^Order Once needs an Order Key$/);
	});
});

describe('guards in the wrong place', () => {
	it.each([
		...limits.map(([name, label]): [object, RegExp] => [
			{ [name]: 3 },
			new RegExp(`^${label} must be in Limits`),
		]),
		[{ orderKey: 'A' }, /^Order Key must be in Order Once/],
		[[{ limits: { maxOrders: 3 } }], /^Options cannot be read/],
		['={{ { limits: { maxOrders: 3 } } }}', /^Options cannot be read/],
	] as Array<[object | string, RegExp]>)(
		'places no order where options are %j',
		async (options, problem) => {
			for (const [, parameters] of operations) {
				const node = modelGateway({ ...parameters, options } as never, { name: 'Create' });
				const input = [{ json: { prompt: 'Video', media } }];
				const result = await runWorkflow(chain(node), {
					credentials: credentialFor(gateway),
					input,
					mode: 'trigger',
				});
				expect(result.errorOf('Create')?.message ?? 'No error').toMatch(problem);
			}
			expect(gateway.ledger).toEqual([]);
		},
	);

	it.each([[], '', null, {}])('orders where options are %j', async (options) => {
		const node = modelGateway({ ...video, prompt, options } as never, { name: 'Create' });
		await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: [{ json: { prompt: 'Video' } }],
			mode: 'trigger',
		});
		expect(gateway.ledger).toHaveLength(1);
	});
});

describe('Order Key', () => {
	it.each([{}, { ifOrderedBefore: 'drop' }, { releaseOrderKey: true }])(
		'places no order when Order Once was added without a key: %j',
		async (once) => await expectProblem({ once }, /^Order Once needs an Order Key$/),
	);
});

const problem = 'is a problem';

/** Values of an expression, and what each does as Release Order Key, If Ordered Before and If No Response Arrives. */
const values: Array<[value: string, release: string, before: string, lost: string]> = [
	['stop', problem, problem, 'stops'],
	['', 'keeps the key', 'skips the item', problem],
	['={{ $json.nothing }}', 'keeps the key', 'skips the item', problem],
	['={{ null }}', 'keeps the key', 'skips the item', problem],
	["={{ '  ' }}", problem, 'skips the item', problem],
	["={{ 'maybe' }}", problem, problem, problem],
	["={{ 'TRUE' }}", 'releases the key', problem, problem],
	["={{ 'true' }}", 'releases the key', problem, problem],
	["={{ 'FAIL' }}", problem, 'fails', problem],
	["={{ 'fail' }}", problem, 'fails', problem],
	["={{ 'RESEND' }}", problem, problem, 'resends'],
	["={{ 'resend' }}", problem, problem, 'resends'],
	['={{ 1 }}', problem, problem, problem],
	['={{ 0 }}', problem, problem, problem],
	['={{ -1 }}', problem, problem, problem],
	['={{ 1.5 }}', problem, problem, problem],
	['={{ NaN }}', problem, problem, problem],
	['={{ true }}', 'releases the key', problem, problem],
	['={{ false }}', 'keeps the key', problem, problem],
	['={{ [] }}', problem, problem, problem],
	['={{ ({}) }}', problem, problem, problem],
];

const isProblem = (result: WorkflowRun) =>
	/^(Release|If) [\w ]+ must be /.test(result.errorOf('Create')?.message ?? '');

describe('options set by an expression', () => {
	const key = { orderKey: 'A-1' };
	const once = { count: 1 };

	it.each(values)('places no order when Release Order Key is %j, which %s', async (value, end) => {
		await order(key, once);
		const result = await order({ ...key, releaseOrderKey: value }, once);
		expect(gateway.ledger).toHaveLength(1);
		await order(key, once);
		const found = gateway.ledger.length > 1 ? 'releases the key' : 'keeps the key';
		expect(isProblem(result) ? problem : found).toBe(end);
	});

	it.each(values)('places no second order when If Ordered Before is %j', async (value, _, end) => {
		await order(key, once);
		const result = await order({ ...key, ifOrderedBefore: value }, once);
		expect(gateway.ledger).toHaveLength(1);
		const found = result.status === 'success' ? 'skips the item' : 'fails';
		expect(isProblem(result) ? problem : found).toBe(end);
	});

	it.each(values)(
		'sends no order again when If No Response Arrives is %j, unless that is resend',
		async (value, _, __, end) => {
			for (const skipChecks of [false, true]) {
				const before = gateway.ledger.length;
				const lost = gateway.fault({
					route: 'referenceVideoCreate',
					action: 'reset',
					accepted: true,
				});
				const result = await order({ ifAnswerLost: value, skipChecks }, once);
				lost.remove();
				const found = gateway.ledger.length > before + 1 ? 'resends' : 'stops';
				expect(isProblem(result) ? problem : found).toBe(end);
				if (end === problem) expect(gateway.ledger).toHaveLength(before);
			}
		},
	);
});
