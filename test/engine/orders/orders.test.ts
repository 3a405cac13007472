import { EngineProcess, processedItems, retryExecution, type WorkflowRun } from '../../harness';
import { currentProcess } from '../../harness/process';
import { onStoreCalls } from '../../support/store/storeCalls';
import { storedBy } from '../../support/workflows/interruptions';
import {
	charged,
	create,
	loseNext,
	refuseNext,
	requested,
	run,
	withOrders,
	world,
	type Fields,
} from '../../support/orders';
import { chain, credentialFor, type NodeSettings } from '../../support/workflows/workflows';

const thing = 'a reference video';
const order = (options: Fields = {}, settings: NodeSettings = {}) =>
	chain(create(thing, { options, settings }));
const keyed = (options: Fields = {}) => order({ orderKey: '={{ $json.prompt }}', ...options });
const isLeftOut = async (workflow: ReturnType<typeof chain>) =>
	(await run(workflow)).items('Create')[0].json.ordered === false;

withOrders();

it('names each item whose outcome is unknown after Stop', async () => {
	let stop = () => {};
	let arrived = 0;
	const when = () => (++arrived === 3 && stop(), true);
	const stalled = { route: 'referenceVideoCreate', action: 'stall', accepted: true } as const;
	world.gateway.fault({ ...stalled, times: Infinity, when });
	const onStart = (cancel: () => void) => void (stop = cancel);
	const stopped = await run(order(), ['Waves', 'Clouds', 'Rain'], { onStart });
	expect(stopped.errorOf('Create')?.message).toBe('Item 0: The execution was canceled');
	expect(stopped.errorOf('Create')?.description).toContain('The same applies to items 1, 2.');
});

it('orders in a later Retry what the service refused to another Retry at the same moment', async () => {
	refuseNext(thing);
	const failed = await run(order());
	refuseNext(thing);
	const both = await Promise.all([retryExecution(failed), retryExecution(failed)]);
	expect(charged()).toBe(0);
	const wasSent = (retry: WorkflowRun) => retry.errorOf('Create')?.message.includes('sent before');
	const later = await retryExecution(both.find(wasSent) as WorkflowRun);
	expect([later.status, charged()]).toEqual(['success', 1]);
});

it.each([
	['after a release', true],
	['and is refused', false],
])('keeps an Order Key used when its order is sent again %s', async (_, isReleased) => {
	loseNext(thing);
	const failed = await run(keyed());
	if (isReleased) await run(keyed({ releaseOrderKey: true }));
	else refuseNext(thing);
	await retryExecution(failed, { workflow: keyed({ ifAnswerLost: 'resend' }) });
	expect(requested(thing)).toBe(2);
	expect(await isLeftOut(keyed())).toBe(true);
	expect(requested(thing)).toBe(2);
});

it('records no image without an Order Key', async () => {
	await run(chain(create('an image')));
	expect([charged(), processedItems.calls]).toEqual([1, []]);
});

describe('failures of n8n’s database for one of two workers', () => {
	let one: EngineProcess;
	let other: EngineProcess;
	beforeEach(() => void ([one, other] = [new EngineProcess(), new EngineProcess()]));

	/** @returns a function that ends the failures */
	const failFrom = (call: number) => {
		let calls = 0;
		processedItems.precede = () => {
			if (currentProcess() === one && ++calls >= call) throw new Error('Connection refused');
		};
		return () => void (processedItems.precede = () => {});
	};
	const runIn = async (worker: EngineProcess, options: Fields, prompts?: string[]) =>
		(await worker.run(
			async () => await run(order(options), prompts, { inWorker: true }),
		)) as WorkflowRun;

	it.each([2, 3])(
		'places no order again that the other one has placed since: call %d and all later ones fail',
		async (call) => {
			refuseNext(thing);
			const refused = await runIn(one, {});
			const recover = failFrom(call);
			await one.run(async () => await retryExecution(refused));
			world.gateway.once('job', () => other.kill());
			const killed = await storedBy(
				other,
				async (onStart) => await retryExecution(refused, { onStart }),
			);
			expect(charged()).toBe(1);
			recover();
			await runIn(one, {}, ['Clouds']);
			const again = (await one.run(async () => await retryExecution(killed))) as WorkflowRun;
			expect(again.errorOf('Create')?.message).toContain('This order was sent before');
			expect(charged()).toBe(2);
		},
	);

	it('releases no Order Key that the other one has released and used since', async () => {
		const key = { orderKey: 'row 1' };
		await runIn(one, key);
		const recover = failFrom(1);
		const release = { ...key, releaseOrderKey: true };
		expect((await runIn(one, release)).status).toBe('error');
		await runIn(other, release);
		await runIn(other, key);
		expect(charged()).toBe(2);
		recover();
		expect((await runIn(one, key)).items('Create')[0].json).toMatchObject({ ordered: false });
		expect(charged()).toBe(2);
	});
});

