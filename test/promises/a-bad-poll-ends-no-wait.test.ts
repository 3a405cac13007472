import type { FaultAction } from '../../gateway';
import { resumeToEnd } from '../harness';
import { sha256 } from '../support/data/sha256';
import { nginxPage } from '../support/http/scriptedServer';
import { chain, waitForVideo } from '../support/workflows/workflows';
import { create, pass, run, withOrders, world } from '../support/orders';
import {
	filesOf,
	finishAfter,
	finishedJob,
	hold,
	kinds,
	newVideo,
	pollsOf,
	results,
	runningJob,
} from '../support/waits';

const video = newVideo();
const page = (status: number): FaultAction => ({
	action: 'answer',
	status,
	body: nginxPage(status),
	headers: { 'content-type': 'text/html' },
});
const bad: FaultAction[] = [
	{ action: 'reset' },
	{ action: 'error', status: 429, code: 'rate_limited' },
	{ action: 'error', status: 500, code: 'server_error' },
	page(200),
	page(404),
	{ action: 'answer', body: '{"status": "in_pro' },
	{ action: 'stall' },
];

withOrders();

/** The simulated seconds between the polls of a job. */
const pauses = (job: { id: string }) =>
	pollsOf(job).flatMap(({ at }, index, all) => (index ? (at - all[index - 1].at) / 1000 : []));

it.each(kinds)('survives every kind of bad poll of a %s in one wait', async (kind) => {
	const job = runningJob(kind);
	for (const fault of bad) world.gateway.fault({ ...fault, route: kind, skip: 1 });
	finishAfter(job, 300, video);
	expect(await filesOf(await hold([job]))).toEqual([sha256(video)]);
	expect(pollsOf(job).filter(({ fault }) => fault)).toHaveLength(bad.length);
});

it('waits as long as Retry-After says', async () => {
	const job = runningJob();
	const headers = { 'retry-after': '90' };
	const busy = { action: 'error', status: 429, code: 'rate_limited', headers } as const;
	world.gateway.fault({ ...busy, route: 'task' });
	finishAfter(job, 20);
	await hold([job]);
	expect(pauses(job)[0]).toBeGreaterThanOrEqual(90);
});

it('waits on in a state that it does not know', async () => {
	const job = runningJob();
	const body = JSON.stringify({ task_id: job.id, status: 'polishing', progress: 80 });
	world.gateway.fault({ route: 'task', action: 'answer', body, times: 3 });
	finishAfter(job, 25, video);
	expect(await filesOf(await hold([job]))).toEqual([sha256(video)]);
});

it('polls a job that has finished or failed never again', async () => {
	const [finished, failed, running] = [finishedJob('task', video), runningJob(), runningJob()];
	world.gateway.jobs.fail(failed.id, 'no such style');
	finishAfter(running, 60);
	const execution = await hold([finished, failed, running], {}, { onError: 'continueErrorOutput' });
	expect([results(execution).length, results(execution, 1).length]).toEqual([2, 1]);
	expect([finished, failed].map((job) => pollsOf(job).length)).toEqual([1, 1]);
	expect(pollsOf(running).length).toBeGreaterThan(4);
});

it('polls a job at most every 3 seconds, however many items and executions wait for it', async () => {
	const job = runningJob();
	finishAfter(job, 20);
	const waitFrom = async (second: number) => {
		await pass(second);
		return await hold([job, job], { pollIntervalSeconds: 3 });
	};
	for (const wait of await Promise.all([waitFrom(0), waitFrom(1.5)]))
		expect(results(wait)).toHaveLength(2);
	expect(pauses(job).length).toBeGreaterThan(4);
	expect(Math.min(...pauses(job))).toBeGreaterThanOrEqual(3);
});

it('takes a response about another job for a bad poll, and gives no item the video of another', async () => {
	const [job, other] = [runningJob(), finishedJob('task', newVideo())];
	const body = JSON.stringify({
		task_id: other.id,
		status: 'completed',
		result_url: world.media[0].url,
	});
	world.gateway.fault({ route: 'task', action: 'answer', body });
	finishAfter(job, 30, video);
	expect(await filesOf(await hold([job]))).toEqual([sha256(video)]);
	expect(pollsOf(job).length).toBeGreaterThan(1);
});

it('waits for a job of which the creation told nothing but the ID, and which nobody knows at first', async () => {
	const job = runningJob('video');
	const body = JSON.stringify({ code: 'success', data: job.id });
	world.gateway.fault({ route: 'videoCreate', action: 'answer', body });
	const unknown = { action: 'error', status: 404, code: 'video_not_found' } as const;
	world.gateway.fault({ ...unknown, route: 'video', times: 4 });
	finishAfter(job, 60, video);
	const execution = await resumeToEnd(await run(chain(create('a video'), waitForVideo())));
	expect(await filesOf(execution)).toEqual([sha256(video)]);
});
