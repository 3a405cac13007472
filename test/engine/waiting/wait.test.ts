import type { IDataObject, INode, StructuredChunk } from 'n8n-workflow';
import type { Route } from '../../../gateway';
import { resumeExecution, resumeToEnd, type WorkflowJson } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { read } from '../../support/files/repository';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { eventsOf } from '../../support/workflows/log';
import { hintsOf, resume } from '../../support/workflows/parkedWaits';
import {
	chain,
	core,
	createReferenceVideo,
	createVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { json as jsonReply, startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';

describe('Wait for Video', () => {
	const video = mp4Of(1_000);
	const { gateway, media, runWorkflow } = withGateway({
		isTimeSimulated: true,
		jobSeconds: Infinity,
	});

	const createJobs = (count: number) => earlierTasks(gateway, count);

	const pollsOf = (id: string) =>
		gateway.requests.filter(({ route, url }) => route !== 'download' && url.includes(id));

	it.each<[string, { task_id?: string }, string[]]>([
		['auto', {}, ['task', 'video']],
		['video', {}, ['video']],
		// The row of a table in which each job is a task.
		['video', { task_id: 'own_id' }, ['video']],
	])(
		'polls an ID that comes from no Create as Kind of Job says: %s %j',
		async (jobKind, json, routes) => {
			const { id } = earlierJob(gateway, 'video', video, json.task_id);
			const node = waitForVideo({ jobId: id, options: { jobKind } });
			await resumeToEnd(
				await runWorkflow(chain(node), { input: [{ json }], credentials: credentialFor(gateway) }),
			);
			expect(pollsOf(id).map(({ route }) => route)).toEqual([...routes, 'videoContent']);
		},
	);

	it.each(['task', 'video'] as const)(
		'reports at once that a job failed on creation: %s',
		async (kind) => {
			const { id } = earlierJob(gateway, kind);
			gateway.jobs.fail(id, { message: 'The file does not exist' });
			// Not a job that the service does not find.
			const message = 'The file does not exist';
			const output = { task_id: id, task_status: 'FAILED', message };
			const body = kind === 'task' ? { output } : { id, status: 'failed', error: { message } };
			const route = kind === 'task' ? 'referenceVideoCreate' : 'videoCreate';
			gateway.fault({ route, action: 'answer', body: JSON.stringify(body) });
			const create = kind === 'task' ? createReferenceVideo() : createVideo();
			const before = Date.now();
			const result = await runWorkflow(chain(create, waitForVideo()), {
				input: [{ json: { media } }],
			});
			const name = `Video job ${id}`;
			expect(result.hintsOf('Create')).toEqual([
				`${name} was created, and has failed already: The file does not exist.`,
			]);
			expect(result.errorOf('Wait for Video')?.message).toContain(
				`${name} failed: The file does not exist`,
			);
			expect(pollsOf(id)).toHaveLength(1);
			expect(Date.now() - before).toBeLessThan(10_000);
		},
	);

	it('takes an ID for that of an order at the same gateway only', async () => {
		const credentials = credentialFor(gateway);
		const [{ json }] = (await runWorkflow(chain(createVideo()), { credentials })).items('Create');
		const error = { code: 'video_not_found', message: 'no such job' };
		const other = await startServer(jsonReply({ error }, 404));
		const before = Date.now();
		const run = await runWorkflow(chain(waitForVideo({ jobId: json.id })), {
			credentials: credentialFor({ apiKey: gateway.apiKey, url: other.url }),
		});
		expect((await resumeToEnd(run)).errorOf('Wait for Video')?.message).toContain(
			'neither a reference video nor',
		);
		expect(Date.now() - before).toBeLessThan(20_000);
	});

	it.each(['task', 'videoContent'] as const)(
		'says that a job has several videos, which are all charged: %s',
		async (route) => {
			const { id } = earlierJob(gateway, route === 'task' ? 'task' : 'video', video);
			const urls = ['https://files.example/a.mp4', 'https://files.example/b.mp4'];
			const body = JSON.stringify({ status: 'completed', urls });
			gateway.fault({ route, action: 'answer', body });
			const input = [{ json: { id } }];
			const node = waitForVideo({ download: false });
			const run = await resumeToEnd(await runWorkflow(chain(node), { input }));
			expect(hintsOf(run)).toEqual([
				`Video job ${id} has 2 videos. This output is about one of them; the links to all are in its fields.`,
			]);
			expect(run.items('Wait for Video')[0].json).toMatchObject({ video_url: urls[0], urls });
		},
	);

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
	});

	it('returns the fields that docs/first-video.md shows', async () => {
		const guide = read('docs/first-video.md');
		const [, shown] = /## What you get.*?```json\n(.*?)```/s.exec(guide) ?? [];
		gateway.once('job', ({ id }) => gateway.jobs.complete(id, video));
		const run = await runWorkflow(chain(createReferenceVideo(), waitForVideo()), {
			input: [{ json: { media } }],
		});
		const [{ json, binary }] = (await resumeToEnd(run)).items('Wait for Video');
		const example = JSON.parse(shown) as IDataObject;
		expect(Object.keys(example)).toEqual(Object.keys(json));
		expect(binary).toHaveProperty('data');
		for (const { task_id, job_id, result_url, video_url } of [json, example]) {
			expect([job_id, video_url]).toEqual([task_id, result_url]);
		}
	});

	it.each<[string, string, IDataObject, Route]>([
		['referenceVideo', 'get', { task_id: 'b', status: 'completed' }, 'task'],
		['video', 'getContent', { video_id: 'b', url: '/v.mp4' }, 'videoContent'],
	])(
		'fails after several responses about another job: %s %s',
		async (resource, operation, body, route) => {
			const { id } = earlierJob(gateway, resource === 'video' ? 'video' : 'task', video);
			gateway.fault({ route, action: 'answer', times: Infinity, body: JSON.stringify(body) });
			const node = modelGateway({ resource, operation }, { onError: 'continueRegularOutput' });
			const result = await runWorkflow(chain(node), { input: [{ json: { id, task_id: id } }] });
			expect(result.items('Model Gateway')).toMatchObject([
				{ json: { error: /is about another job: b/, details: { job: { id }, billed: 'unknown' } } },
			]);
			expect(gateway.requests.length).toBeGreaterThan(1);
		},
	);

	describe('several items that name the same job', () => {
		const done = core('Done', 'noOp');
		const options = {
			timeoutMinutes: '={{ $json.timeout ?? 20 }}',
			pollIntervalSeconds: '={{ $json.interval ?? 10 }}',
		};
		const startWith = async (json: IDataObject[], whileWaiting = 'park') =>
			await runWorkflow(
				chain(waitForVideo({ options, whileWaiting }, { onError: 'continueRegularOutput' }), done),
				{ input: json.map((fields) => ({ json: fields })), mode: 'trigger' },
			);

		it('keeps the timeout of each item with the same job from pass to pass', async () => {
			const [{ id }] = createJobs(1);
			let run = await startWith([
				{ task_id: id, timeout: 0.3 },
				{ task_id: id, timeout: 20 },
			]);
			for (let passes = 0; passes < 4; passes++) run = await resume(run);
			expect(pollsOf(id)).toHaveLength(6);
			gateway.jobs.complete(id, video);
			run = await resume(run);
			expect(run.status).toBe('success');
			expect(run.items('Done').map(({ json }) => json.error ?? json.job_id)).toEqual([
				expect.stringContaining(`${id} did not finish within 0.3 minutes`),
				id,
			]);
			expect(pollsOf(id)).toHaveLength(7);
		});

		it('names at the timeout the link that a job has under an unknown state', async () => {
			const [{ id }] = createJobs(1);
			const url = 'https://files.example/a?sig=1';
			const body = JSON.stringify({ task_id: id, status: 'shown', url });
			gateway.fault({ route: 'task', action: 'answer', body, times: Infinity });
			let run = await startWith([{ task_id: id, timeout: 0.3 }]);
			while (run.status === 'waiting') run = await resume(run);
			expect(run.items('Done').map(({ json }) => json)).toMatchObject([
				{ details: { url, job: { id }, advice: expect.stringContaining('which is in url') } },
			]);
		});

		it('keeps the interval of each item with the same job, and parks until the next poll that is due', async () => {
			const [{ id }] = createJobs(1);
			let run = await startWith([
				{ task_id: id, interval: 60 },
				{ task_id: id, interval: 20 },
			]);
			run = await resume(run);
			const nextPolls = run
				.items('Wait for Video')
				.map(({ json }) => Date.parse(String(json.next_poll)));
			// The second item is polled 3 seconds after the first one.
			expect(nextPolls[0] - nextPolls[1]).toBe(37_000);
			expect((run.waitTill as Date).getTime()).toBe(nextPolls[1]);
			run = await resume(await resume(run));
			expect(pollsOf(id)).toHaveLength(4);
		});

		it('polls a job once for all of its items, and delivers to each of them', async () => {
			const [{ id }] = createJobs(1);
			let run = await startWith(Array(10).fill({ task_id: id }));
			run = await resume(await resume(run));
			expect(pollsOf(id)).toHaveLength(2);
			gateway.jobs.complete(id, video);
			run = await resume(run);
			expect(pollsOf(id)).toHaveLength(3);
			expect(run.items('Done').map(({ json }) => json.job_id)).toEqual(Array(10).fill(id));
			const files = run.items('Done').map(({ binary }) => binary?.data.id);
			expect(new Set(files).size).toBe(10);
		});

		it('names a shared job once in its hint, and logs its progress once', async () => {
			const [{ id }] = createJobs(1);
			const parked = await startWith([{ task_id: id }, { task_id: id }, { id }]);
			const run = await resumeExecution(parked);
			const usual = 'A reference video usually takes 1 to 5 minutes.';
			expect(hintsOf(run)).toEqual([`${usual} Video job ${id}: submitted, 0 %`]);
			expect(run.items('Wait for Video').map(({ json }) => json.job_id)).toEqual([id, id, id]);
			const events = await eventsOf(run);
			expect(events.map(({ metadata }) => [metadata.event, metadata.jobId])).toEqual([
				...Array(3).fill(['wait parked', id]),
				['job progress', id],
			]);
		});
	});

	describe('Get Status', () => {
		const get = modelGateway({ resource: 'referenceVideo', operation: 'get' }, { name: 'Get' });
		const run = async (workflow: WorkflowJson, ids: string[]) =>
			await runWorkflow(workflow, { input: ids.map((id) => ({ json: { task_id: id } })) });

		it('polls a job for each item that names it, 3 seconds apart, and gives each an output of its own', async () => {
			const [one, other] = createJobs(2).map(({ id }) => id);
			const outputs = (await run(chain(get), [one, other, one, ` ${one} `])).items('Get');
			expect(outputs.map(({ json }) => json.task_id)).toEqual([one, other, one, one]);
			expect(outputs.map(({ pairedItem }) => pairedItem)).toEqual(
				[0, 1, 2, 3].map((item) => ({ item })),
			);
			expect([pollsOf(one).length, pollsOf(other).length]).toEqual([3, 1]);
			expect(outputs[2].json).not.toBe(outputs[0].json);
		});
	});

	describe('in a workflow that streams', () => {
		/** The lines that Wait for Video streams, each with its time in milliseconds since the video was ordered. */
		async function chunksOf() {
			gateway.once('job', ({ id }) => {
				setTimeout(() => gateway.jobs.start(id), 1500);
				setTimeout(() => gateway.jobs.complete(id, video), 7000);
			});
			const chunks: Array<StructuredChunk & { after: number }> = [];
			const wait = waitForVideo({ download: false, options: { pollIntervalSeconds: 3 } });
			await runWorkflow(chain(createVideo(), wait), {
				credentials: credentialFor(gateway),
				onChunk(chunk) {
					if (chunk.metadata.nodeName !== 'Wait for Video') return;
					chunks.push({ ...chunk, after: Date.now() - gateway.ledger[0].at });
				},
			});
			return chunks;
		}

		it('streams a line at once, and whenever the status of the job changes', async () => {
			const chunks = await chunksOf();
			const { job } = gateway.ledger[0];
			expect(chunks.map(({ type, content }) => `${type}${content ? ` ${content}` : ''}`)).toEqual([
				'begin',
				`item Video job ${job}: queued\n\n`,
				`item Video job ${job}: processing\n\n`,
				`item Video job ${job}: completed\n\n`,
				'end',
			]);
			expect(chunks[1].after).toBeLessThan(2_000);
			expect(gateway.requests.filter(({ route }) => route === 'video')).toHaveLength(4);
		});

		it('shows the status that a service gives as text, and not as Markdown', async () => {
			const status = '![i](https://evil.example/a.png) <img> **b**';
			gateway.once('job', ({ id }) => {
				const body = JSON.stringify({ id, status });
				gateway.fault({ route: 'video', action: 'answer', body });
			});
			const [, line] = await chunksOf();
			expect(line.content?.replace(/\\(.)/g, '$1')).toContain('![i](https://evil.example/a.png)');
			expect(line.content?.replace(/\\./g, '')).not.toMatch(/[![\]()<>*]/);
		});
	});

	describe('with an expression that fails', () => {
		/** An expression that fails for the bad item. */
		const failing = (value: string) =>
			`={{ $json.isBad ? $('No such node').item.json.x : ${value} }}`;

		const parameters: Record<string, IDataObject> = {
			jobId: { jobId: failing('$json.task_id') },
			jobKind: { options: { jobKind: failing('"auto"') } },
			download: { download: failing('true') },
			binaryField: { binaryField: failing('"data"') },
			fileName: { options: { fileName: failing('"a"') } },
			includeInputFields: { options: { includeInputFields: failing('true') } },
			timeoutMinutes: { options: { timeoutMinutes: failing('5') } },
			pollIntervalSeconds: { options: { pollIntervalSeconds: failing('5') } },
			maxParallelDownloads: { options: { maxParallelDownloads: failing('2') } },
		};
		const cases = Object.keys(parameters);
		/** The item for which the expression fails. */
		const bad = 1;

		let ids: string[];
		beforeEach(() => {
			ids = createJobs(3).map(({ id }) => id);
			for (const id of ids) gateway.jobs.complete(id, mp4Of(1000));
		});

		const run = async (field: string, more: Partial<INode> = {}) => {
			const node = waitForVideo(parameters[field], more);
			// With an execution timeout, the node compares all its own timeouts with it for a hint.
			const settings = { saveExecutionProgress: true, executionTimeout: 600 };
			const workflow = { ...chain(node), settings };
			return await runWorkflow(workflow as ReturnType<typeof chain>, {
				input: ids.map((id, index) => ({ json: { task_id: id, isBad: index === bad } })),
			});
		};

		it.each(cases)(
			'names all known jobs in the error when the expression of %s fails for an item',
			async (field) => {
				const error = (await run(field)).errorOf('Wait for Video');
				expect(error?.message).toMatch(new RegExp(`^Item ${bad}: .*node`));
				for (const [item, id] of ids.entries()) {
					const isKnown = field !== 'jobId' || item !== bad;
					if (isKnown) expect(error?.description).toContain(`item ${item}: ${id}`);
				}
				expect(gateway.requests).toEqual([]);
			},
		);

		it.each(cases)(
			'delivers the other items on Continue On Fail when the expression of %s fails for an item',
			async (field) => {
				const result = await run(field, { onError: 'continueRegularOutput' });
				const items = result.items('Wait for Video');
				expect(items.map(({ pairedItem }) => pairedItem)).toEqual(ids.map((_, item) => ({ item })));
				for (const [item, { json }] of items.entries()) {
					if (item !== bad) {
						expect(json.job_id).toBe(ids[item]);
						continue;
					}
					const job = field === 'jobId' ? undefined : { kind: 'task', id: ids[item] };
					expect(json).toMatchObject({ error: expect.stringContaining('node') });
					expect((json.details as IDataObject).job).toEqual(job);
				}
			},
		);
	});
});