it.each(['before', 'after'] as const)(
	'places an order once, whichever call to n8n’s database failed in its run: %s it took effect',
	async (moment) => {
		const guarded = keyed({ maxOrdersPerDay: 1 });
		for (let call = 1, hasFailed = true; hasFailed; call++) {
			processedItems.clear();
			const before = charged();
			let calls = 0;
			const end = onStoreCalls(moment, () => {
				if (++calls === call) throw new Error('SQLITE_BUSY: database is locked');
			});
			await new EngineProcess().run(async () => {
				await run(guarded);
				end();
				for (let again = 0; again < 2; again++) expect((await run(guarded)).status).toBe('success');
			});
			hasFailed = calls >= call;
			expect({ call, orders: charged() - before }).toEqual({ call, orders: 1 });
		}
	},
);

it('does not release an Order Key in a run that could not write to the store', async () => {
	await run(keyed());
	processedItems.intercept = (call) => {
		if (call === 'record') throw new Error('SQLITE_BUSY');
	};
	await run(keyed());
	processedItems.intercept = () => {};
	await run(keyed());
	expect(charged()).toBe(1);
});

it('accepts an Order Key that is a number or a million characters long', async () => {
	await run(order({ orderKey: '={{ 7 }}' }));
	await run(order({ orderKey: '7' }));
	expect(charged()).toBe(1);

	const long = order({ orderKey: 'k'.repeat(1_000_000), ifOrderedBefore: 'fail' });
	await run(long);
	const second = await run(long);
	expect(second.errorOf('Create')?.message.length).toBeLessThan(200);
	expect(charged()).toBe(2);
});

it.each([
	['maxOrders', 'It would exceed the limit of 1 order per execution.'],
	[
		'maxOrdersPerDay',
		'It would exceed the limit of 1 order per day (1 used before this run). It opens again at midnight',
	],
	['maxCost', 'Its estimated cost of 1 is more than what is left of the limit of 1 per execution.'],
	[
		'maxCostPerDay',
		'Its estimated cost of 1 is more than what is left of the limit of 1 per day (1 used before this run).',
	],
])(
	'sends a lost order again as often as the limit allows in all tries of Retry On Fail, and says so: %s',
	async (limit, reason) => {
		loseNext(thing, Infinity);
		const prices = '{"beta-2.7-r2v":{"per_video":1}}';
		const credentials = credentialFor(world.gateway, { advanced: true, prices });
		const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const orderUnder = async (max: number) =>
			await run(order({ ifAnswerLost: 'resend', [limit]: max }, tries), ['Waves'], { credentials });
		const error = (await orderUnder(1)).errorOf('Create');
		expect(error?.message).toContain('the connection was lost before the response arrived');
		expect(error?.description).toContain(`It was not sent again. ${reason}`);
		expect(requested(thing)).toBe(1);
		processedItems.clear();
		await orderUnder(3);
		expect(requested(thing)).toBe(1 + 3);
	},
);
