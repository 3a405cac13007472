import type { WorkflowRun } from '../../harness';
import {
	charged,
	create,
	loseNext,
	run,
	withOrders,
	world,
	type Fields,
	type Thing,
} from '../../support/orders';
import { chain, inGroups } from '../../support/workflows/workflows';

// The options that guard money, with whatever value an expression may give them.

withOrders();

/** The operations that have an Order Key and a limit on orders. */
const things: Thing[] = ['a reference video', 'a video', 'an image'];

const order = async (options: Fields): Promise<WorkflowRun> =>
	await run(chain(create('a reference video', { options })));

/** Orders with these options, as they are, in every operation, and expects an error before anything is sent. */
async function expectRefusal(options: unknown, problem: RegExp): Promise<void> {
	for (const thing of things) {
		const node = create(thing);
		Object.assign(node.parameters as object, { options });
		const result = await run(chain(node));
		expect(result.errorOf('Create')?.message ?? 'No error').toMatch(problem);
	}
	expect(world.gateway.requests).toEqual([]);
	expect(charged()).toBe(0);
}
const expectProblem = async (options: Fields, problem: RegExp) =>
	await expectRefusal({ ...inGroups(options), skipChecks: true }, problem);

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
		await expectProblem({ limits: group } as Fields, /^Limits needs a limit/);
		await expectProblem({ once: group } as Fields, /^Order Once needs an Order Key$/);
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
		async (options, problem) => await expectRefusal(options, problem),
	);

	it.each([[], '', null, {}])('orders where options are %j', async (options) => {
		const node = create('a video');
		Object.assign(node.parameters as object, { options });
		await run(chain(node));
		expect(charged()).toBe(1);
	});
});

it.each([{}, { ifOrderedBefore: 'drop' }, { releaseOrderKey: true }])(
	'places no order when Order Once was added without a key: %j',
	async (once) => await expectProblem({ once }, /^Order Once needs an Order Key$/),
);

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

	it.each(values)('places no order when Release Order Key is %j, which %s', async (value, end) => {
		await order(key);
		const result = await order({ ...key, releaseOrderKey: value });
		expect(charged()).toBe(1);
		await order(key);
		const found = charged() > 1 ? 'releases the key' : 'keeps the key';
		expect(isProblem(result) ? problem : found).toBe(end);
	});

	it.each(values)('places no second order when If Ordered Before is %j', async (value, _, end) => {
		await order(key);
		const result = await order({ ...key, ifOrderedBefore: value });
		expect(charged()).toBe(1);
		const found = result.status === 'success' ? 'skips the item' : 'fails';
		expect(isProblem(result) ? problem : found).toBe(end);
	});

	it.each(values)(
		'sends no order again when If No Response Arrives is %j, unless that is resend',
		async (value, _, __, end) => {
			for (const skipChecks of [false, true]) {
				const before = charged();
				const lost = loseNext('a reference video');
				const result = await order({ ifAnswerLost: value, skipChecks });
				lost.remove();
				const found = charged() > before + 1 ? 'resends' : 'stops';
				expect(isProblem(result) ? problem : found).toBe(end);
				if (end === problem) expect(charged()).toBe(before);
			}
		},
	);
});
