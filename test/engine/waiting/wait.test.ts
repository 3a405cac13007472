import type { IDataObject } from 'n8n-workflow';
import { once } from 'node:events';
import type { Gateway, Route } from '../../../gateway';
import { resumeToEnd, runWorkflow, type RunOptions, type WorkflowRun } from '../../harness';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	createReferenceVideo,
	createVideo,
	credentialFor,
	modelGateway,
	type NodeSettings,
	waitForVideo,
} from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';
import { withGateway } from '../../support/http/withGateway';

describe('Wait for Video', () => {
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => void (video = await sampleVideo()));
	withGateway(
		{ isTimeSimulated: true, jobSeconds: Infinity },
		(world) => void ({ gateway } = world),
	);

	const createJobs = (count: number) => earlierTasks(gateway, count);
	const finishedJob = () => earlierJob(gateway, 'task', video);

	interface WaitOptions extends RunOptions {
		/** Options of the node. */
		options?: IDataObject;
		/** Other parameters of the node. */
		parameters?: IDataObject;
		settings?: NodeSettings;
	}
	const wait = async (
		jobs: Array<{ id: string }>,
		{ options = {}, parameters = {}, settings = {}, ...runOptions }: WaitOptions = {},
	) =>
		await resumeToEnd(
			await runWorkflow(chain(waitForVideo({ options, ...parameters }, settings)), {
				credentials: credentialFor(gateway),
				input: jobs.map(({ id }) => ({ json: { task_id: id } })),
				...runOptions,
			}),
		);
	const fileOf = async (run: WorkflowRun) =>
		sha256(await run.binary(run.items('Wait for Video')[0]));
	const continues = { onError: 'continueRegularOutput' } as const;

	const pollsOf = (id: string) =>
		gateway.requests.filter(({ route, url }) => route !== 'download' && url.includes(id));

	it.each(['task', 'video'] as const)(
		'reports at once that a job failed on creation: %s',
		async (kind) => {
			const { id } = earlierJob(gateway, kind);
			gateway.jobs.fail(id, { message: 'The picture is too dark' });
			const message = 'The picture is too dark';
			const output = { task_id: id, task_status: 'FAILED', message };
			const body = kind === 'task' ? { output } : { id, status: 'failed', error: { message } };
			const route = kind === 'task' ? 'referenceVideoCreate' : 'videoCreate';
			gateway.fault({ route, action: 'answer', body: JSON.stringify(body) });
			const create = kind === 'task' ? createReferenceVideo() : createVideo();
			const media = [{ type: 'reference_image', url: 'https://media.example/a.png' }];
			const before = Date.now();
			const result = await runWorkflow(chain(create, waitForVideo()), {
				credentials: credentialFor(gateway),
				input: [{ json: { media } }],
			});
			const name = `Video job ${id}`;
			expect(result.hintsOf('Create')).toEqual([
				`${name} was created, and has failed already: The picture is too dark.`,
			]);
			expect(result.errorOf('Wait for Video')?.message).toContain(
				`${name} failed: The picture is too dark`,
			);
			expect(pollsOf(id)).toHaveLength(1);
			expect(Date.now() - before).toBeLessThan(10_000);
		},
	);

	it('waits for three items with both kinds of job side by side', async () => {
		// Each job takes longer than one poll, so that the waits overlap.
		const [task, other] = createJobs(2);
		const created = await runWorkflow(chain(createVideo()), {
			credentials: credentialFor(gateway),
		});
		for (const { id } of [task, other, { id: String(created.items('Create')[0].json.id) }]) {
			setTimeout(() => gateway.jobs.complete(id, video), 4000);
		}
		const begun = Date.now();
		const result = await runWorkflow(chain(waitForVideo({ options: { pollIntervalSeconds: 3 } })), {
			credentials: credentialFor(gateway),
			input: [
				{ json: { output: { task_id: task.id, task_status: 'PENDING' } } },
				{ json: created.items('Create')[0].json },
				{ json: { task_id: other.id } },
			],
		});

		const items = result.items('Wait for Video');
		expect(items.map(({ json }) => json.task_id ?? json.id)).toEqual([
			task.id,
			created.items('Create')[0].json.id,
			other.id,
		]);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
		for (const item of items) expect(sha256(await result.binary(item))).toBe(sha256(video));
		// One after another they would take at least 12 s.
		expect(Date.now() - begun).toBeLessThan(9_500);
	});

	it("outputs the order's request ID as input_request_id", async () => {
		const credentials = credentialFor(gateway);
		const created = (await runWorkflow(chain(createVideo()), { credentials })).items('Create');
		gateway.jobs.complete(String(created[0].json.id), video);
		const [{ json }] = (
			await runWorkflow(chain(waitForVideo()), { credentials, input: created })
		).items('Wait for Video');
		expect(json.input_request_id).toBe(created[0].json.request_id);
		expect(json.request_id).toEqual(expect.any(String));
		expect(json.request_id).not.toBe(json.input_request_id);

		const job = finishedJob();
		expect((await wait([job])).items('Wait for Video')[0].json).not.toHaveProperty(
			'input_request_id',
		);
	});

	it("renames a video job's task_id to service_task_id, so that no later node waits for it", async () => {
		const job = { id: 'video_1', status: 'completed', task_id: 'task_1' };
		const output = { task_id: 'task_2', seconds: 8 };
		const respond = (route: Route, body: object) =>
			gateway.fault({ route, action: 'answer', body: JSON.stringify(body) });
		respond('video', { ...job, output });
		respond('videoContent', { url: 'https://storage.example/v.mp4' });
		const result = await runWorkflow(chain(waitForVideo({ download: false })), {
			credentials: credentialFor(gateway),
			input: [{ json: { id: job.id } }],
		});
		expect(result.items('Wait for Video')[0].json).toMatchObject({
			...{ id: job.id, job_id: job.id, service_task_id: 'task_1' },
			output: { service_task_id: 'task_2', seconds: 8 },
		});
		expect(result.items('Wait for Video')[0].json).not.toHaveProperty('task_id');
	});

	it('reports the ID and status of a job that exceeds the Timeout, so that it can be collected', async () => {
		const [job] = createJobs(1);
		gateway.jobs.start(job.id);
		const result = await wait([job], { options: { timeoutMinutes: 0.05 } });

		const error = result.errorOf('Wait for Video');
		expect(error?.message).toBe(
			`Video job ${job.id} did not finish within 0.1 minutes (last status in_progress, 30 %)`,
		);
		expect(error?.description).toContain(`Collect it by its ID ${job.id} within 24 hours`);

		gateway.jobs.complete(job.id, video);
		const again = await wait([job]);
		expect(await fileOf(again)).toBe(sha256(video));
	});

	it('reports the reason of a failed job, and never polls that job again', async () => {
		const [withReason, without] = createJobs(2);
		gateway.jobs.fail(withReason.id, {
			code: 'invalid_image_file',
			message: 'image 2 has 3 frames',
		});
		gateway.jobs.fail(without.id);
		const result = await wait([withReason, without], { settings: continues });
		const items = result.items('Wait for Video');

		expect(items.map(({ json }) => json.error)).toEqual([
			`Video job ${withReason.id} failed: image 2 has 3 frames`,
			`Video job ${without.id} failed: the service gave no reason`,
		]);
		expect(items[0].json.details).toMatchObject({
			code: 'invalid_image_file',
			billed: 'unknown',
			job: { id: withReason.id, status: 'failed', request_id: expect.any(String) },
		});
		expect(pollsOf(without.id)).toHaveLength(1);
	});

	it('outputs the finished videos and, on the error output, the unknown job', async () => {
		const job = finishedJob();
		const settings = { onError: 'continueErrorOutput' } as const;
		const result = await wait([{ id: 'task_unknown' }, job], { settings });

		expect(result.items('Wait for Video', { output: 0 })).toMatchObject([
			{ json: { task_id: job.id }, pairedItem: { item: 1 } },
		]);
		const [failed] = result.items('Wait for Video', { output: 1 });
		expect(failed.pairedItem).toEqual({ item: 0 });
		expect(failed.json.error).toContain('task_unknown');
		expect(failed.json.details).toMatchObject({
			status: 404,
			job: { id: 'task_unknown' },
			retry_can_help: false,
		});
		expect(pollsOf('task_unknown').map(({ route }) => route)).toEqual(['task', 'video', 'task']);
	});

	it('does not advise waiting for a job that has failed or that the service does not know', async () => {
		const [failed, running, finished] = createJobs(3);
		gateway.jobs.start(running.id);
		gateway.jobs.complete(finished.id, video);
		gateway.fault({ route: 'download', action: 'answer', status: 500, times: Infinity });
		// By the time this failure ends the run, all jobs have been polled.
		setTimeout(() => gateway.jobs.fail(failed.id, 'no such style'), 5_000);
		const jobs = [failed, running, finished];
		const error = (await wait(jobs)).errorOf('Wait for Video');
		const description = String(error?.description);
		expect(description).toContain(
			[
				`Jobs that can be waited for again by ID: item 1: ${running.id} (last status in_progress, 30 %).`,
				`Finished jobs, which Wait for Video fetches by ID: item 2: ${finished.id} (last status completed, 100 %).`,
			].join(' '),
		);
		// Its message names it.
		expect(error?.message).toContain(`Item 0: Video job ${failed.id} failed`);
		expect(description).not.toContain(failed.id);

		const unknown = String(
			(await wait([{ id: 'task_unknown' }, running])).errorOf('Wait for Video')?.description,
		);
		expect(unknown).toContain(`waited for again by ID: item 1: ${running.id} `);
		expect(unknown).toContain('Jobs that the service did not find: item 0: task_unknown ');

		const get = modelGateway({ resource: 'referenceVideo', operation: 'get' });
		const asked = await runWorkflow(chain(get), {
			credentials: credentialFor(gateway),
			input: [{ json: { task_id: 'task_unknown' } }],
		});
		expect(asked.errorOf('Model Gateway')?.description).toContain('did not find: task_unknown');
		expect(asked.errorOf('Model Gateway')?.description).not.toContain('waited for');
	});

	it('never sends the API key to the storage host, not even after a redirect', async () => {
		const job = finishedJob();
		gateway.fault({
			...{ route: 'download', action: 'answer', status: 302 },
			headers: { location: gateway.addMedia('moved.mp4', video, 'video/mp4') },
		});
		const result = await wait([job]);

		expect(result.items('Wait for Video')).toHaveLength(1);
		const onStorage = gateway.requests.filter(({ host }) => host === 'storage');
		expect(onStorage).toHaveLength(2);
		for (const { headers } of onStorage) expect(headers.authorization).toBeUndefined();
	});

	describe('the output', () => {
		const kinds = [
			['task', 'task_id', 'result_url'],
			['video', 'id', 'url'],
		] as const;

		it.each(kinds)(
			'outputs job_id and video_url in addition to the fields of a %s',
			async (kind, id, url) => {
				const job = earlierJob(gateway, kind, video);
				for (const download of [true, false]) {
					const result = await runWorkflow(chain(waitForVideo({ download })), {
						credentials: credentialFor(gateway),
						input: [{ json: { [id]: job.id } }],
					});
					const [{ json, binary }] = result.items('Wait for Video');
					expect(json).toMatchObject({ job_id: job.id, [id]: job.id, status: 'completed' });
					expect(json.video_url).toBe(json[url]);
					expect(json.video_url).toMatch(new RegExp(`^${gateway.storageUrl}`));
					expect(binary !== undefined).toBe(download);
				}
			},
		);

		const data = Buffer.from('a photo').toString('base64');
		const photo = { mimeType: 'image/png', fileName: 'photo.png', data };
		const waitWith = async (options: IDataObject, { download = true } = {}) => {
			const job = earlierJob(gateway, 'task', video);
			const json = { task_id: job.id, status: 'ordered', name: 'Red mug', price: { eur: 9 } };
			const result = await runWorkflow(chain(waitForVideo({ options, download })), {
				credentials: credentialFor(gateway),
				input: [{ json, binary: { photo, data: photo } }],
			});
			return { job, result, item: result.items('Wait for Video')[0] };
		};

		it('includes the input fields and files with Include Input Fields, and overrides them with its own', async () => {
			const { job, result, item } = await waitWith({ includeInputFields: true });
			expect(item.json).toMatchObject({
				...{ name: 'Red mug', price: { eur: 9 } },
				...{ task_id: job.id, job_id: job.id, status: 'completed' },
			});
			expect(item.binary?.photo).toMatchObject({ fileName: 'photo.png' });
			expect(sha256(await result.binary(item))).toBe(sha256(video));
			expect(item.pairedItem).toEqual({ item: 0 });
			const [{ binary, json }] = result.items('Start');
			expect([binary?.data.fileName, json.status]).toEqual(['photo.png', 'ordered']);

			const without = await waitWith({ includeInputFields: true }, { download: false });
			expect(without.item.json).toMatchObject({ name: 'Red mug', job_id: without.job.id });
			expect(without.item.binary?.data.fileName).toBe('photo.png');
		});
	});

	describe('Stop', () => {
		/** Presses Stop this many milliseconds after the start, or after `event`. */
		const stopAfter = (milliseconds: number, event?: Promise<unknown>) => {
			let stopped = 0;
			const press = (cancel: () => void) => {
				stopped = Date.now();
				cancel();
			};
			return {
				onStart: (cancel: () => void) =>
					void Promise.resolve(event).then(() => setTimeout(press, milliseconds, cancel)),
				sinceStop: () => Date.now() - stopped,
			};
		};

		it('ends a wait within a second of Stop, and names the job', async () => {
			const [job] = createJobs(1);
			gateway.jobs.start(job.id);
			const { onStart, sinceStop } = stopAfter(1_500);
			const result = await wait([job], { onStart });
			expect(sinceStop()).toBeLessThan(1_000);
			expect(result.status).toBe('canceled');
			expect(result.errorOf('Wait for Video')?.description).toContain(
				`${job.id} (last status in_progress, 30 %)`,
			);
		});

		it('names the jobs when Timeout Workflow ends the execution', async () => {
			const jobs = createJobs(2);
			const settings = { executionOrder: 'v1', executionTimeout: 1 } as const;
			const result = await runWorkflow(
				{ ...chain(waitForVideo()), settings },
				{
					credentials: credentialFor(gateway),
					input: jobs.map(({ id }) => ({ json: { task_id: id } })),
				},
			);
			expect(result.status).toBe('canceled');
			expect(result.errorOf('Wait for Video')?.message).toContain('The execution was canceled');
			for (const { id } of jobs)
				expect(result.errorOf('Wait for Video')?.description).toContain(id);
		});

		it('ends a download within a second of Stop, and names the job', async () => {
			const job = finishedJob();
			gateway.fault({ route: 'download', action: 'freeze', after: '50%' });
			const { onStart, sinceStop } = stopAfter(700, once(gateway, 'request'));
			const result = await wait([job], { onStart });
			expect(sinceStop()).toBeLessThan(1_000);
			expect(result.status).toBe('canceled');
			expect(result.errorOf('Wait for Video')?.description).toContain(
				`${job.id} (last status completed, 100 %)`,
			);
		});
	});
});
