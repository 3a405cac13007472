import type { IDataObject, INode } from 'n8n-workflow';
import {
	EngineProcess,
	processedItems,
	resumeExecution,
	retryExecution,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { currentProcess } from '../../harness/process';
import { onStoreCalls } from '../../support/store/storeCalls';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { stoppedBy, storedBy } from '../../support/workflows/interruptions';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { orderWorkflow, createsOf } from '../../support/workflows/videoOrders';
import { withGateway } from '../../support/http/withGateway';

const lost = { route: 'referenceVideoCreate', action: 'stall', accepted: true } as const;

const { gateway, media, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: 60,
	render: async () => new Uint8Array(0),
});

/** Runs the workflow as n8n runs an active one, with an item for each prompt. */
const run = async (workflow: WorkflowJson, prompts = ['Waves'], options: RunOptions = {}) =>
	await runWorkflow(workflow, {
		mode: 'trigger',
		input: prompts.map((prompt) => ({ json: { prompt, media } })),
		...options,
	});

const creates = () => createsOf(gateway);

/** An execution in n8n's database when n8n is killed while its order is under way. */
async function killed(workflow: WorkflowJson): Promise<StoredExecution> {
	const n8n = new EngineProcess();
	gateway.fault({ ...lost, when: () => (n8n.kill(), true) });
	return await storedBy(n8n, async (onStart) => await run(workflow, undefined, { onStart }));
}

describe('an order under way when n8n was killed or stopped', () => {
	it.each(['n8n 2', 'n8n 1'])(
		'places one order when %s resumes the same execution twice, as after two clicks',
		async (version) => {
			const { id } = earlierJob(gateway, 'task', new Uint8Array(0));
			const wait = waitForVideo({ download: false, options: { includeInputFields: true } });
			const waiting = await runWorkflow(chain(wait, createReferenceVideo()), {
				mode: 'trigger',
				input: [{ json: { task_id: id, prompt: 'Waves', media } }],
			});
			// n8n 1 has no token that an execution shares with its Retries.
			if (version === 'n8n 1') delete waiting.data.resumeToken;
			jest.setSystemTime(waiting.waitTill as Date);
			const both = [await resumeExecution(waiting), await resumeExecution(waiting)];
			// The second execution reuses the job of the first.
			const jobs = both.map((run) => run.items('Create')[0].json.output);
			expect(jobs).toMatchObject([{ task_id: gateway.ledger[0].job }, jobs[0]]);
			expect(creates()).toHaveLength(1);
		},
	);

	it('names each item whose outcome is unknown after Stop', async () => {
		let stop = () => {};
		let arrived = 0;
		const when = () => {
			if (++arrived === 3) stop();
			return true;
		};
		gateway.fault({ ...lost, times: Infinity, when });
		const onStart = (cancel: () => void) => void (stop = cancel);
		const stopped = await run(orderWorkflow(), ['Waves', 'Clouds', 'Rain'], { onStart });
		expect(stopped.errorOf('Create')?.message).toBe('Item 0: The execution was canceled');
		expect(stopped.errorOf('Create')?.description).toContain('The same applies to items 1, 2.');
	});
});

describe('the record of orders', () => {
	it.each([
		['after a release', true],
		['and is refused', false],
	])('keeps an Order Key used when its order is sent again %s', async (_, isReleased) => {
		const keyed = (options: IDataObject = {}) => orderWorkflow({ orderKey: 'row 1', ...options });
		const route = 'referenceVideoCreate';
		gateway.fault({ route, action: 'reset', accepted: true });
		const failed = await run(keyed());
		if (isReleased) await run(keyed({ releaseOrderKey: true }));
		else gateway.fault({ route, action: 'error', status: 400, code: 'invalid_prompt' });
		await retryExecution(failed, { workflow: keyed({ ifAnswerLost: 'resend' }) });
		expect(creates()).toHaveLength(2);
		expect((await run(keyed())).items('Create')[0].json).toMatchObject({ ordered: false });
		expect(creates()).toHaveLength(2);
	});

	it('records no image without an Order Key', async () => {
		const generate = { resource: 'image', operation: 'generate', prompt: 'A boat' };
		await run(chain(modelGateway({ ...generate, model: byId('image-1') })));
		expect(processedItems.calls).toEqual([]);
	});
});

describe('failures of n8n’s database for one of two workers', () => {
	const inWorker = true;
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
	const runIn = async (worker: EngineProcess, options: IDataObject, prompts?: string[]) =>
		(await worker.run(
			async () => await run(orderWorkflow(options), prompts, { inWorker }),
		)) as WorkflowRun;

	it.each([2, 3])(
		'places no order again that the other one has placed since: call %d and all later ones fail',
		async (call) => {
			const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;
			gateway.fault({ ...refusal, route: 'referenceVideoCreate' });
			const refused = await runIn(one, {});
			const recover = failFrom(call);
			await one.run(async () => await retryExecution(refused));
			gateway.once('job', () => other.kill());
			const killed = await storedBy(
				other,
				async (onStart) => await retryExecution(refused, { onStart }),
			);
			expect(gateway.ledger).toHaveLength(1);
			recover();
			await runIn(one, {}, ['Clouds']);
			const again = (await one.run(async () => await retryExecution(killed))) as WorkflowRun;
			expect(again.errorOf('Create')?.message).toContain('This order was sent before');
			expect(gateway.ledger).toHaveLength(2);
		},
	);

	it('releases no Order Key that the other one has released and used since', async () => {
		const keyed = { orderKey: 'row 1' };
		await runIn(one, keyed);
		const recover = failFrom(1);
		const release = { ...keyed, releaseOrderKey: true };
		expect((await runIn(one, release)).status).toBe('error');
		await runIn(other, release);
		await runIn(other, keyed);
		expect(gateway.ledger).toHaveLength(2);
		recover();
		expect((await runIn(one, keyed)).items('Create')[0].json).toMatchObject({ ordered: false });
		expect(gateway.ledger).toHaveLength(2);
	});
});

