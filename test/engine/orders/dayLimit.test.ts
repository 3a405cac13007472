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
import { storedBy } from '../../support/workflows/interruptions';
import { chain, createReferenceVideo, credentialFor } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const create = (options: IDataObject = {}, parameters: IDataObject = {}) =>
	chain(
		createReferenceVideo({
			...{ options: { duration: 2, maxOrdersPerDay: 3, ...options }, ...parameters },
		}),
	);

const order = async (
	count = 1,
	{ workflow = create(), ...options }: RunOptions & { workflow?: ReturnType<typeof create> } = {},
): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		...{ credentials: credentialFor(gateway), mode: 'trigger' },
		input: Array.from({ length: count }, (_, index) => ({
			json: { prompt: `Video ${index}`, media },
		})),
		...options,
	});

const refuseNext = (times: number) =>
	gateway.fault({
		...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_prompt' },
		times,
	});

const messageOf = (run: WorkflowRun) => run.errorOf('Create')?.message;

describe('Max Orders per Day', () => {
	it('counts the orders of all executions, and allows orders again on the next day', async () => {
		expect((await order(2)).status).toBe('success');
		expect((await order(1)).status).toBe('success');
		const refused = await order(1);
		expect(messageOf(refused)).toBe(
			'Not ordered: it would exceed the limit of 3 orders per day. It opens again on 1 January 2026 at 00:00 (America/New_York).',
		);
		expect(refused.errorOf('Create')?.description).toMatch(/raise Max Orders per Day/);
		expect(gateway.ledger).toHaveLength(3);
		jest.setSystemTime(Date.UTC(2026, 0, 1, 5));
		expect((await order(3)).status).toBe('success');
		expect(gateway.ledger).toHaveLength(6);
	});

	it('places no order of a list that exceeds the limit, unless the node continues on error', async () => {
		const refused = await order(4);
		expect(messageOf(refused)).toMatch(/the limit of 3 orders per day/);
		expect(gateway.requests).toEqual([]);
		const workflow = chain(
			createReferenceVideo(
				{ options: { duration: 2, maxOrdersPerDay: 3 } },
				{ onError: 'continueRegularOutput' },
			),
		);
		const outputs = (await order(4, { workflow })).items('Create');
		expect(outputs.map(({ json }) => json.error !== undefined)).toEqual([
			false,
			false,
			false,
			true,
		]);
		expect(gateway.ledger).toHaveLength(3);
	});

	it('counts an order once when a Retry reuses it, and no order that the service refused', async () => {
		refuseNext(1);
		expect((await order(1)).status).toBe('error');
		refuseNext(1);
		const failed = await order(3, { workflow: create({ parallelRequests: 1 }) });
		expect(failed.status).toBe('error');
		expect((await retryExecution(failed)).status).toBe('success');
		expect(gateway.ledger).toHaveLength(3);
		expect(messageOf(await order(1))).toMatch(/it would exceed the limit/);
	});

	it.each([2, 40])(
		'places no more orders than the limit in %d executions at once',
		async (count) => {
			const workflow = create({ maxOrdersPerDay: 1 });
			const runs = await Promise.all(
				Array.from({ length: count }, async () => await order(1, { workflow })),
			);
			expect(gateway.ledger).toHaveLength(1);
			expect(runs.filter(({ status }) => status === 'success')).toHaveLength(1);
		},
	);

	it.each([2, 4])(
		'places no more orders than the limit in %d workers at once, and later all that are left of it',
		async (count) => {
			answerLater();
			const workers = Array.from({ length: count }, () => new EngineProcess());
			const runs = async () =>
				await Promise.all([1, 2, 3].map(async () => await order(1, { inWorker: true })));
			await Promise.all(workers.map(async (worker) => await worker.run(runs)));
			expect(gateway.ledger.length).toBeLessThanOrEqual(3);
			for (let left = 3 - gateway.ledger.length; left > 0; left--) {
				expect((await order(1)).status).toBe('success');
			}
			expect(messageOf(await order(1))).toMatch(/it would exceed the limit/);
			expect(gateway.ledger).toHaveLength(3);
		},
	);

	it('orders again two minutes after a worker was killed that held the lock of the day', async () => {
		const killed = new EngineProcess();
		let calls = 0;
		processedItems.intercept = () => void (++calls === 3 && killed.kill());
		await killed.run(async () => await order(1, { inWorker: true }));
		processedItems.intercept = () => {};
		const begun = Date.now();
		const next = new EngineProcess();
		const run = await next.run(async () => await order(1, { inWorker: true }));
		expect(run).toMatchObject({ status: 'success' });
		expect(Date.now() - begun).toBeGreaterThan(10_000);
		expect(Date.now() - begun).toBeLessThanOrEqual(121_000);
	});

	it('loses no place of the day to orders that were refused in two workers at once', async () => {
		const refusal = refuseNext(Infinity);
		answerLater();
		const workers = [1, 2].map(() => new EngineProcess());
		const runs = async () =>
			await Promise.all([1, 2, 3].map(async () => await order(1, { inWorker: true })));
		await Promise.all(workers.map(async (worker) => await worker.run(runs)));
		refusal.remove();
		expect((await order(3)).status).toBe('success');
		expect(messageOf(await order(1))).toMatch(/it would exceed the limit/);
	});

	it('takes another place of the day when another worker has overwritten its own', async () => {
		await order(1);
		let hasWritten = false;
		processedItems.intercept = (call) => {
			if (call !== 'record' || hasWritten || processedItems.calls.length < 6) return;
			hasWritten = true;
			processedItems.writeOver();
		};
		await order(1);
		expect(hasWritten).toBe(true);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('finds a free place of the day in a few calls after a restart, however many are taken', async () => {
		const workflow = create({ maxOrdersPerDay: 2_000 });
		await order(40, { workflow });
		const { length } = processedItems.calls;
		await new EngineProcess().run(async () => await order(1, { workflow }));
		expect(gateway.ledger).toHaveLength(41);
		expect(processedItems.calls.length - length).toBeLessThan(40);
	});

	it('counts orders that were under way when n8n was killed', async () => {
		const n8n = new EngineProcess();
		gateway.on('request', () => n8n.kill());
		const stored = await storedBy(n8n, async (onStart) => await order(3, { onStart }));
		expect(n8n.isKilled).toBe(true);
		const before = gateway.ledger.length;
		expect(messageOf(await order(1))).toMatch(/it would exceed the limit/);
		await retryExecution(recoverExecution(stored, { ended: ['Start'], begun: 'Create' }));
		expect(gateway.ledger.length).toBeLessThanOrEqual(Math.max(before, 3));
	});

	it("places no order when the day's orders cannot be looked up", async () => {
		processedItems.intercept = () => {
			throw new Error('The database is locked');
		};
		const refused = await order(1);
		expect(messageOf(refused)).toMatch(/The orders of the day could not be looked up/);
		expect(refused.errorOf('Create')?.description).toMatch(/The database is locked/);
		expect(gateway.requests).toEqual([]);
	});

	it('shows in a preview what the limit would refuse, without using it up', async () => {
		for (let times = 0; times < 2; times++) {
			const shown = await order(4, { workflow: create({}, { preview: true }) });
			expect(shown.items('Create').map(({ json }) => json.would)).toEqual([
				...['order', 'order', 'order', 'fail'],
			]);
		}
		expect((await order(3)).status).toBe('success');
		expect(gateway.ledger).toHaveLength(3);
	});

	describe('that is changed during the day', () => {
		const limitedTo = (maxOrdersPerDay: number) => {
			const options = { duration: 2, maxOrdersPerDay };
			return chain(createReferenceVideo({ options }, { onError: 'continueRegularOutput' }));
		};
		/** Orders a list under this limit. @returns how many orders there are then in all */
		const orderedUnder = async (maxOrdersPerDay: number, count: number) => {
			await order(count, { workflow: limitedTo(maxOrdersPerDay) });
			return gateway.ledger.length;
		};

		it('places no more when it is lowered to what was ordered, and again when it is raised', async () => {
			expect(await orderedUnder(20, 10)).toBe(10);
			expect(await orderedUnder(10, 3)).toBe(10);
			expect(await orderedUnder(4, 3)).toBe(10);
			expect(await orderedUnder(12, 3)).toBe(12);
		});

		it('does not count a preview when it is lowered to what was ordered', async () => {
			await order(10, { workflow: create({ maxOrdersPerDay: 20 }, { preview: true }) });
			expect(await orderedUnder(20, 10)).toBe(10);
			expect(await orderedUnder(10, 3)).toBe(10);
		});

		it('does not count refused orders when it is lowered to what was ordered', async () => {
			refuseNext(5);
			expect(await orderedUnder(20, 5)).toBe(0);
			expect(await orderedUnder(20, 5)).toBe(5);
			expect(await orderedUnder(5, 3)).toBe(5);
			expect(await orderedUnder(6, 3)).toBe(6);
		});
	});

	it('loses no place of the day and no Order Key to a preview that was killed at any moment', async () => {
		const keyed = (preview: boolean) =>
			create({ maxOrdersPerDay: 4, orderKey: '={{ $json.prompt }}' }, { preview });
		for (let call = 1, isKilled = true; isKilled; call++) {
			processedItems.clear();
			const before = gateway.ledger.length;
			await new EngineProcess().run(async () => await order(1, { workflow: keyed(false) }));
			const n8n = new EngineProcess();
			let calls = 0;
			processedItems.intercept = () => void (++calls === call && n8n.kill());
			await n8n.run(async () => await order(4, { workflow: keyed(true) }));
			({ isKilled } = n8n);
			processedItems.intercept = () => {};
			await new EngineProcess().run(async () => await order(4, { workflow: keyed(false) }));
			expect({ call, orders: gateway.ledger.length - before }).toEqual({ call, orders: 4 });
		}
	});

	it("adds the same number of values to n8n's store however much a day has ordered", async () => {
		const workflow = create({ maxOrdersPerDay: 2000 });
		await order(1, { workflow });
		const ofDay = processedItems.size - 4;
		await order(9, { workflow });
		expect(processedItems.size - ofDay).toBe(4 + 9 * 2 + 2);
	});

	it.each([0, 1, 2000])('accepts a limit of %d', async (maxOrdersPerDay) => {
		await order(1, { workflow: create({ maxOrdersPerDay }) });
		expect(gateway.ledger).toHaveLength(maxOrdersPerDay === 0 ? 0 : 1);
	});

	it.each(['', '={{ undefined }}', "={{ 'many' }}", '={{ -1 }}', '={{ 1.5 }}', '={{ 100001 }}'])(
		'refuses the limit %j, which is not a number of orders',
		async (maxOrdersPerDay) => {
			const refused = await order(1, { workflow: create({ maxOrdersPerDay, skipChecks: true }) });
			expect(messageOf(refused)).toMatch(
				/Max Orders per Day must be a whole number from 0 to 100000/,
			);
			expect(gateway.requests).toEqual([]);
		},
	);
});
