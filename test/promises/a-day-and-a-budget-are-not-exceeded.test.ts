import { credentialFor, chain, type NodeSettings } from '../support/workflows/workflows';
import {
	charged,
	create,
	pass,
	run,
	withOrders,
	world,
	type Fields,
	type Thing,
} from '../support/orders';

const prompts = ['Clouds', 'Fog', 'Rain', 'Waves'];
const limited = (options: Fields, settings: NodeSettings = {}, thing: Thing = 'a video') =>
	create(thing, { options, settings });
const continues = { onError: 'continueRegularOutput' } as const;
const priced = (prices: Fields) => ({
	credentials: credentialFor(world.gateway, { advanced: true, prices: JSON.stringify(prices) }),
});
const prices = { 'vid-3.1': { per_video: 0.4 } };

withOrders();

it('counts all executions of a day under Max Orders per Day, and orders again on the next day', async () => {
	const workflow = chain(limited({ maxOrdersPerDay: 3 }));
	await run(workflow, ['Clouds', 'Fog']);
	await run(workflow, ['Rain']);
	const refused = await run(workflow, ['Waves']);
	expect(refused.errorOf('Create')?.message).toContain('limit of 3 orders per day');
	expect(charged()).toBe(3);
	await pass(24 * 60 * 60);
	expect((await run(workflow, ['Waves'])).status).toBe('success');
});

it('limits the estimated cost of an execution and of a day, by the prices of the credential', async () => {
	for (const limit of ['maxCost', 'maxCostPerDay']) {
		const before = charged();
		await run(chain(limited({ [limit]: 1 }, continues)), prompts, priced(prices));
		expect(charged() - before).toBe(2);
	}
	const day = await run(chain(limited({ maxCostPerDay: 1 })), ['Waves'], priced(prices));
	expect(day.errorOf('Create')?.message).toMatch(/cost of 0\.4 .*limit of 1 per day/);
});

it('counts by the time zone of n8n where that of the workflow is none, as n8n stores it after an import', async () => {
	const settings = { executionOrder: 'v1', timezone: 'DEFAULT' } as const;
	const workflow = { ...chain(limited({ maxOrdersPerDay: 1 })), settings };
	expect((await run(workflow, ['Clouds'])).status).toBe('success');
	const refused = await run(workflow, ['Fog']);
	expect(refused.errorOf('Create')?.message).toMatch(/limit of 1 order per day/);
});

it('counts the orders of each client in a month, and says how many are left', async () => {
	const ofClients = { countFor: '={{ $json.prompt.split(" ")[0] }}', inEach: 'month' };
	const workflow = chain(limited({ maxOrders: 2, ...ofClients }, continues));
	const first = await run(workflow, ['acme 1', 'acme 2', 'acme 3', 'globex 1']);
	expect(charged()).toBe(3);
	expect(first.hintsOf('Create')).toContain(
		'Limits: “acme”: 2 of 2 orders used this month; “globex”: 1 of 2 orders used this month, 1 left.',
	);
	const second = await run(workflow, ['acme 4', 'globex 2', 'initech 1']);
	expect(charged()).toBe(5);
	const [refused] = second.items('Create');
	expect(refused.json.error).toContain('limit of 2 orders per month for “acme” (2 used before');
	// In New York, the month ends.
	await pass(24 * 60 * 60);
	await run(workflow, ['acme 4']);
	expect(charged()).toBe(6);
});

it.each([
	['a cost that no price tells', { maxCost: 5 }, {}],
	['a limit of 0', { maxOrders: 0 }, prices],
	['a limit that is empty', { maxOrdersPerDay: '' }, prices],
	['a limit that is no number', { maxCostPerDay: '={{ "much" }}' }, prices],
	['a different limit for each item', { maxOrders: '={{ $itemIndex + 5 }}' }, prices],
	['a limit for nobody', { maxOrders: 5, countFor: '={{ $json.client }}' }, prices],
	['a limit for an invisible client', { maxOrders: 5, countFor: '={{ "\\u200b" }}' }, prices],
	['a client without a limit', { countFor: 'acme' }, prices],
	['a limit in no time', { maxOrders: 5, inEach: '={{ "year" }}' }, prices],
	['a limit for a time that is empty', { maxOrders: 5, inEach: '={{ $json.time }}' }, prices],
])('orders nothing under %s', async (_, options, known) => {
	const refused = await run(chain(limited(options)), prompts, priced(known));
	expect(refused.errorOf('Create')?.message).toMatch(/Max|limit|Count For|In Each/);
	expect(charged()).toBe(0);
});
