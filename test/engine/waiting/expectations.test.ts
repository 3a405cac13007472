import type { IDataObject, StructuredChunk } from 'n8n-workflow';
import type { JobKind } from '../../../nodes/shared/service/protocol/jobs';
import { processMemory } from '../../../nodes/shared/n8n/execution/processMemory';
import { processedItems, resumeExecution, resumeToEnd, type WorkflowRun } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { withGateway } from '../../support/http/withGateway';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { eventsOf } from '../../support/workflows/log';
import { hintsOf, startWaits } from '../../support/workflows/parkedWaits';
import {
	chain,
	createReferenceVideo,
	createVideo,
	waitForVideo,
} from '../../support/workflows/workflows';

describe('when a video is expected', () => {
	const video = mp4Of(1_000);
	const { gateway, media, runWorkflow } = withGateway({
		isTimeSimulated: true,
		jobSeconds: Infinity,
	});

	/** Orders videos and waits for them, as n8n runs an active workflow. */
	const order = async (
		kind: JobKind,
		{ count = 1, whileWaiting = 'hold', options = {}, onChunk }: Order = {},
	): Promise<WorkflowRun> => {
		const create = kind === 'task' ? createReferenceVideo() : createVideo();
		const wait = waitForVideo({ whileWaiting, download: false, options });
		return await runWorkflow(chain(create, wait), {
			mode: onChunk ? 'webhook' : 'trigger',
			onChunk,
			input: Array.from({ length: count }, () => ({ json: { media } as never })),
		});
	};
	interface Order {
		count?: number;
		whileWaiting?: string;
		options?: IDataObject;
		onChunk?: (chunk: StructuredChunk) => void;
	}

	/** Lets all jobs finish after this many seconds, and orders videos until their length is known. */
	const learn = async (kind: JobKind, seconds: number, options: IDataObject = {}) => {
		gateway.on('job', ({ id, phase }) => {
			if (phase !== 'queued') return;
			if (seconds === 0) gateway.jobs.complete(id, video);
			else setTimeout(() => gateway.jobs.complete(id, video), seconds * 1000);
		});
		const run = await resumeToEnd(await order(kind, { count: 5, options }));
		gateway.removeAllListeners('job');
		return run;
	};
	const later = async (run: WorkflowRun, seconds: number) => {
		await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
		return await resumeExecution(run);
	};
	const park = async (kind: JobKind, count = 1) =>
		await order(kind, { count, whileWaiting: 'park' });

	it('is learned from earlier jobs, shown while the execution is parked, and kept over a restart', async () => {
		const learned = await learn('task', 200);
		const seconds = learned.items('Wait for Video').map(({ json }) => json.waited_seconds);
		for (const waited of seconds) expect(Math.abs(Number(waited) - 205)).toBeLessThan(10);
		const range = '(videos of beta-2.7-r2v took 3.5 minutes in the last 5)';
		const parked = await park('task');
		expect(hintsOf(parked)).toEqual([expect.stringMatching(/^About 3.5 minutes more \(/)]);
		expect(hintsOf(parked)[0]).toContain(range);

		processMemory.clear();
		const running = await later(parked, 60);
		expect(hintsOf(running)).toEqual([
			expect.stringMatching(/^Waited for 60 seconds\. About 2.5 minutes more \(/),
		]);
		const [{ json }] = running.items('Wait for Video');
		const left = (Date.parse(String(json.expected_at)) - Date.now()) / 1000;
		expect(Math.abs(left - 140)).toBeLessThan(15);
	});

	it('is said for several jobs together', async () => {
		await learn('video', 100);
		const parked = await park('video', 3);
		const { job } = gateway.ledger[5];
		gateway.jobs.complete(String(job), video);
		expect(hintsOf(await later(parked, 40))).toEqual([
			expect.stringMatching(/^1 of 3 ready after 40 seconds\. About (50|60|70) seconds more \(/),
		]);
	});

	it('is not learned from a job that was finished before the first poll, or that nobody saw begin', async () => {
		await learn('task', 0);
		const jobs = earlierTasks(gateway, 5);
		const waits = chain(waitForVideo({ whileWaiting: 'hold', download: false }));
		for (const { id } of jobs) setTimeout(() => gateway.jobs.complete(id, video), 100_000);
		const run = await resumeToEnd(await startWaits(gateway, waits, jobs));
		expect(run.items('Wait for Video').map(({ json }) => json.waited_seconds)).toHaveLength(5);
		expect(hintsOf(await park('task'))).toEqual([
			expect.stringMatching(/^A reference video usual/),
		]);
		expect(processedItems.snapshot.get('harness Wait for Video') ?? []).toEqual([]);
	});

	it.each([
		[1_000, 'About 18 minutes more'],
		[200, 'A reference video usually'],
	])(
		'is learned with a Poll Interval of three minutes where it says enough: %d s',
		async (seconds, hint) => {
			await learn('task', seconds, { pollIntervalSeconds: 180 });
			expect(hintsOf(await park('task'))[0]).toMatch(hint);
		},
	);

	it('is not learned from jobs that finished while n8n was down', async () => {
		const jobs = gateway.ledger.length;
		const running = await later(await park('task', 5), 20);
		for (const { job } of gateway.ledger.slice(jobs)) gateway.jobs.complete(String(job), video);
		expect((await later(running, 3_600)).status).toBe('success');
		expect(hintsOf(await park('task'))).toEqual([
			expect.stringMatching(/^A reference video usual/),
		]);
	});

	it('is kept in one call of n8n for all jobs that end in a pass', async () => {
		const jobs = earlierTasks(gateway, 30);
		const json = jobs.map(({ id }) => ({ json: { task_id: id, status: 'submitted' } }));
		setTimeout(() => jobs.forEach(({ id }) => gateway.jobs.complete(id, video)), 100_000);
		const calls = processedItems.calls.length;
		const node = waitForVideo({ whileWaiting: 'hold', download: false });
		const run = await resumeToEnd(await runWorkflow(chain(node), { input: json, mode: 'trigger' }));
		expect(run.status).toBe('success');
		// The first ones look up what is known.
		expect(processedItems.calls.slice(calls).length).toBeLessThan(10);
		processMemory.clear();
		const next = await startWaits(gateway, chain(waitForVideo()), earlierTasks(gateway, 1));
		expect(hintsOf(next)[0]).toContain('in the last 20)');
	});

	it('does not depend on the store of n8n', async () => {
		processedItems.precede = () => {
			throw new Error('SQLITE_BUSY');
		};
		const job = earlierJob(gateway, 'video', video);
		const run = await startWaits(gateway, chain(waitForVideo()), [job]);
		expect((await resumeToEnd(run)).status).toBe('success');
	});

	it('is not said of a job that has ended under a word of its own', async () => {
		gateway.once('job', ({ id }) => {
			const job = { task_id: id, status: 'processed', result_url: 'https://files.example/a.mp4' };
			gateway.fault({ route: 'task', action: 'answer', body: JSON.stringify(job) });
		});
		const lines: string[] = [];
		await order('task', {
			onChunk: ({ type, content = '', metadata }) =>
				void (type === 'item' && metadata.nodeName === 'Wait for Video' && lines.push(content)),
		});
		expect(lines).toEqual([expect.stringMatching(/: processed\n\n$/)]);
	});

	it('is in each line of a chat and in the log, which says at the end how long it took', async () => {
		await learn('video', 60);
		const lines: string[] = [];
		gateway.once(
			'job',
			({ id }) => void setTimeout(() => gateway.jobs.complete(id, video), 300_000),
		);
		const run = await order('video', {
			onChunk({ type, content = '', metadata }) {
				if (type === 'item' && metadata.nodeName === 'Wait for Video') lines.push(content);
			},
		});
		expect(lines[0]).toMatch(/: \w+\. About \d+ seconds more \(videos of vid-3\\\.1 took/);
		expect(lines.join('')).toContain('more than three times as long as usual');
		expect(new Set(lines).size).toBe(lines.length);
		expect(lines.at(-1)).toMatch(/: completed\n\n$/);
		const events = (await eventsOf(run)).map(({ metadata }) => metadata);
		expect(events[2]).toMatchObject({ event: 'job progress', expectedSeconds: expect.any(Number) });
		const { waited_seconds: waitedSeconds } = run.items('Wait for Video')[0].json;
		expect(events.at(-1)).toMatchObject({ event: 'video delivered', waitedSeconds });
	});
});
