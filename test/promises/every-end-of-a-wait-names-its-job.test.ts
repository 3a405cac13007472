import { sha256 } from '../support/data/sha256';
import { nginxPage } from '../support/http/scriptedServer';
import { chain } from '../support/workflows/workflows';
import { create, refuseNext, run, withOrders, world } from '../support/orders';
import {
	downloads,
	filesOf,
	finishedJob,
	hold,
	newVideo,
	results,
	runningJob,
	waiting,
} from '../support/waits';

const video = newVideo();
const continues = { onError: 'continueRegularOutput' } as const;

withOrders();

interface End {
	/** The end of the wait. */
	arrange(id: string): void;
	/** The words of the error beside the ID of the job. */
	says: RegExp;
	details: object;
}
const refusal = (status: number, code: string) =>
	({ action: 'error', status, code, route: 'task', times: Infinity }) as const;
const ends: Record<string, End> = {
	'the timeout': { arrange: () => {}, says: /did not finish within .*30 %/, details: {} },
	'a failed job': {
		arrange: (id) => world.gateway.jobs.fail(id, { code: 'upstream_error', message: 'too dark' }),
		says: /failed: too dark/,
		details: { billed: 'unknown', code: 'upstream_error' },
	},
	'a key that is refused': {
		arrange: () => void world.gateway.fault(refusal(401, 'invalid_api_key')),
		says: /key/i,
		details: { status: 401 },
	},
	'a job that the service does not find': {
		arrange: () => void world.gateway.fault(refusal(404, 'task_not_found')),
		says: /not/,
		details: { status: 404 },
	},
	'a download that fails': {
		arrange(id) {
			world.gateway.jobs.complete(id, video);
			const body = nginxPage(500);
			world.gateway.fault({ route: 'download', action: 'answer', status: 500, body, times: 99 });
		},
		says: /download/,
		details: { billed: 'yes' },
	},
};

it.each(Object.keys(ends))('names the job, its last state and what to do: %s', async (end) => {
	const { arrange, says, details } = ends[end];
	const job = runningJob();
	arrange(job.id);
	const [{ json }] = results(await hold([job], { timeoutMinutes: 3 }, continues));
	expect(json.error).toMatch(says);
	expect(JSON.stringify(json)).toContain(job.id);
	expect(json.details).toMatchObject({
		job: { id: job.id, kind: 'task' },
		advice: expect.any(String),
		...details,
	});
	const failed = await hold([job], { timeoutMinutes: 3 });
	const { message, description } = failed.errorOf('Wait for Video') ?? {};
	expect(`${message} ${description}`).toContain(job.id);
});

it('says of an ID that the service does not know that it is of neither kind', async () => {
	const typed = waiting({ jobId: 'video_unknown', whileWaiting: 'hold' });
	const message = (await run(typed, ['-'], { mode: 'manual' })).errorOf('Wait for Video')?.message;
	expect(message).toMatch(/video_unknown .*: neither a reference video nor a video has this ID/);
});

it('promises no video that is gone, according to the answer', async () => {
	const job = runningJob();
	world.gateway.jobs.complete(job.id, video);
	const gone = { route: 'download', action: 'answer', status: 410, body: '', times: 99 } as const;
	world.gateway.fault(gone);
	const [{ json }] = results(await hold([job], {}, continues));
	expect(json.details).toMatchObject({ advice: expect.stringContaining('its file is gone') });
	expect(JSON.stringify(json)).not.toContain('not lost');
});

it.each([
	{ status: 'completed', progress: 100, error: { message: 'All outputs were filtered' } },
	{ status: 'failed', content_filter: { reasons: ['All outputs were filtered'] } },
])('says why a job has no video, and promises none: %j', async (said) => {
	const job = runningJob();
	const body = JSON.stringify({ task_id: job.id, ...said });
	world.gateway.fault({ route: 'task', action: 'answer', body, times: 99 });
	const [{ json }] = results(await hold([job], {}, continues));
	expect(json.error).toContain('All outputs were filtered');
	expect(json.details).toMatchObject({ billed: 'unknown', retry_can_help: false });
	expect(JSON.stringify(json)).not.toMatch(/not lost|Collect it/);
});

it('collects a video by its typed job ID after the wait for it has ended', async () => {
	const jobs = [runningJob('task'), runningJob('video')];
	for (const job of jobs) {
		expect((await hold([job], { timeoutMinutes: 1 })).status).toBe('error');
		world.gateway.jobs.complete(job.id, video);
		const typed = waiting({ jobId: ` ${job.id} `, whileWaiting: 'hold' });
		const collected = await run(typed, ['-'], { mode: 'manual' });
		expect(await filesOf(collected)).toEqual([sha256(video)]);
	}
});

it('names all jobs of the list when one of them fails, and those that Create has ordered', async () => {
	const [failing, running, finished] = [runningJob(), runningJob(), finishedJob('task', video)];
	world.gateway.jobs.fail(failing.id);
	const failed = await hold([failing, running, finished]);
	const { message, description } = failed.errorOf('Wait for Video') ?? {};
	expect(message).toContain(failing.id);
	expect(description).toMatch(/On Error.*Continue/);
	for (const { id } of [running, finished]) expect(description).toContain(id);
	expect(description).not.toContain(failing.id);
	expect(downloads()).toEqual([]);

	refuseNext('a video', 'Fog');
	const refused = await run(chain(create('a video')), ['Waves', 'Fog']);
	expect(refused.errorOf('Create')?.description).toContain(world.gateway.ledger[0].job);
});
