import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../gateway';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowRun,
} from '../harness';
import { storedBy } from '../support/interruptions';
import { chain, createReferenceVideo, credentialFor } from '../support/workflows';
import { withGateway } from '../support/withGateway';

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

	it('places no more orders than the limit in several workers at once', async () => {
		const workers = [1, 2, 3, 4].map(() => new EngineProcess());
		const runs = async () => await Promise.all([1, 2, 3].map(async () => await order(1)));
		await Promise.all(workers.map(async (worker) => await worker.run(runs)));
		expect(gateway.ledger.length).toBeLessThanOrEqual(3);
		expect(gateway.ledger.length).toBeGreaterThan(0);
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

	it("adds the same number of values to n8n's store however much a day has ordered", async () => {
		const workflow = create({ maxOrdersPerDay: 2000 });
		await order(1, { workflow });
		const ofDay = processedItems.size - 3;
		await order(9, { workflow });
		expect(processedItems.size - ofDay).toBe(3 + 9 * 2 + 1);
	});

	it.each([0, 1, 2000])('accepts a limit of %d', async (maxOrdersPerDay) => {
		await order(1, { workflow: create({ maxOrdersPerDay }) });
		expect(gateway.ledger).toHaveLength(maxOrdersPerDay === 0 ? 0 : 1);
	});

	it.each(['', '={{ undefined }}', "={{ 'many' }}", '={{ -1 }}', '={{ 1.5 }}', '={{ 2001 }}'])(
		'refuses the limit %j, which is not a number of orders',
		async (maxOrdersPerDay) => {
			const refused = await order(1, { workflow: create({ maxOrdersPerDay, skipChecks: true }) });
			expect(messageOf(refused)).toMatch(
				/Max Orders per Day must be a whole number from 0 to 2000/,
			);
			expect(gateway.requests).toEqual([]);
		},
	);
});
