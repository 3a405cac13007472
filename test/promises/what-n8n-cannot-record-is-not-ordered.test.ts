import { processedItems, retryExecution } from '../harness';
import { chain } from '../support/workflows/workflows';
import {
	charged,
	create,
	killedWhileOrdering,
	requested,
	run,
	withOrders,
} from '../support/orders';
import type { Fields, Thing } from '../support/orders';

/** Lets n8n's database fail until the returned function is called. @param when before or after it has written */
const failingDatabase = (when: 'before' | 'after' = 'before', times = Infinity) => {
	let left = times;
	const fail = () => {
		if (left-- > 0) throw new Error('SQLITE_BUSY: database is locked');
	};
	if (when === 'before') processedItems.precede = fail;
	else processedItems.intercept = fail;
	return () => void (left = 0);
};
const guarded: Array<[string, Thing, Fields]> = [
	['a reference video', 'a reference video', {}],
	['a video under a limit of the day', 'a video', { maxOrdersPerDay: 3 }],
	['an image with an Order Key', 'an image', { orderKey: 'A-1' }],
];

withOrders();

it.each(guarded)(
	'orders nothing while n8n’s database fails, and orders in the Retry after it: %s',
	async (_, thing, options) => {
		const repair = failingDatabase();
		const failed = await run(chain(create(thing, { options })));
		expect(failed.errorOf('Create')?.message).toMatch(/database .*nothing was ordered/);
		expect(requested(thing)).toBe(0);
		repair();
		expect((await retryExecution(failed)).items('Create')).toHaveLength(1);
		expect(charged()).toBe(1);
	},
);

it('orders and remembers it when n8n’s database fails for a moment only', async () => {
	failingDatabase('before', 6);
	const killed = await killedWhileOrdering('a video', chain(create('a video')));
	expect(charged()).toBe(1);
	expect((await retryExecution(killed)).status).toBe('error');
	expect(charged()).toBe(1);
});

it('orders no key twice when n8n’s database wrote and then reported a failure', async () => {
	const workflow = chain(create('a video', { options: { orderKey: 'A-1' } }));
	const repair = failingDatabase('after', 1);
	await run(workflow);
	repair();
	await run(workflow);
	await run(workflow);
	expect(charged()).toBe(1);
});

it.each([{ orderKey: 'A-1' }, { maxOrdersPerDay: 3 }])(
	'orders nothing with %j in a workflow that was never saved, for which n8n records nothing',
	async (options) => {
		const failed = await run({ ...chain(create('a video', { options })), id: '' });
		expect(failed.errorOf('Create')?.description).toContain('Save the workflow');
		expect(charged()).toBe(0);
	},
);
