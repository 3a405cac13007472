import type { IDataObject } from 'n8n-workflow';
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
import {
	chain,
	createReferenceVideo,
	credentialFor,
	type NodeSettings,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const { gateway, media, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: Infinity,
	render: async () => new Uint8Array(0),
});

const prices = JSON.stringify({ 'beta-2.7-r2v': { per_video: 0.2 } });

const messageOf = (run: WorkflowRun) => run.errorOf('Create')?.message;

const ofClient = { countFor: 'acme', inEach: 'month' };

describe.each([
	[
		'maxOrdersPerDay',
		'in all',
		{},
		1,
		'it would exceed the limit of 4 orders per day (4 used before this run).',
	],
	[
		'maxCostPerDay',
		'in all',
		{},
		5,
		'its estimated cost of 0.2 is more than what is left of the limit of 0.8 per day (0.8 used before this run).',
	],
	[
		'maxOrders',
		'for a client in a month',
		ofClient,
		1,
		'it would exceed the limit of 4 orders per month for “acme” (4 used before this run).',
	],
	[
		'maxCost',
		'for a client in a month',
		ofClient,
		5,
		'its estimated cost of 0.2 is more than what is left of the limit of 0.8 per month for “acme” (0.8 used before this run).',
	],
] as Array<[string, string, IDataObject, number, string]>)(
	'%s %s',
	(option, _, more, perUnit, reason) => {
		/** Creates videos under a limit that allows this number of them. */
		const create = (allowed = 4, parameters: IDataObject = {}, settings: NodeSettings = {}) => {
			const { options, ...others } = parameters;
			const limited = { duration: 2, [option]: allowed / perUnit, ...more };
			const all = inGroups({ ...limited, ...(options as IDataObject) });
			return chain(createReferenceVideo({ options: all, ...others }, settings));
		};
		const order = async (
			count = 1,
			{
				workflow = create(),
				...options
			}: RunOptions & { workflow?: ReturnType<typeof create> } = {},
		): Promise<WorkflowRun> =>
			await runWorkflow(workflow, {
				credentials: credentialFor(gateway, { advanced: true, prices }),
				mode: 'trigger',
				input: Array.from({ length: count }, (_, index) => ({
					json: { prompt: `Video ${index}`, media },
				})),
				...options,
			});
		/** Three executions in each of some workers, all at once. */
		const orderInWorkers = async (count: number) => {
			// So workers at once meet in n8n's database.
			processedItems.intercept = async () => await setImmediate();
			const workers = Array.from({ length: count }, () => new EngineProcess());
			const runs = async () =>
				await Promise.all([1, 2, 3].map(async () => await order(1, { inWorker: true })));
			await Promise.all(workers.map(async (worker) => await worker.run(runs)));
		};

		it.each([2, 4])(
			'places no more orders than the limit in %d workers at once, and later all that are left of it',
			async (count) => {
				await orderInWorkers(count);
				expect(gateway.ledger.length).toBeLessThanOrEqual(4);
				for (let left = 4 - gateway.ledger.length; left > 0; left--) {
					expect((await order(1)).status).toBe('success');
				}
				expect(messageOf(await order(1))).toContain(reason.slice(0, reason.indexOf('(')));
				expect(gateway.ledger).toHaveLength(4);
			},
		);

		it('counts orders that were under way when n8n was killed', async () => {
			const n8n = new EngineProcess();
			gateway.on('request', ({ method }) => void (method === 'POST' && n8n.kill()));
			const stored = await storedBy(n8n, async (onStart) => await order(4, { onStart }));
			expect(n8n.isKilled).toBe(true);
			const before = gateway.ledger.length;
			expect(messageOf(await order(1))).toContain(reason);
			await retryExecution(recoverExecution(stored, { ended: ['Start'], begun: 'Create' }));
			expect(gateway.ledger.length).toBeLessThanOrEqual(Math.max(before, 4));
		});
	},
);

describe('a limit that is set or changed during the day', () => {
	/** Orders a list under these limits. @returns how many orders there are then in all */
	const orderedUnder = async (limits: IDataObject, count: number) => {
		const options = inGroups({ duration: 2, ...limits });
		const node = createReferenceVideo({ options }, { onError: 'continueRegularOutput' });
		await runWorkflow(chain(node), {
			credentials: credentialFor(gateway, { advanced: true, prices }),
			mode: 'trigger',
			input: Array.from({ length: count }, () => ({ json: { media } })),
		});
		return gateway.ledger.length;
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
		const orders = gateway.ledger.length;
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
		const run = await runWorkflow(
			chain(createReferenceVideo({ options: inGroups({ maxOrdersPerDay: 4 }) })),
			{ mode: 'trigger', inWorker: true, input: [{ json: { media } }] },
		);
		expect(run.errorOf('Create')?.description).toContain(
			'n8n said: Other workers wrote at the same moment, again and again',
		);
		expect(gateway.ledger).toEqual([]);
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
