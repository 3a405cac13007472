import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	resumeExecution,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { otherVideos } from '../../support/data/otherVideos';
import { hintsOf, itemsFor, resume, startWaits } from '../../support/workflows/parkedWaits';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	core,
	credentialFor,
	type NodeSettings,
	to,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';
import { sha256 } from '../../support/data/sha256';

describe('a parked Wait for Video', () => {
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => void (video = await sampleVideo()));
	withGateway(
		{ isTimeSimulated: true, jobSeconds: 0, render: async () => video },
		(world) => void ({ gateway } = world),
	);
	afterEach(() => jest.restoreAllMocks());

	const createJobs = (count: number) => earlierTasks(gateway, count);
	const done = core('Done', 'noOp');
	const workflowOf = (options: IDataObject = {}, settings: NodeSettings = {}) =>
		chain(waitForVideo({ options }, settings), done);

	const start = async (
		workflow: WorkflowJson,
		jobs: Array<{ id: string }>,
		options?: Partial<RunOptions>,
	) => await startWaits(gateway, workflow, jobs, options);

	const resumeAll = async (run: WorkflowRun) => {
		for (let passes = 0; run.status === 'waiting' && passes < 20; passes++) run = await resume(run);
		return run;
	};

	const idsOf = (items: INodeExecutionData[]) =>
		items.map(({ json }) => json.task_id ?? json.error ?? json.id);
	const requestsOf = (id: string, route: string) =>
		gateway.requests.filter((request) => request.route === route && request.jobId === id);

	it('names in its last hint the files that are not an mp4, including those of an earlier pass', async () => {
		const [first, second] = createJobs(2);
		const { bytes } = otherVideos.WebM;
		let run = await start(workflowOf({ fileName: '={{ $json.name }}.mp4' }), [first, second]);
		for (const [job, file] of [
			[first, bytes],
			[second, video],
		] as const) {
			gateway.jobs.complete(job.id, file);
			run = await resume(run);
		}
		expect(run.items('Done').map(({ binary }) => binary?.data.fileName)).toEqual([
			...['Video 0.webm', 'Video 1.mp4'],
		]);
		expect(hintsOf(run)).toEqual(['Item 0: Video 0.webm is a WebM video, not an mp4.']);
	});

	it('keeps finished videos from pass to pass when n8n keeps files in memory', async () => {
		const [ended, running] = createJobs(2);
		gateway.jobs.complete(ended.id, video);
		const binaryDataMode = 'default';
		let run = await resume(await start(workflowOf(), [ended, running], { binaryDataMode }));
		gateway.jobs.complete(running.id, video);
		run = await resume(run);
		for (const item of run.items('Done'))
			expect(sha256(await run.binary(item))).toBe(sha256(video));
		expect(requestsOf(ended.id, 'download')).toHaveLength(1);
	});

	it('keeps the error of a failed download, and does not download again in a later pass', async () => {
		const [broken, running] = createJobs(2);
		gateway.jobs.complete(broken.id, video);
		gateway.fault({ route: 'download', action: 'answer', status: 400, times: Infinity });
		const workflow = workflowOf({}, { onError: 'continueRegularOutput' });
		const next = async (run: WorkflowRun) => {
			jest.setSystemTime(run.waitTill as Date);
			return await resumeExecution(run);
		};
		let run = await next(await start(workflow, [broken, running]));
		const downloads = requestsOf(broken.id, 'download').length;
		expect(downloads).toBeGreaterThan(0);
		expect(run.items('Wait for Video').map(({ json }) => json.status)).toEqual([
			'completed',
			'submitted',
		]);
		run = await next(run);
		gateway.jobs.fail(running.id, 'no such style');
		run = await next(run);
		expect(run.status).toBe('success');
		expect(run.items('Done').map(({ json }) => json)).toMatchObject([
			{
				error: expect.stringContaining(`Could not download the video of job ${broken.id}`),
				details: { billed: 'yes', job: { id: broken.id, status: 'completed' } },
			},
			{ error: expect.stringContaining('no such style') },
		]);
		expect(requestsOf(broken.id, 'download')).toHaveLength(downloads);
	});

	it('returns the video of the new ID when the Job ID of an item changes between passes', async () => {
		const [first, second, running] = createJobs(3);
		gateway.jobs.complete(first.id, video);
		const jobId =
			'={{ $json.later && $now.toMillis() > $json.later ? $json.second : $json.task_id }}';
		const later = Date.now() + 60 * 60_000;
		let run = await runWorkflow(chain(waitForVideo({ jobId }), done), {
			credentials: credentialFor(gateway),
			input: [
				{ json: { task_id: first.id, second: second.id, later } },
				{ json: { task_id: running.id } },
			],
			mode: 'trigger',
		});
		run = await resume(run);
		for (const { id } of [second, running]) gateway.jobs.complete(id, video);
		run = await resumeAll(await resume(run, 2 * 60 * 60_000));
		expect(run.status).toBe('success');
		expect(idsOf(run.items('Done'))).toEqual([second.id, running.id]);
	});

	describe('a parked wait in a workflow', () => {
		/** Runs the workflow with a wait that parks and with one that keeps running, and compares their outputs. */
		const bothWays = async (workflow: WorkflowJson, input: INodeExecutionData[], last: string) => {
			const options = { credentials: credentialFor(gateway), input, mode: 'trigger' as const };
			const parked = await resumeAll(await runWorkflow(workflow, options));
			const unsaved = { ...workflow, id: '' };
			const held = await runWorkflow(unsaved, options);
			for (const run of [parked, held]) expect(run.status).toBe('success');
			const outputs = [parked, held].map((run) =>
				run.data.resultData.runData[last].map(({ data, source }) => ({
					items: data?.main.map((items) =>
						items?.map(({ json, pairedItem }) => ({ json, pairedItem })),
					),
					source,
				})),
			);
			// Each run polls for itself, so only the request IDs differ.
			const text = (output: object) => JSON.stringify(output).replace(/"req_\w+"/g, '""');
			expect(text(outputs[0])).toEqual(text(outputs[1]));
			return parked;
		};
		const finishedJobs = (count: number) => {
			const jobs = createJobs(count);
			for (const { id } of jobs) gateway.jobs.complete(id, video);
			return jobs;
		};
		const look = core(
			'Look',
			'set',
			{
				mode: 'raw',
				jsonOutput:
					'={{ { all: $("Wait for Video").all().length, item: $("Wait for Video").item.json.task_id, name: $("Start").item.json.name, run: $runIndex } }}',
			},
			3.4,
		);

		it('delivers the same in Loop Over Items as a wait that keeps running', async () => {
			const jobs = finishedJobs(4);
			const loop = core('Loop', 'splitInBatches', { batchSize: 2 }, 3);
			const workflow = chain(loop, waitForVideo(), look);
			workflow.connections = {
				Start: { main: [to('Loop')] },
				Loop: { main: [[], to('Wait for Video')] },
				'Wait for Video': { main: [to('Look')] },
				Look: { main: [to('Loop')] },
			};
			const run = await bothWays(workflow, itemsFor(jobs), 'Look');
			expect(run.data.resultData.runData.Look).toHaveLength(2);
			expect(run.items('Look', { run: 1 }).map(({ json }) => json)).toEqual([
				{ all: 2, item: jobs[2].id, name: 'Video 2', run: 1 },
				{ all: 2, item: jobs[3].id, name: 'Video 3', run: 1 },
			]);
			expect(run.data.resultData.runData['Wait for Video']).toHaveLength(2);
		});

		it('delivers the same in the legacy execution order as a wait that keeps running', async () => {
			const jobs = finishedJobs(2);
			const workflow = { ...chain(waitForVideo(), look), settings: {} };
			const run = await bothWays(workflow, itemsFor(jobs), 'Look');
			expect(run.data.resultData.runData['Wait for Video']).toHaveLength(1);
		});
	});

	it('keeps the kind of a job that was given only by its ID, from pass to pass', async () => {
		const [job] = createJobs(1);
		const workflow = chain(waitForVideo({ jobId: job.id }), done);
		gateway.fault({ route: 'task', action: 'reset', skip: 1 });
		let run = await resume(await start(workflow, [{ id: '' }]));
		run = await resume(run);
		gateway.jobs.complete(job.id, video);
		run = await resume(run);
		expect(idsOf(run.items('Done'))).toEqual([job.id]);
		expect(gateway.requests.map(({ route }) => route)).toEqual([
			...['task', 'task', 'task', 'download'],
		]);
	});

	describe('a pass that n8n did not finish', () => {
		const workflow = workflowOf({ fileName: '={{ $json.name }}' });

		it.each([
			['the original', undefined],
			['the currently saved', workflow],
		])(
			'waits again on Retry with %s workflow after n8n did not finish a pass',
			async (_, saved) => {
				const jobs = createJobs(2);
				gateway.jobs.complete(jobs[0].id, video);
				const parked = await resume(await start(workflow, jobs));
				gateway.jobs.complete(jobs[1].id, video);
				// After a crash, n8n has only what it stored before the pass.
				const retried = await retryExecution(parked, { workflow: saved });
				expect(retried.status).toBe('success');
				expect(idsOf(retried.items('Done'))).toEqual(jobs.map(({ id }) => id));
				expect(requestsOf(jobs[0].id, 'download')).toHaveLength(1);
			},
		);
	});
});
