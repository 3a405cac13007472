import {
	EngineProcess,
	processedItems,
	retryExecution,
	type RunOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { onLastJob, storedBy } from '../../support/workflows/interruptions';
import {
	charged,
	create,
	loseNext,
	run,
	withOrders,
	world,
	type Fields,
} from '../../support/orders';
import { chain, credentialFor } from '../../support/workflows/workflows';

const idempotencyHeaderName = 'Idempotency-Key';
const thing = 'a reference video';
const workflow = chain(create(thing));

withOrders({ idempotencyHeader: idempotencyHeaderName });

const withKeys = (): RunOptions => ({
	credentials: credentialFor(world.gateway, { advanced: true, idempotencyHeaderName, prices }),
});
const keys = () => {
	const creates = world.gateway.requests.filter(({ route }) => route === 'referenceVideoCreate');
	return new Set(creates.map(({ headers }) => headers['idempotency-key'])).size;
};

it('sends a create again with the same key on each Retry until its response arrives', async () => {
	const lost = loseNext(thing, Infinity);
	const failed = await run(workflow, ['A boat', 'A boat'], withKeys());
	expect(failed.errorOf('Create')?.description).toContain(
		"n8n's Retry of this execution sends it again with the same key",
	);
	expect(failed.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
	const again = await retryExecution(failed);
	expect(again.status).toBe('error');
	lost.remove();
	expect((await retryExecution(again)).items('Create')).toHaveLength(2);
	expect([keys(), charged()]).toEqual([2, 2]);
});

it.each<[string, (failed: WorkflowRun) => void]>([
	[
		'when n8n stored nothing of it, as after a kill',
		({ data }) => {
			expect(Object.keys(data.executionData?.contextData ?? {})).toContain('node:Create');
			delete data.executionData?.contextData['node:Create'];
		},
	],
	// It gives executions no such token. The stored data of the failed execution name their origin.
	['in n8n 1', ({ data }) => void delete data.resumeToken],
])('sends a create again with the same key on Retry %s', async (_, change) => {
	loseNext(thing, 5);
	const failed = await run(workflow, ['A boat'], withKeys());
	change(failed);
	expect((await retryExecution(failed)).items('Create')).toHaveLength(1);
	expect([keys(), charged()]).toEqual([1, 1]);
});

const prices = '{"beta-2.7-r2v":{"per_video":1}}';

const killed = async (ordering: WorkflowJson, options: RunOptions) => {
	const n8n = new EngineProcess();
	onLastJob(world.gateway, 1, () => n8n.kill());
	const order = async (onStart: RunOptions['onStart']) =>
		await run(ordering, ['A boat'], { ...options, onStart });
	return await storedBy(n8n, order);
};

it.each([{ maxOrders: 1 }, { maxCost: 1 }, { maxOrdersPerDay: 1 }])(
	'counts an order once that n8n was killed in, and again where it is sent again without a key: %j',
	async (limit) => {
		const limited = (options: Fields = {}) =>
			chain(create(thing, { options: { ...limit, ...options } }));
		const first = await killed(limited(), withKeys());
		expect((await retryExecution(first)).items('Create')).toHaveLength(1);
		expect([keys(), charged()]).toEqual([1, 1]);

		processedItems.clear();
		const credentials = credentialFor(world.gateway, { advanced: true, prices });
		const again = limited({ ifAnswerLost: 'resend' });
		await retryExecution(await killed(again, { credentials }));
		expect(charged()).toBe(2);
	},
);
