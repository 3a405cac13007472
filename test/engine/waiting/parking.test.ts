import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import {
	resumeExecution,
	retryExecution,
	type RunOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { answer, startServer } from '../../support/http/scriptedServer';
import { setProcess } from '../../support/time/processAge';
import { otherVideos } from '../../support/data/otherVideos';
import { hintsOf, resume, startWaits } from '../../support/workflows/parkedWaits';
import { mp4Of } from '../../support/files/boxes';
import {
	chain,
	core,
	type NodeSettings,
	loopOver,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';
import { sha256 } from '../../support/data/sha256';

describe('a parked Wait for Video', () => {
	const video = mp4Of(1_000);
	const { gateway } = withGateway({
		isTimeSimulated: true,
		jobSeconds: 0,
		render: async () => video,
	});
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
			'Video 0.webm',
			'Video 1.mp4',
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

	it('delivers before any request a video that came in place of its link, and that an earlier release stored', async () => {
		const [ended, running] = createJobs(2);
		const parked = await start(workflowOf(), [ended, running]);
		const inside = {
			url: `data:video/mp4;base64,${video.toString('base64')}`,
			authenticated: false,
		};
		const store = (value: unknown): void => {
			if (typeof value !== 'object' || value === null) return;
			const { poller } = value as { poller?: { job: { id: string } } };
			if (poller?.job.id === ended.id)
				Object.assign(value, { name: 'finished', finished: { source: inside, fields: {} } });
			else Object.values(value).forEach(store);
		};
		store(parked.data.executionData?.contextData);
		gateway.jobs.complete(running.id, video);
		const run = await resume(parked);
		expect(run.data.resultData.error).toBeUndefined();
		for (const item of run.items('Done'))
			expect(sha256(await run.binary(item))).toBe(sha256(video));
		expect(run.items('Done')).toHaveLength(2);
	});

	it('keeps the error of a failed download, and does not download again in a later pass', async () => {
		const [broken, running] = createJobs(2);
		gateway.jobs.complete(broken.id, video);
		gateway.fault({ route: 'download', action: 'answer', status: 400, times: Infinity });
		const workflow = workflowOf({}, { onError: 'continueRegularOutput' });
		let run = await resume(await start(workflow, [broken, running]));
		const downloads = requestsOf(broken.id, 'download').length;
		expect(downloads).toBeGreaterThan(0);
		expect(run.items('Wait for Video').map(({ json }) => json.status)).toEqual([
			'completed',
			'submitted',
		]);
		run = await resume(run);
		gateway.jobs.fail(running.id, 'no such style');
		run = await resume(run);
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

	it('goes on with the parameters with which it began, whatever they give in a later pass', async () => {
		const jobs = createJobs(2);
		const later = Date.now() + 60_000;
		const fileName = `={{ $now.toMillis() > ${later} ? 'later' : $json.name }}.mp4`;
		const jobId = `={{ $now.toMillis() > ${later} ? 'task_other' : $json.task_id }}`;
		const run = await start(chain(waitForVideo({ jobId, options: { fileName } }), done), jobs);
		for (const { id } of jobs) gateway.jobs.complete(id, video);
		const ended = await resume(run, 2 * 60_000);
		expect(idsOf(ended.items('Done'))).toEqual(jobs.map(({ id }) => id));
		const names = ended.items('Done').map(({ binary }) => binary?.data.fileName);
		expect(names).toEqual(['Video 0.mp4', 'Video 1.mp4']);
	});

	it.each([{ executionOrder: 'v1' }, {}] as const)(
		'gives each turn of a loop its own video, also in the legacy execution order: %j',
		async (settings) => {
			const jobs = createJobs(2);
			for (const { id } of jobs) gateway.jobs.complete(id, video);
			const look = core(
				'Look',
				'set',
				{
					mode: 'raw',
					jsonOutput:
						'={{ { item: $("Wait for Video").item.json.task_id, name: $("Start").item.json.name } }}',
				},
				3.4,
			);
			const run = await resumeAll(
				await start({ ...loopOver(waitForVideo(), look), settings }, jobs),
			);
			expect(run.status).toBe('success');
			const seen = [0, 1].map((turn) => run.items('Look', { run: turn })[0].json);
			expect(seen).toEqual(jobs.map(({ id }, index) => ({ item: id, name: `Video ${index}` })));
			expect(run.data.resultData.runData['Wait for Video']).toHaveLength(2);
		},
	);

	describe('whose credential cannot be read', () => {
		const unreadable = { credentials: {} };
		const without = async (run: WorkflowRun) => {
			jest.setSystemTime(Math.max(Date.now(), (run.waitTill as Date).getTime()));
			return await resumeExecution(run, unreadable);
		};

		it('in some passes, goes on', async () => {
			const [job] = createJobs(1);
			const parked = await resume(await start(workflowOf(), [job]));
			const { environment } = parked;
			const begun = Date.now();
			const tried = await without(await without(parked));
			expect(tried.status).toBe('waiting');
			expect(Date.now() - begun).toBeGreaterThan(60_000);
			expect(hintsOf(tried)[0]).toMatch(/no values for the credential.*The wait goes on/);
			gateway.jobs.complete(job.id, video);
			const { credentials } = environment;
			jest.setSystemTime((tried.waitTill as Date).getTime());
			const run = await resumeExecution(tried, { credentials });
			expect(idsOf(run.items('Done'))).toEqual([job.id]);
		});

		it('in thirty passes, fails with its words, and still gives the videos that it has delivered', async () => {
			const [ended, running] = createJobs(2);
			gateway.jobs.complete(ended.id, video);
			const workflow = workflowOf({}, { onError: 'continueRegularOutput' });
			let run = await resume(await start(workflow, [ended, running]));
			let passes = 0;
			for (; run.status === 'waiting' && passes < 99; passes++) run = await without(run);
			expect(passes).toBe(31);
			const [first, second] = run.items('Done');
			expect(sha256(await run.binary(first))).toBe(sha256(video));
			expect(second.json).toMatchObject({
				error: expect.stringContaining('no values for the credential'),
				details: { job: { id: running.id } },
			});
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
			'task',
			'task',
			'task',
			'download',
		]);
	});

	describe('after a restart of n8n', () => {
		/** When the last process of n8n started. Each process finds out for itself whether it has recovered. */
		let lastStart = 1_000;

		/** How many milliseconds a pass takes in a process of n8n of this age. */
		const durationOfPass = async (
			age: number,
			{ isRestarted = true, ...options }: Partial<RunOptions> & { isRestarted?: boolean } = {},
		) => {
			const [job] = createJobs(1);
			setProcess(++lastStart, 100_000);
			const run = await start(workflowOf(), [job], options);
			gateway.jobs.complete(job.id, video);
			setProcess(isRestarted ? ++lastStart : lastStart, age);
			const begun = Date.now();
			expect(idsOf((await resume(run)).items('Done'))).toEqual([job.id]);
			return Date.now() - begun;
		};

		/** An n8n that says how ready it is: with each of these responses once, and then with the last one. */
		const startReadiness = async (responses: Array<[number, string]>) => {
			const replies = responses.map(([status, text]) => answer(status, text));
			const server = await startServer((response, request) => {
				if (request.path !== '/healthz/readiness') return answer(404, '')(response, request);
				(replies.length > 1 ? replies.shift() : replies[0])?.(response, request);
			});
			return `${server.url}/rest`;
		};
		const starting: [number, string] = [503, '{"status":"error"}'];
		const ready: [number, string] = [200, '{"status":"ok"}'];

		it('waits until a restarted n8n has run for a minute, where n8n cannot reach itself', async () => {
			expect(await durationOfPass(58_000)).toBe(2_000);
		});

		it('waits only until a restarted n8n says that it is ready', async () => {
			const restApiUrl = await startReadiness([starting, starting, ready]);
			expect(await durationOfPass(10_000, { restApiUrl })).toBe(1_000);
		});

		it.each<[string, Array<[number, string]>]>([
			['n8n 1, which says so from the start', [ready]],
			['a proxy before n8n', [[503, '<h1>Service Unavailable</h1>'], ready]],
		])('does not rely on the readiness of %s', async (_, responses) => {
			const restApiUrl = await startReadiness(responses);
			expect(await durationOfPass(58_000, { restApiUrl })).toBe(2_000);
		});

		it.each([
			['n8n restarted a minute ago', 61_000, {}],
			['n8n has not restarted since it parked', 30_000, { isRestarted: false }],
			['a worker of queue mode does, which has recovered before', 1_000, { inWorker: true }],
		])('resumes without a pause when %s', async (_, age, options) => {
			expect(await durationOfPass(age, options)).toBe(0);
		});

		/** Parks a wait, and restarts n8n when its job is finished. */
		const parkAndRestart = async () => {
			const [job] = createJobs(1);
			setProcess(++lastStart, 100_000);
			const parked = await start(workflowOf(), [job]);
			setProcess(++lastStart, 61_000);
			return { job, parked };
		};
		const expectNothingToDo = (
			retried: WorkflowRun | undefined,
			{ job, execution }: { job: { id: string }; execution: string },
		) => {
			expect(retried?.data.resultData.runData.Done).toBeUndefined();
			expect(retried?.errorOf('Wait for Video')).toMatchObject({
				message: `Execution ${execution} has resumed and goes on with Video job ${job.id}`,
				description: expect.stringContaining('this Retry has nothing to do'),
			});
		};

		it('leaves the videos to the first execution when Retry is pressed while that resumes', async () => {
			const { job, parked } = await parkAndRestart();
			gateway.jobs.complete(job.id, video);
			let retried: WorkflowRun | undefined;
			const pressRetry = async () => void (retried = await retryExecution(parked));
			let pressed: Promise<void> | undefined;
			const until = new Promise<void>((resolve) => {
				gateway.fault({
					route: 'download',
					action: 'stall',
					until: Promise.resolve(),
					when: () => {
						pressed ??= pressRetry().then(resolve);
						return true;
					},
				});
			});
			const run = await resume(parked);
			await until;
			expect(idsOf(run.items('Done'))).toEqual([job.id]);
			expectNothingToDo(retried, { job, execution: parked.executionId });
			expect(requestsOf(job.id, 'download')).toHaveLength(1);
		});

		it('delivers with Retry a minute later, in case n8n has lost what the first execution stored', async () => {
			const { job, parked } = await parkAndRestart();
			gateway.jobs.complete(job.id, video);
			await resume(parked);
			jest.setSystemTime(Date.now() + 61_000);
			expect(idsOf((await retryExecution(parked)).items('Done'))).toEqual([job.id]);
		});
	});
});