describe('failures of n8n’s database', () => {
	const failAt = (call: number) => {
		let calls = 0;
		processedItems.intercept = () => {
			if (++calls === call) throw new Error('SQLITE_BUSY: database is locked');
		};
	};

	it.each([1, 2])('places no order on Retry when call %d to the database fails', async (call) => {
		const execution = await killed(orderWorkflow());
		failAt(call);
		const retried = await retryExecution(execution);
		expect(retried.status).toBe('error');
		expect(creates()).toHaveLength(1);
	});

	const guarded = orderWorkflow({ orderKey: '={{ $json.prompt }}', maxOrdersPerDay: 1 });
	const order = async () => (await run(guarded)).status;
	/** Repeats a test for each call to the database in turn. @param test returns how many there were in its first run */
	const forEachCall = async (test: (call: number) => Promise<number>) => {
		for (let call = 1, hasFailed = true; hasFailed; call++) {
			processedItems.clear();
			const { length } = gateway.ledger;
			const calls = await new EngineProcess().run(async () => await test(call));
			hasFailed = Number(calls) >= call;
			expect({ call, orders: gateway.ledger.length - length }).toEqual({ call, orders: 1 });
		}
	};

	it.each(['before', 'after'] as const)(
		'places an order once, whichever call to the database failed in its run: %s it took effect',
		async (moment) => {
			await forEachCall(async (call) => {
				let calls = 0;
				const end = onStoreCalls(moment, () => {
					if (++calls === call) throw new Error('SQLITE_BUSY: database is locked');
				});
				await order();
				end();
				for (let run = 0; run < 2; run++) expect(await order()).toBe('success');
				return calls;
			});
		},
	);
});

describe('the Order Key', () => {
	const keyed = (options: IDataObject = {}) =>
		orderWorkflow({ orderKey: '={{ $json.prompt }}', ...options });

	it('does not release an Order Key in a run that could not write to the store', async () => {
		await run(keyed());
		processedItems.intercept = (call) => {
			if (call === 'record') throw new Error('SQLITE_BUSY');
		};
		await run(keyed());
		processedItems.intercept = () => {};
		await run(keyed());
		expect(gateway.ledger).toHaveLength(1);
	});

	it('accepts an Order Key that is a number or a million characters long', async () => {
		await run(orderWorkflow({ orderKey: '={{ 7 }}' }));
		await run(orderWorkflow({ orderKey: '7' }));
		expect(gateway.ledger).toHaveLength(1);

		const long = orderWorkflow({ orderKey: 'k'.repeat(1_000_000), ifOrderedBefore: 'fail' });
		await run(long);
		const second = await run(long);
		expect(second.errorOf('Create')?.message.length).toBeLessThan(200);
		expect(gateway.ledger).toHaveLength(2);
	});
});

describe('Max Orders', () => {
	const limitedTo = (maxOrders: number) =>
		orderWorkflow({ maxOrders }, { onError: 'continueRegularOutput' });

	it('counts the orders before a Stop, although n8n stored no count of them', async () => {
		const { stored } = await stoppedBy(
			(stop) => gateway.once('request', stop),
			async (onStart) => await run(limitedTo(1), ['Waves', 'Fog'], { onStart }),
		);
		const retried = await retryExecution(stored);
		expect(gateway.ledger).toHaveLength(1);
		expect(retried.items('Create')).toMatchObject([
			{ json: { output: { task_id: gateway.ledger[0].job } } },
			{ json: { error: expect.stringContaining('the limit of 1 order per execution') } },
		]);
	});
});

describe('If No Response Arrives = Send Again', () => {
	const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
	const prices = '{"beta-2.7-r2v":{"per_video":1}}';

	/** Orders one video, and every response is lost after its order was accepted. */
	const orderAndLose = async (options: IDataObject, settings: Partial<INode> = {}) => {
		gateway.fault({
			route: 'referenceVideoCreate',
			action: 'reset',
			accepted: true,
			times: Infinity,
		});
		const workflow = orderWorkflow({ ifAnswerLost: 'resend', ...options }, settings);
		const credentials = credentialFor(gateway, { advanced: true, prices });
		return await run(workflow, undefined, { credentials });
	};

	it.each([
		['maxOrders', 'It would exceed the limit of 1 order per execution.'],
		[
			'maxOrdersPerDay',
			'It would exceed the limit of 1 order per day (1 used before this run). It opens again at midnight',
		],
		[
			'maxCost',
			'Its estimated cost of 1 is more than what is left of the limit of 1 per execution.',
		],
		[
			'maxCostPerDay',
			'Its estimated cost of 1 is more than what is left of the limit of 1 per day (1 used before this run).',
		],
	])(
		'sends an order as often as the limit allows in all tries of Retry On Fail, and says so: %s',
		async (limit, reason) => {
			const error = (await orderAndLose({ [limit]: 1 }, retryOnFail)).errorOf('Create');
			expect(error?.message).toContain('the connection was lost before the response arrived');
			expect(error?.description).toContain(`It was not sent again. ${reason}`);
			expect(creates()).toHaveLength(1);
			processedItems.clear();
			await orderAndLose({ [limit]: 3 }, retryOnFail);
			expect(creates()).toHaveLength(1 + 3);
		},
	);
});
