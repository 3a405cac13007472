import { events } from '../../../nodes/shared/n8n/log/nodeLog';
import { processedItems, retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { setProcess } from '../../support/time/processAge';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { eventsOf, logLines } from '../../support/workflows/log';
import { create, run as order, withOrders, world, type Fields } from '../../support/orders';
import { resume, startWaits } from '../../support/workflows/parkedWaits';
import { chain, credentialFor, waitForVideo, type Node } from '../../support/workflows/workflows';

// The lines that n8n's own logger writes into its file, event by event.

const file = mp4Of(1_000);

/** In every order. A failure may quote it. */
const prompt = 'A secret otter';
const quotesPrompt = `The words “${prompt}” are not allowed`;
const prices = { 'beta-2.7-r2v': { per_second: 0.1 }, 'image-1': { per_image: 0.04 } };
const continues = { onError: 'continueRegularOutput' } as const;
withOrders({ jobSeconds: Infinity });

/** A video of two seconds costs 0.2. */
const video = (options: Fields = {}) => create('a reference video', { options });

async function run(
	node: Node,
	{ count = 1, ...options }: RunOptions & { count?: number } = {},
): Promise<WorkflowRun> {
	const workflow = { ...chain(node), id: 'w1', name: 'Product videos, 100 %' };
	const prompts = Array.from({ length: count }, (_, item) => `${prompt} ${item}`);
	return await order(workflow, prompts, {
		credentials: priced(prices),
		...options,
	});
}
const priced = (list: Fields) =>
	credentialFor(world.gateway, { advanced: true, prices: JSON.stringify(list) });

/** The level, the event and the facts that tell the lines of a run apart. */
async function linesOf(result: WorkflowRun, ...names: string[]): Promise<unknown[][]> {
	return (await eventsOf(result)).map(({ level, metadata }) => [
		level,
		metadata.event,
		...names.map((name) => metadata[name]),
	]);
}

describe('the log of orders', () => {
	it('says which execution, node and item created which job', async () => {
		const result = await run(video());
		const [{ job }] = world.gateway.ledger;
		const { executionId } = result;
		const facts = {
			executionId,
			workflowId: 'w1',
			workflowName: 'Product videos, 100 %',
			node: 'Create',
			item: 0,
			model: 'beta-2.7-r2v',
		};
		const lines = await eventsOf(result);
		expect(lines.map(({ level, metadata }) => ({ level, metadata }))).toEqual([
			{ level: 'info', metadata: { event: 'order sent', ...facts, estimatedCost: 0.2 } },
			{
				level: 'info',
				metadata: { event: 'order created', ...facts, jobId: job, estimatedCost: 0.2 },
			},
		]);
		expect(lines[1].message).toMatch(/^Model Gateway: order created executionId=.* jobId=/);
	});

	it('says that images arrived, and which were lost afterwards', async () => {
		world.gateway.fault({ route: 'download', action: 'error', status: 410, code: 'gone' });
		expect(
			await linesOf(await run(create('an image')), 'model', 'estimatedCost', 'httpStatus'),
		).toEqual([
			['info', 'order sent', 'image-1', 0.04, undefined],
			['info', 'order completed', 'image-1', 0.04, undefined],
			['warn', 'download failed', 'image-1', 0.04, 410],
		]);
	});

	it('gives the codes of a failure, and no text of it', async () => {
		const refusal = { status: 400, code: 'invalid_prompt', message: quotesPrompt };
		world.gateway.fault({ route: 'referenceVideoCreate', action: 'error', ...refusal });
		const result = await run(video());
		expect(result.errorOf('Create')?.message).toContain(prompt);
		expect(await linesOf(result, 'httpStatus', 'code', 'reach')).toEqual([
			['info', 'order sent', undefined, undefined, undefined],
			['warn', 'order failed', 400, 'invalid_prompt', 'answered'],
		]);
		expect((await eventsOf(result))[1].metadata.requestId).toMatch(/^req_/);
	});

	it('names each model that an order was sent to, with its own price', async () => {
		const refusal = { status: 429, code: 'rate_limit_exceeded', times: 8 };
		world.gateway.fault({ route: 'referenceVideoCreate', action: 'error', ...refusal });
		const result = await run(video({ ifModelRefuses: 'vid-9-r2v' }), {
			credentials: priced({ ...prices, 'vid-9-r2v': { per_video: 9 } }),
		});
		expect(await linesOf(result, 'model', 'estimatedCost', 'httpStatus')).toEqual([
			['info', 'order sent', 'beta-2.7-r2v', 0.2, undefined],
			['warn', 'model refused', 'beta-2.7-r2v', 0.2, 429],
			['info', 'order sent', 'vid-9-r2v', 9, undefined],
			['warn', 'order failed', 'vid-9-r2v', 9, 400],
		]);
	});

	it('warns of an order whose outcome is unknown, and of the Retry that does not order again', async () => {
		world.gateway.fault({ route: 'referenceVideoCreate', action: 'reset', accepted: true });
		const result = await run(video());
		expect(await linesOf(result, 'reach')).toEqual([
			['info', 'order sent', undefined],
			['warn', 'order outcome unknown', 'lost'],
		]);
		expect(await linesOf(await retryExecution(result), 'reason', 'items')).toEqual([
			['warn', 'order refused', 'lost', 1],
		]);
	});

	it('writes one line for all items that a limit refuses', async () => {
		const result = await run(video({ limits: { maxOrders: 5 } }), { count: 300 });
		expect(await linesOf(result, 'item', 'items', 'reason', 'estimatedCost')).toEqual([
			['warn', 'order refused', 5, 295, 'limit', 59],
		]);
	});

	it('ends each order that was sent by one line when Stop is pressed', async () => {
		let stop = () => {};
		const refuse = { action: 'stall', times: Infinity, when: () => (stop(), true) } as const;
		world.gateway.fault({ route: 'referenceVideoCreate', ...refuse });
		const result = await run(video(), {
			count: 2,
			onStart: (cancel) => void (stop = cancel),
			// The second order has to wait for the first.
			credentials: credentialFor(world.gateway, { advanced: true, requestsInFlight: 1 }),
		});
		expect(await linesOf(result, 'item')).toEqual([
			['info', 'order sent', 0],
			['info', 'order sent', 1],
			['info', 'order withdrawn', 1],
			['warn', 'order outcome unknown', 0],
		]);
	});

	it("warns once of n8n's database when it stays broken, and sends nothing", async () => {
		processedItems.intercept = () => {
			throw new Error(`The database\nis locked: ${world.gateway.apiKey}`);
		};
		expect(await linesOf(await run(video()), 'problem')).toEqual([
			['warn', 'store failed', 'Error: The database is locked: ***'],
			['warn', 'order refused', undefined],
		]);
	});

	it('says nothing of a chat', async () => {
		expect(await eventsOf(await run(create('a chat')))).toEqual([]);
	});
});

describe('the log of waits', () => {
	const wait = (parameters: Fields = {}) => chain(waitForVideo(parameters, continues));
	// A caller waits for the response, so the node keeps running.
	const kept = { mode: 'integrated' } as const;

	it('follows a parked job without repeating what an earlier pass has logged', async () => {
		const [fast, slow, failing] = earlierTasks(world.gateway, 3);
		const jobs = [fast, slow, slow, failing];
		let result = await startWaits(world.gateway, wait({ whileWaiting: 'park' }), jobs);
		const parked = [fast, slow, slow, failing].map(({ id }) => [
			'info',
			'wait parked',
			id,
			undefined,
		]);
		expect(await linesOf(result, 'jobId', 'bytes')).toEqual(parked);
		world.gateway.jobs.complete(fast.id, file);
		world.gateway.jobs.fail(failing.id, { code: 'rejected', message: quotesPrompt });
		result = await resume(result);
		result = await resume(result);
		world.gateway.jobs.complete(slow.id, file);
		result = await resume(result);
		expect(result.status).toBe('success');
		const lines = (await linesOf(result, 'jobId', 'bytes')).slice(4);
		expect(lines.filter(([level]) => level !== 'debug')).toEqual(
			expect.arrayContaining([
				['info', 'video delivered', fast.id, file.length],
				['warn', 'job failed', failing.id, undefined],
				['info', 'video delivered', slow.id, file.length],
			]),
		);
		expect(lines.filter(([level]) => level !== 'debug')).toHaveLength(4);
		expect(lines).toContainEqual(['debug', 'job progress', fast.id, undefined]);
	});

	it('says once that a wait resumes after a restart of n8n', async () => {
		const [job] = earlierTasks(world.gateway, 1);
		const parked = await startWaits(world.gateway, wait({ whileWaiting: 'park' }), [job]);
		const restore = setProcess(1, 61_000);
		const result = await resume(await resume(parked));
		restore();
		expect((await linesOf(result, 'jobId')).filter(([level]) => level !== 'debug')).toEqual([
			['info', 'wait parked', job.id],
			['info', 'wait resumed', job.id],
		]);
	});

	it('warns of a wait that timed out, of a job that is not found, and of a file that is lost', async () => {
		const [running] = earlierTasks(world.gateway, 1);
		const done = earlierJob(world.gateway, 'task', file);
		world.gateway.fault({
			route: 'download',
			action: 'error',
			status: 403,
			code: 'no',
			times: Infinity,
		});
		const options = { timeoutMinutes: 2 };
		const jobs = [running, { id: 'task_unknown' }, done];
		const result = await startWaits(world.gateway, wait({ options }), jobs, kept);
		const warnings = (await linesOf(result, 'item', 'jobId', 'httpStatus')).filter(
			([level]) => level === 'warn',
		);
		expect(warnings).toHaveLength(3);
		expect(warnings).toEqual(
			expect.arrayContaining([
				['warn', 'wait timed out', 0, running.id, undefined],
				['warn', 'wait failed', 1, 'task_unknown', 404],
				['warn', 'download failed', 2, done.id, 403],
			]),
		);
	});

	it('names each job once when Stop is pressed', async () => {
		const [one, other] = earlierTasks(world.gateway, 2);
		const result = await startWaits(world.gateway, wait(), [one, other, one], {
			...kept,
			onStart: (cancel) => void setTimeout(cancel, 1_500),
		});
		const lines = await linesOf(result, 'jobId');
		expect(lines.filter(([level]) => level !== 'debug')).toEqual([
			['info', 'node stopped', one.id],
			['info', 'node stopped', other.id],
		]);
	});
});

describe('all lines', () => {
	const own = async () => (await logLines()).filter(({ metadata }) => 'event' in metadata);

	it('are about the events of the table, each at its level', async () => {
		const seen = (await own()).map(({ level, metadata }) => [metadata.event, level]);
		expect(Object.fromEntries(seen)).toEqual(events);
	});

	it('show neither a prompt nor the key', async () => {
		const text = JSON.stringify(await own());
		expect(text).not.toContain('secret otter');
		expect(text).not.toContain(world.gateway.apiKey);
	});
});
