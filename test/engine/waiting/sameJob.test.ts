import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { resumeExecution, runWorkflow, type RunOptions } from '../../harness';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { eventsOf } from '../../support/workflows/log';
import { hintsOf, itemsFor, resume } from '../../support/workflows/parkedWaits';
import { sampleVideo } from '../../support/data/samples';
import { chain, core, credentialFor, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Several items of a Wait for Video that name the same job.

let gateway: Gateway;
let video: Uint8Array;

beforeAll(async () => void (video = await sampleVideo()));
withGateway({ isTimeSimulated: true, jobSeconds: Infinity }, (world) => void ({ gateway } = world));

const createJobs = (count: number) => earlierTasks(gateway, count);
const pollsOf = (id: string) =>
	gateway.requests.filter(({ route, url }) => route !== 'download' && url.includes(id));
const continues = { onError: 'continueRegularOutput' } as const;

describe('a wait that keeps running', () => {
	/** Each item has settings of its own. */
	const own = {
		timeoutMinutes: '={{ $json.timeout ?? 20 }}',
		pollIntervalSeconds: '={{ $json.interval ?? 10 }}',
		fileName: '={{ $json.name }}',
	};
	const waitWith = async (input: IDataObject[], more: Partial<RunOptions> = {}) =>
		await runWorkflow(chain(waitForVideo({ options: own }, continues)), {
			credentials: credentialFor(gateway),
			input: input.map((json) => ({ json })),
			// The caller waits, so the node keeps running.
			mode: 'integrated',
			...more,
		});
	const gapsOf = (id: string) => {
		const times = pollsOf(id).map(({ at }) => at);
		return times.slice(1).map((time, index) => time - times[index]);
	};

	it('gives each item with the same job its own timeout', async () => {
		const [{ id }] = createJobs(1);
		setTimeout(() => gateway.jobs.complete(id, video), 60_000);
		const timeouts = [0.2, 5, 0.4];
		const result = await waitWith(timeouts.map((timeout) => ({ task_id: id, timeout })));
		const items = result.items('Wait for Video').map(({ json }) => json.error ?? json.job_id);
		expect(items).toEqual([
			expect.stringContaining(`${id} did not finish within 0.2 minutes`),
			id,
			expect.stringContaining(`${id} did not finish within 0.4 minutes`),
		]);
	});

	it('polls a shared job at the shortest interval of its items', async () => {
		const [{ id }] = createJobs(1);
		setTimeout(() => gateway.jobs.complete(id, video), 62_000);
		const begun = Date.now();
		await waitWith([
			{ task_id: id, interval: 30 },
			{ task_id: id, interval: 4 },
		]);
		const times = pollsOf(id).map(({ at }) => Math.round((at - begun) / 1000));
		expect(times).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 86]);
	});

	it('shares the polls of a job as soon as its kind is known', async () => {
		const [{ id }] = createJobs(1);
		setTimeout(() => gateway.jobs.complete(id, video), 60_000);
		const result = await waitWith([{ id }, { task_id: id }, { id }]);
		expect(result.items('Wait for Video').map(({ json }) => json.task_id)).toEqual([id, id, id]);
		expect(pollsOf(id).filter(({ route }) => route === 'video')).toHaveLength(1);
		expect(Math.min(...gapsOf(id))).toBeGreaterThanOrEqual(2_990);
	});

	it('requests the content of a shared video job once', async () => {
		const { id } = earlierJob(gateway, 'video', video);
		const result = await waitWith([{ id }, { id }, { id }]);
		expect(result.items('Wait for Video').map(({ json }) => json.job_id)).toEqual([id, id, id]);
		expect(pollsOf(id).map(({ route }) => route)).toEqual(['video', 'videoContent']);
	});

	it('names a shared job once in the log when Stop is pressed', async () => {
		const [{ id }] = createJobs(1);
		const run = await waitWith([{ task_id: id }, { task_id: id }], {
			onStart: (cancel) => void setTimeout(cancel, 1_500),
		});
		const stopped = (await eventsOf(run)).filter(
			({ metadata }) => metadata.event === 'node stopped',
		);
		expect(stopped.map(({ metadata }) => metadata.jobId)).toEqual([id]);
	});

	it('streams the progress of a shared job once', async () => {
		const [{ id }] = createJobs(1);
		gateway.jobs.start(id);
		setTimeout(() => gateway.jobs.complete(id, video), 15_000);
		const chunks: string[] = [];
		await waitWith([{ task_id: id }, { task_id: id }], {
			mode: 'webhook',
			onChunk: ({ content }) => void (content && chunks.push(content.trim())),
		});
		expect(chunks).toEqual([
			`Video job ${id}: in progress, 30 %`,
			`Video job ${id}: completed, 100 %`,
		]);
	});
});

