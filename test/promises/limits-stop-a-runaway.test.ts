import { retryExecution } from '../harness';
import { chain, loopOver, type NodeSettings } from '../support/workflows/workflows';
import {
	charged,
	create,
	refuseNext,
	run,
	videos,
	withOrders,
	type Fields,
	type Thing,
} from '../support/orders';

const prompts = ['Clouds', 'Fog', 'Rain', 'Waves'];
const limited = (options: Fields, settings: NodeSettings = {}, thing: Thing = 'a video') =>
	create(thing, { options, settings });
const continues = { onError: 'continueRegularOutput' } as const;

withOrders();

it.each([...videos, 'an image'] as const)(
	'sends nothing of a list with more orders than Max Orders allows: %s',
	async (thing) => {
		const refused = await run(chain(limited({ maxOrders: 3 }, {}, thing)), prompts);
		expect(refused.errorOf('Create')?.message).toContain('limit of 3 orders per execution');
		expect(charged()).toBe(0);
	},
);

it('orders what fits when the node continues on errors', async () => {
	const ofSheet = limited({ maxOrders: '={{ "3" }}' }, continues);
	const items = (await run(chain(ofSheet), prompts)).items('Create');
	expect(items.map(({ json }) => json.error === undefined)).toEqual([true, true, true, false]);
	expect(charged()).toBe(3);
});

it('counts all runs of a loop', async () => {
	expect((await run(loopOver(limited({ maxOrders: 3 })), prompts)).status).toBe('error');
	expect(charged()).toBe(3);
});

it('counts an order once in all Retries, and none that the service refused', async () => {
	refuseNext('a video', 'Rain');
	const failed = await run(chain(limited({ maxOrders: 4, maxOrdersPerDay: 4 })), prompts);
	expect(charged()).toBe(3);
	expect((await retryExecution(failed)).items('Create')).toHaveLength(4);
	expect((await retryExecution(failed)).items('Create')).toHaveLength(4);
	expect(charged()).toBe(4);
});
