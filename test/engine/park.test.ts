import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import {
	resumeExecution,
	retryExecution,
	runWorkflow,
	type RunOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../harness';
import { earlierTasks } from '../support/earlierJobs';
import { sampleVideo, sha256 } from './support/samples';
import { chain, credentialFor, waitForVideo } from './support/workflows';

describe('Wait for Video, parked', () => {
	let gateway: Gateway;
	let video: Uint8Array;
	let clock: jest.SpyInstance<number>;

	beforeAll(async () => void (video = await sampleVideo()));
	beforeEach(async () => {
		gateway = await startGateway({ jobSeconds: 0, render: async () => video });
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		await gateway.close();
	});

	const createJobs = (count: number) => earlierTasks(gateway, count);

	const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];
	const noOperation = 'n8n-nodes-base.noOp';

	/** The wiring of the guide: back through a node below the line. */
	const parked = (
		options: IDataObject = {},
		settings: Parameters<typeof waitForVideo>[1] = {},
	): WorkflowJson => {
		const parameters = { whileWaiting: 'park', ...settings.parameters };
		const { nodes } = chain(waitForVideo(options, { ...settings, parameters }), {
			...{ name: 'Done', type: noOperation },
		});
		const again = { name: 'Again', type: noOperation, position: [300, 200] as [number, number] };
		const connections = {
			Start: { main: [to('Wait')] },
			Wait: { main: [to('Again'), to('Done')] },
			Again: { main: [to('Wait')] },
		};
		return { nodes: [...nodes, again], connections };
	};

	const start = async (
		workflow: WorkflowJson,
		jobs: Array<{ id: string }>,
		options: Partial<RunOptions> = {},
	) =>
		await runWorkflow(workflow, {
			credentials: credentialFor(gateway),
			input: jobs.map(({ id }, index) => ({ json: { task_id: id, name: `Video ${index}` } })),
			...options,
		});

	/** What n8n does at the time that the execution waits for, after a trip through its database. */
	const resume = async (run: WorkflowRun, at = run.waitTill as Date) => {
		clock?.mockRestore();
		const { now } = Date;
		const ahead = Math.max(0, at.getTime() - now());
		clock = jest.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + ahead);
		return await resumeExecution(run);
	};

	/** Which n8n runs what follows: when its process began, and how old that is, in milliseconds. */
	const n8nBegan = (since: number, age: number) => {
		jest.spyOn(performance, 'timeOrigin', 'get').mockReturnValue(since);
		jest.spyOn(performance, 'now').mockReturnValue(age);
	};

	/** All that has left the node by its second output, over all its passes. */
	const doneIn = ({ data }: WorkflowRun) =>
		(data.resultData.runData.Done ?? []).flatMap((run) => run.data?.main[0] ?? []);

	const idsDone = (run: WorkflowRun) => doneIn(run).map(({ json }) => json.task_id);

	const pollsOf = (id: string) =>
		gateway.requests.filter(({ route, url }) => route !== 'download' && url.includes(id));

	it('lets each of three jobs leave once, when it ends, and keeps the rest over restarts', async () => {
		const [first, second, third] = createJobs(3);
		const fileName = '={{ $("Start").item.json.name }}';
		let run = await start(parked({ fileName }), [first, second, third]);
		expect(run.status).toBe('waiting');
		const wait = (run.waitTill as Date).getTime() - Date.now();
		expect(wait).toBeGreaterThan(8_000);
		expect(wait).toBeLessThanOrEqual(10_000);

		gateway.jobs.complete(second.id, video);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		expect(idsDone(run)).toEqual([second.id]);

		gateway.jobs.complete(third.id, video);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		expect(idsDone(run)).toEqual([second.id, third.id]);

		run = await resume(run);
		expect(idsDone(run)).toEqual([second.id, third.id]);
		gateway.jobs.complete(first.id, video);
		run = await resume(run);

		expect(run.status).toBe('success');
		expect(idsDone(run)).toEqual([second.id, third.id, first.id]);
		const names = doneIn(run).map(({ binary }) => binary?.data.fileName);
		expect(names).toEqual(['Video 1.mp4', 'Video 2.mp4', 'Video 0.mp4']);
		for (const item of doneIn(run)) {
			expect(sha256(await run.binary(item))).toBe(sha256(video));
		}
		expect([first, second, third].map(({ id }) => pollsOf(id).length)).toEqual([5, 2, 3]);
	});

	it('asks nothing before a poll is due, and passes on at once what has ended before the first pass', async () => {
		const [ended, running] = createJobs(2);
		gateway.jobs.complete(ended.id, video);
		let run = await start(parked(), [ended, running]);
		expect(idsDone(run)).toEqual([ended.id]);
		expect(run.status).toBe('waiting');

		const due = run.waitTill;
		run = await resume(run, new Date());
		expect(run.waitTill).toEqual(due);
		expect(pollsOf(running.id)).toHaveLength(1);
		expect(idsDone(run)).toEqual([ended.id]);
	});

	describe('after n8n has started anew', () => {
		/** Milliseconds that the pass took whose n8n began at that time. */
		const timeOfPass = async (since: number, ageOfN8n: number) => {
			const [job] = createJobs(1);
			n8nBegan(1, 100_000);
			const run = await start(parked(), [job]);
			gateway.jobs.complete(job.id, video);
			n8nBegan(since, ageOfN8n);
			const begun = process.hrtime.bigint();
			expect(idsDone(await resume(run))).toEqual([job.id]);
			return Number(process.hrtime.bigint() - begun) / 1e6;
		};

		it('waits until the start is over, to be stored after n8n looked for crashes', async () => {
			expect(await timeOfPass(2, 58_000)).toBeGreaterThanOrEqual(1_990);
		});

		it.each([
			['the start is over', 2, 61_000],
			['it is the n8n that parked it', 1, 30_000],
		])('takes no time when %s', async (_, since, ageOfN8n) => {
			expect(await timeOfPass(since, ageOfN8n)).toBeLessThan(1_500);
		});
	});

	it('asks once for a job that two items name, and gives both its file', async () => {
		const [job, other] = createJobs(2);
		let run = await start(parked({ fileName: '={{ $("Start").item.json.name }}' }), [
			...[job, other, job],
		]);
		expect(run.status).toBe('waiting');
		expect(pollsOf(job.id)).toHaveLength(1);

		// What one of the two learns is not lost to the other.
		gateway.fault({ route: 'task', action: 'reset', when: ({ url }) => url.includes(job.id) });
		run = await resume(run);
		expect(run.status).toBe('waiting');
		expect(pollsOf(job.id)).toHaveLength(2);

		gateway.jobs.complete(job.id, video);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		expect(pollsOf(job.id)).toHaveLength(3);
		expect(idsDone(run)).toEqual([job.id, job.id]);
		const names = doneIn(run).map(({ binary }) => binary?.data.fileName);
		expect(names).toEqual(['Video 0.mp4', 'Video 2.mp4']);

		gateway.jobs.complete(other.id, video);
		run = await resume(run);
		expect(run.status).toBe('success');
		expect(idsDone(run)).toEqual([job.id, job.id, other.id]);
		expect(pollsOf(job.id)).toHaveLength(3);
	});

	it('can be wired straight back to itself', async () => {
		const [job] = createJobs(1);
		const workflow = parked();
		workflow.connections = { ...workflow.connections, Wait: { main: [to('Wait'), to('Done')] } };
		const run = await start(workflow, [job]);
		gateway.jobs.complete(job.id, video);
		expect(idsDone(await resume(run))).toEqual([job.id]);
	});

	it('counts the timeout from the first pass, over restarts, and names all jobs', async () => {
		const [late, other] = createJobs(2);
		gateway.jobs.start(other.id);
		n8nBegan(1, 100_000);
		let run = await start(parked({ timeoutMinutes: 0.4, pollIntervalSeconds: 20 }), [late, other]);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		n8nBegan(2, 59_500);
		run = await resume(run);

		expect(run.errorOf('Wait')?.message).toBe(
			`Item 0: Video task ${late.id} did not finish within 0.4 minutes (last status submitted, 0 %)`,
		);
		expect(run.errorOf('Wait')?.description).toContain(`item 1: ${other.id}`);
		expect(pollsOf(late.id)).toHaveLength(3);
	});

	it('collects with the Retry button what a failed pass did not let go', async () => {
		const [failing, ended, running] = createJobs(3);
		let run = await start(parked(), [failing, ended, running]);
		gateway.jobs.complete(ended.id, video);
		run = await resume(run);
		expect(idsDone(run)).toEqual([ended.id]);
		gateway.jobs.fail(failing.id, 'no such style');
		run = await resume(run);
		expect(run.status).toBe('error');
		expect(run.errorOf('Wait')?.message).toContain(`${failing.id} failed: no such style`);
		expect(run.errorOf('Wait')?.description).toContain(`item 1: ${running.id}`);

		gateway.jobs.complete(running.id, video);
		const settings = { onError: 'continueRegularOutput' } as const;
		const retried = await retryExecution(run, { workflow: parked({}, settings) });
		expect(retried.status).toBe('success');
		expect(doneIn(retried).map(({ json }) => json.task_id ?? json.error)).toEqual([
			ended.id,
			expect.stringContaining('no such style'),
			running.id,
		]);
	});

	it('lets a failed job leave by the error output, and the others go on', async () => {
		const [failing, running] = createJobs(2);
		const workflow = parked({}, { onError: 'continueErrorOutput' });
		let run = await start(workflow, [failing, running]);
		gateway.jobs.fail(failing.id, 'no such style');
		run = await resume(run);
		expect(run.status).toBe('waiting');
		const passes = run.data.resultData.runData.Wait;
		const refused = passes.flatMap(({ data }) => data?.main[2] ?? []);
		expect(refused).toMatchObject([
			{ json: { error: `Video task ${failing.id} failed: no such style` } },
		]);
		gateway.jobs.complete(running.id, video);
		run = await resume(run);
		expect(run.status).toBe('success');
		expect(idsDone(run)).toEqual([running.id]);
	});

	it('remembers what it found out about an ID given by hand, and where the job stood', async () => {
		const [job] = createJobs(1);
		const workflow = parked({}, { parameters: { jobId: job.id } });
		gateway.fault({ route: 'task', action: 'reset', skip: 1 });
		let run = await start(workflow, [{ id: '' }]);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		gateway.jobs.complete(job.id, video);
		expect(idsDone(await resume(run))).toEqual([job.id]);
		expect(pollsOf(job.id).map(({ route }) => route)).toEqual(['task', 'task', 'task']);
	});

	describe.each([
		['leads nowhere', { Wait: { main: [[], to('Done')] } }],
		['leads on, and Completed leads back', { Wait: { main: [to('Done'), to('Again')] } }],
	])('when Still Running %s', (_, lines) => {
		it('refuses before it asks anything', async () => {
			const [job] = createJobs(1);
			const workflow = parked();
			workflow.connections = { ...workflow.connections, ...lines };
			const run = await start(workflow, [job]);
			expect(run.errorOf('Wait')?.message).toBe('Still Running does not lead back to this node');
			expect(run.errorOf('Wait')?.description).toContain('Lead Still Running back to the input');
			expect(gateway.requests).toHaveLength(0);
		});
	});

	it('holds as a tool', async () => {
		const [job] = createJobs(1);
		gateway.jobs.complete(job.id, video);
		const parameters = { whileWaiting: 'park', jobId: job.id };
		const workflow = {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{ name: 'Tool', type: 'n8n-nodes-model-gateway.modelGatewayWaitForVideoTool', parameters },
			],
		};
		// As newer agents do: the engine runs the tool like any node.
		const run = await runWorkflow(workflow, {
			credentials: credentialFor(gateway),
			startNode: 'Tool',
		});
		expect(run.status).toBe('success');
		const [task] = run.data.resultData.runData.Tool;
		expect(Object.values(task.data ?? {}).flat(2)).toMatchObject([{ json: { id: job.id } }]);
		expect(task.hints?.[0].message).toContain('A tool of an AI agent cannot be parked');
	});

	it('holds in a workflow that is not saved, and says so', async () => {
		const [job] = createJobs(1);
		setTimeout(() => gateway.jobs.complete(job.id, video), 1_000);
		const workflow = { ...parked({ pollIntervalSeconds: 3 }), id: '' };
		const run = await start(workflow, [job]);
		expect(run.status).toBe('success');
		expect(idsDone(run)).toEqual([job.id]);
		expect(run.data.resultData.runData.Wait[0].hints?.[0].message).toContain(
			'Only a saved workflow can be parked',
		);
	});
});