describe('a parked wait', () => {
	const done = core('Done', 'noOp');
	const options = {
		timeoutMinutes: '={{ $json.timeout ?? 20 }}',
		pollIntervalSeconds: '={{ $json.interval ?? 10 }}',
	};
	const startWith = async (json: IDataObject[], whileWaiting = 'park') =>
		await runWorkflow(chain(waitForVideo({ options, whileWaiting }, continues), done), {
			credentials: credentialFor(gateway),
			input: json.map((fields) => ({ json: fields })),
			mode: 'trigger',
		});

	it('keeps the timeout of each item with the same job from pass to pass', async () => {
		const [{ id }] = createJobs(1);
		let run = await startWith([
			{ task_id: id, timeout: 0.3 },
			{ task_id: id, timeout: 20 },
		]);
		for (let passes = 0; passes < 4; passes++) run = await resume(run);
		expect(pollsOf(id)).toHaveLength(4);
		gateway.jobs.complete(id, video);
		run = await resume(run);
		expect(run.status).toBe('success');
		expect(run.items('Done').map(({ json }) => json.error ?? json.job_id)).toEqual([
			expect.stringContaining(`${id} did not finish within 0.3 minutes`),
			id,
		]);
		expect(pollsOf(id)).toHaveLength(5);
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
		expect(nextPolls[0] - nextPolls[1]).toBeGreaterThan(39_000);
		expect((run.waitTill as Date).getTime()).toBe(nextPolls[1]);
		run = await resume(await resume(run));
		expect(pollsOf(id)).toHaveLength(3);
	});

	it('names a shared job once in its hint and in the log', async () => {
		const [{ id }] = createJobs(1);
		const parked = await startWith([{ task_id: id }, { task_id: id }, { id }]);
		const run = await resumeExecution(parked);
		expect(hintsOf(run)).toEqual([`Video job ${id}: submitted, 0 %`]);
		expect(run.items('Wait for Video').map(({ json }) => json.job_id)).toEqual([id, id, id]);
		const events = await eventsOf(run);
		expect(events.map(({ metadata }) => [metadata.event, metadata.jobId])).toEqual([
			['wait parked', id],
			['job progress', id],
		]);
	});

	it('polls a shared job once in each pass, and gives each item its file', async () => {
		const [job, other] = createJobs(2);
		const wait = waitForVideo({ options: { fileName: '={{ $json.name }}' } });
		const parked = await runWorkflow(chain(wait, done), {
			credentials: credentialFor(gateway),
			input: itemsFor([job, other, job]),
			mode: 'trigger',
		});
		let run = await resume(parked);
		gateway.jobs.complete(job.id, video);
		run = await resume(run);
		gateway.jobs.complete(other.id, video);
		run = await resume(run);
		const items = run.items('Done');
		expect(items.map(({ json }) => json.task_id)).toEqual([job.id, other.id, job.id]);
		const names = items.map(({ binary }) => binary?.data.fileName);
		expect(names).toEqual(['Video 0.mp4', 'Video 1.mp4', 'Video 2.mp4']);
		expect(pollsOf(job.id)).toHaveLength(2);
	});
});
