import { setImmediate } from 'node:timers/promises';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	type RunOptions,
	type WorkflowRun,
} from '../../harness';
import { storedBy } from '../../support/workflows/interruptions';
import { charged, create, run, withOrders, world, type Fields } from '../../support/orders';
import { chain, credentialFor } from '../../support/workflows/workflows';

withOrders({ jobSeconds: Infinity });

const prompts = (count: number) => Array.from({ length: count }, (_, index) => `Video ${index}`);
const prices = JSON.stringify({ 'beta-2.7-r2v': { per_video: 0.2 } });

/** Orders this number of videos under these limits. */
const order = async (
	limits: Fields,
	count: number,
	{ settings, ...options }: RunOptions & { settings?: object } = {},
): Promise<WorkflowRun> =>
	await run(chain(create('a reference video', { options: limits, settings })), prompts(count), {
		credentials: credentialFor(world.gateway, { advanced: true, prices }),
		...options,
	});
const messageOf = (execution: WorkflowRun) => execution.errorOf('Create')?.message;

const ofClient = { countFor: 'acme', inEach: 'month' };

describe.each<[string, Fields, string]>([
	[
		'Max Orders per Day',
		{ maxOrdersPerDay: 4 },
		'it would exceed the limit of 4 orders per day (4 used before this run).',
	],
	[
		'Max Cost per Day',
		{ maxCostPerDay: 0.8 },
		'its estimated cost of 0.2 is more than what is left of the limit of 0.8 per day (0.8 used before this run).',
	],
	[
		'Max Orders for a client in a month',
		{ maxOrders: 4, ...ofClient },
		'it would exceed the limit of 4 orders per month for “acme” (4 used before this run).',
	],
	[
		'Max Cost for a client in a month',
		{ maxCost: 0.8, ...ofClient },
		'its estimated cost of 0.2 is more than what is left of the limit of 0.8 per month for “acme” (0.8 used before this run).',
	],
])('%s', (_, limit, reason) => {
	it.each([2, 4])(
		'places no more orders than the limit in %d workers at once, and later all that are left of it',
		async (count) => {
			// So workers at once meet in n8n's database.
			processedItems.intercept = async () => await setImmediate();
			const workers = Array.from({ length: count }, () => new EngineProcess());
			const three = async () =>
				await Promise.all([1, 2, 3].map(async () => await order(limit, 1, { inWorker: true })));
			await Promise.all(workers.map(async (worker) => await worker.run(three)));
			expect(charged()).toBeLessThanOrEqual(4);
			for (let left = 4 - charged(); left > 0; left--) {
				expect((await order(limit, 1)).status).toBe('success');
			}
			expect(messageOf(await order(limit, 1))).toContain(reason.slice(0, reason.indexOf('(')));
			expect(charged()).toBe(4);
		},
	);

	it('counts orders that were under way when n8n was killed', async () => {
		const n8n = new EngineProcess();
		world.gateway.on('request', ({ method }) => void (method === 'POST' && n8n.kill()));
		const stored = await storedBy(n8n, async (onStart) => await order(limit, 4, { onStart }));
		expect(n8n.isKilled).toBe(true);
		const before = charged();
		expect(messageOf(await order(limit, 1))).toContain(reason);
		await retryExecution(recoverExecution(stored, { ended: ['Start'], begun: 'Create' }));
		expect(charged()).toBeLessThanOrEqual(Math.max(before, 4));
	});
});

describe('a limit that is set or changed during the day', () => {
	/** Orders a list under these limits. @returns how many orders there are then in all */
	const orderedUnder = async (limits: Fields, count: number) => {
		await order(limits, count, { settings: { onError: 'continueRegularOutput' } });
		return charged();
	};

	it('counts the videos that were ordered before, whatever the limit was then', async () => {
		expect(await orderedUnder({}, 5)).toBe(5);
		expect(await orderedUnder({ maxOrdersPerDay: 5 }, 3)).toBe(5);
		expect(await orderedUnder({}, 2)).toBe(7);
		expect(await orderedUnder({ maxOrdersPerDay: 4 }, 3)).toBe(7);
		expect(await orderedUnder({ maxOrdersPerDay: 8 }, 3)).toBe(8);
	});

	it('counts only orders that were placed, and none that Max Cost per Day has refused', async () => {
		expect(await orderedUnder({ maxCostPerDay: 0.5, maxOrdersPerDay: 3 }, 4)).toBe(2);
		expect(await orderedUnder({ maxOrdersPerDay: 3 }, 2)).toBe(3);
	});

	it('counts all of two executions at once, although n8n’s database fails in between', async () => {
		let isLocked = true;
		processedItems.precede = () => {
			if (!isLocked) return;
			isLocked = false;
			throw new Error('The database is locked');
		};
		await Promise.all([orderedUnder({}, 2), orderedUnder({}, 2)]);
		const orders = charged();
		expect(orders).toBeGreaterThan(0);
		expect(await orderedUnder({ maxOrdersPerDay: orders }, 2)).toBe(orders);
	});

	it('counts more orders than n8n’s store keeps, also after a restart', async () => {
		processedItems.scale = 40;
		const limit = { maxOrdersPerDay: 190 };
		for (let orders = 60; orders <= 180; orders += 60)
			expect(await orderedUnder(limit, 60)).toBe(orders);
		expect(await new EngineProcess().run(async () => await orderedUnder(limit, 20))).toBe(190);
	});

	it('orders nothing while other workers overwrite its record again and again', async () => {
		const before = processedItems.snapshot;
		processedItems.intercept = () => processedItems.writeOver(before);
		const refused = await order({ maxOrdersPerDay: 4 }, 1, { inWorker: true });
		expect(refused.errorOf('Create')?.description).toContain(
			'n8n said: Other workers wrote at the same moment, again and again',
		);
		expect(charged()).toBe(0);
	});

	it('counts on after midnight when the clock was set back for a moment', async () => {
		const midnight = Date.UTC(2026, 0, 1, 5);
		const at = async (seconds: number) => {
			jest.setSystemTime(midnight + 1_000 * seconds);
			return await orderedUnder({ maxCostPerDay: 0.4 }, 2);
		};
		expect(await at(1)).toBe(2);
		expect(await at(-1)).toBe(4);
		expect(await at(3)).toBe(4);
	});
});
