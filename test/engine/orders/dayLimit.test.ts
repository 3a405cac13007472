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
import {
	chain,
	createReferenceVideo,
	credentialFor,
	type NodeSettings,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

/** A video costs 0.2. */
const prices = JSON.stringify({ 'beta-2.7-r2v': { per_video: 0.2 } });

const messageOf = (run: WorkflowRun) => run.errorOf('Create')?.message;

describe.each([
	['maxOrdersPerDay', 1, 'it would exceed the limit of 3 orders per day (3 used before this run).'],
	[
		'maxCostPerDay',
		5,
		'its estimated cost of 0.2 is more than what is left of the limit of 0.6 per day (0.6 used before this run).',
	],
] as Array<[string, number, string]>)('%s', (option, perUnit, reason) => {
	/** Creates videos under a limit that allows this number of them. */
	const create = (allowed = 3, parameters: IDataObject = {}, settings: NodeSettings = {}) => {
		const { options, ...more } = parameters;
		const limited = { duration: 2, [option]: allowed / perUnit, ...(options as IDataObject) };
		return chain(createReferenceVideo({ options: inGroups(limited), ...more }, settings));
	};
	const order = async (
		count = 1,
		{ workflow = create(), ...options }: RunOptions & { workflow?: ReturnType<typeof create> } = {},
	): Promise<WorkflowRun> =>
		await runWorkflow(workflow, {
			...{ credentials: credentialFor(gateway, { advanced: true, prices }), mode: 'trigger' },
			input: Array.from({ length: count }, (_, index) => ({
				json: { prompt: `Video ${index}`, media },
			})),
			...options,
		});
	/** Three executions in each of some workers, all at once. */
	const orderInWorkers = async (count: number) => {
		answerLater();
		const workers = Array.from({ length: count }, () => new EngineProcess());
		const runs = async () =>
			await Promise.all([1, 2, 3].map(async () => await order(1, { inWorker: true })));
		await Promise.all(workers.map(async (worker) => await worker.run(runs)));
	};
	const refuseNext = (times: number) =>
		gateway.fault({
			...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_prompt' },
			times,
		});

	it('tells in a preview what was used before the run, for each item that would exceed the limit', async () => {
		const workflow = create(3, { preview: true }, { onError: 'continueRegularOutput' });
		const hint = (await order(5, { workflow })).hintsOf('Create').join(' ');
		const opens = 'It opens again on 1 January 2026 at 00:00 (America/New_York)';
		const why = (item: number) =>
			`item ${item}: Not ordered: ${reason.replace(/\d(\.\d)? used/, '0 used')} ${opens}`;
		expect(hint).toContain(`Why: ${why(3)}; ${why(4)}. `);
	});

	it.each([2, 4])(
		'places no more orders than the limit in %d workers at once, and later all that are left of it',
		async (count) => {
			await orderInWorkers(count);
			expect(gateway.ledger.length).toBeLessThanOrEqual(3);
			for (let left = 3 - gateway.ledger.length; left > 0; left--) {
				expect((await order(1)).status).toBe('success');
			}
			expect(messageOf(await order(1))).toContain(reason);
			expect(gateway.ledger).toHaveLength(3);
		},
	);

	it('loses no place of the day to orders that were refused in two workers at once', async () => {
		const refusal = refuseNext(Infinity);
		await orderInWorkers(2);
		refusal.remove();
		expect((await order(3)).status).toBe('success');
		expect(messageOf(await order(1))).toContain(reason);
	});

	it('counts orders that were under way when n8n was killed', async () => {
		const n8n = new EngineProcess();
		gateway.on('request', () => n8n.kill());
		const stored = await storedBy(n8n, async (onStart) => await order(3, { onStart }));
		expect(n8n.isKilled).toBe(true);
		const before = gateway.ledger.length;
		expect(messageOf(await order(1))).toContain(reason);
		await retryExecution(recoverExecution(stored, { ended: ['Start'], begun: 'Create' }));
		expect(gateway.ledger.length).toBeLessThanOrEqual(Math.max(before, 3));
	});

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

	describe('that is changed during the day', () => {
		/** Orders a list under this limit. @returns how many orders there are then in all */
		const orderedUnder = async (allowed: number, count: number) => {
			await order(count, { workflow: create(allowed, {}, { onError: 'continueRegularOutput' }) });
			return gateway.ledger.length;
		};

		it('places no more when it is lowered to what was ordered, and again when it is raised', async () => {
			expect(await orderedUnder(20, 10)).toBe(10);
			expect(await orderedUnder(10, 3)).toBe(10);
			expect(await orderedUnder(4, 3)).toBe(10);
			expect(await orderedUnder(12, 3)).toBe(12);
		});
	});
});

it('applies Max Cost per Day together with Max Orders per Day, which counts only placed orders', async () => {
	const order = async (limits: IDataObject, count: number) => {
		const node = createReferenceVideo(
			{ options: { duration: 2, limits } },
			{ onError: 'continueRegularOutput' },
		);
		await runWorkflow(chain(node), {
			...{ credentials: credentialFor(gateway, { advanced: true, prices }), mode: 'trigger' },
			input: Array.from({ length: count }, () => ({ json: { media } })),
		});
		return gateway.ledger.length;
	};
	expect(await order({ maxCostPerDay: 0.5, maxOrdersPerDay: 3 }, 4)).toBe(2);
	// Max Orders per Day does not count what Max Cost per Day refused.
	expect(await order({ maxOrdersPerDay: 3 }, 2)).toBe(3);
});
