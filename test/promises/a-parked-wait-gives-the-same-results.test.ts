import { EngineProcess, resumeExecution, resumeToEnd } from '../harness';
import { sha256 } from '../support/data/sha256';
import { chain, core, waitForVideo } from '../support/workflows/workflows';
import { charged, chargedJobs, create, pass, run, withOrders, world } from '../support/orders';
import {
	downloads,
	filesOf,
	finishAfter,
	finishedJob,
	itemsOf,
	newVideo,
	pollsOf,
	resumeWhenDue,
	results,
	runningJob,
	waiting,
} from '../support/waits';

const made = [newVideo('1'), newVideo('2'), newVideo('3')];
const done = core('Done', 'noOp');

/** Three jobs of both kinds, which finish in another order than they were ordered in. */
const threeJobs = () => {
	const jobs = [runningJob('task'), finishedJob('video', made[1]), runningJob('video')];
	finishAfter(jobs[0], 90, made[0]);
	finishAfter(jobs[2], 40, made[2]);
	return jobs;
};

withOrders();

it.each(['auto', 'park', 'hold'])(
	'gives each item its own video, together and in order, through one output: %s',
	async (whileWaiting) => {
		const jobs = threeJobs();
		const workflow = chain(waitForVideo({ whileWaiting }), done);
		const execution = await resumeToEnd(await run(workflow, [], { input: itemsOf(jobs) }));
		expect(await filesOf(execution)).toEqual(made.map((video) => sha256(video)));
		const expected = jobs.map(({ id }, item) => ({
			json: { job_id: id, status: 'completed', video_url: expect.any(String) },
			pairedItem: { item },
		}));
		expect(results(execution)).toMatchObject(expected);
		expect(execution.data.resultData.runData.Done).toHaveLength(1);
		expect(execution.items('Done')).toEqual(
			results(execution).map((item, at) => ({ ...item, pairedItem: { item: at } })),
		);
		expect(downloads()).toHaveLength(3);
	},
);

it('parks with Automatic where nobody waits, and keeps running where somebody does', async () => {
	const statuses = [];
	for (const mode of ['trigger', 'manual', 'integrated'] as const) {
		const input = itemsOf([finishedJob('task', made[0])]);
		statuses.push((await run(waiting(), [], { input, mode })).status);
	}
	expect(statuses).toEqual(['waiting', 'success', 'success']);
});

it('shows each job and its state while it is parked', async () => {
	const job = runningJob();
	const parked = await run(waiting(), [], { input: itemsOf([job]) });
	expect(results(parked)).toMatchObject([{ json: { job_id: job.id } }]);
	const polled = await resumeExecution(parked);
	expect(results(polled)).toMatchObject([{ json: { status: 'in_progress', progress: 30 } }]);
});

it('resumes after a restart of n8n, and downloads no video a second time', async () => {
	const jobs = threeJobs();
	let parked = await run(waiting(), [], { input: itemsOf(jobs) });
	while (downloads().length === 0) parked = await resumeWhenDue(parked);
	const ended = await new EngineProcess().run(async () => await resumeToEnd(parked));
	if (ended === 'killed') throw new Error('Nobody has killed this process');
	expect(await filesOf(ended)).toEqual(made.map((video) => sha256(video)));
	expect([downloads().length, pollsOf(jobs[1]).length]).toEqual([3, 1]);
});

it('does not count the time for which n8n was down, and orders nothing again after it', async () => {
	const parked = await run(chain(create('a video'), waitForVideo()));
	await pass(8 * 60 * 60);
	// The job has finished meanwhile, but the first poll does not show it.
	const body = JSON.stringify({ id: chargedJobs()[0], status: 'in_progress' });
	world.gateway.fault({ route: 'video', action: 'answer', body });
	expect((await resumeToEnd(parked)).status).toBe('success');
	expect(charged()).toBe(1);
});
