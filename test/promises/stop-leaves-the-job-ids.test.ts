import { resumeExecution } from '../harness';
import { pass, run, withOrders, world } from '../support/orders';
import {
	filesOf,
	finishedJob,
	hold,
	itemsOf,
	newVideo,
	runningJob,
	waiting,
	stopAt,
	timeLimited,
} from '../support/waits';

withOrders();

it('ends a wait within a second of Stop, and names the job and its last state', async () => {
	const job = runningJob();
	const { onStart, pressed } = stopAt(async () => await pass(25));
	const workflow = waiting({ whileWaiting: 'hold' });
	const settings = { executionOrder: 'v1', saveExecutionProgress: true } as const;
	const stopped = await run({ ...workflow, settings }, [], { input: itemsOf([job]), onStart });
	expect(stopped.status).toBe('canceled');
	expect(Date.now() - pressed.at).toBeLessThan(1000);
	expect(stopped.errorOf('Wait for Video')?.description).toContain(`${job.id} (last status`);
});

it('ends a parked wait in its poll and a download, and names the jobs', async () => {
	const [polled, loaded] = [runningJob(), finishedJob('video', newVideo())];
	for (const [job, route] of [
		[polled, 'task'],
		[loaded, 'download'],
	] as const) {
		const parked = await run(waiting(), [], { input: itemsOf([job]) });
		let stop = () => {};
		const when = () => (stop(), true);
		world.gateway.fault({ route, action: 'stall', when });
		const stopped = await resumeExecution(parked, { onStart: (press) => void (stop = press) });
		expect(stopped.status).toBe('canceled');
		expect(stopped.errorOf('Wait for Video')?.description).toContain(job.id);
	}
});

it('names the jobs when Timeout Workflow ends the execution', async () => {
	const jobs = [runningJob(), runningJob()];
	const input = itemsOf(jobs);
	const waited = await run(timeLimited(waiting(), 1), [], { input, mode: 'manual' });
	expect(waited.status).toBe('canceled');
	for (const { id } of jobs) expect(waited.errorOf('Wait for Video')?.description).toContain(id);
});

it('collects the video of a job whose wait was stopped', async () => {
	const job = runningJob();
	const { onStart } = stopAt(async () => await pass(5));
	await run(waiting(), [], { input: itemsOf([job]), mode: 'manual', onStart });
	world.gateway.jobs.complete(job.id, newVideo());
	expect(await filesOf(await hold([job]))).toHaveLength(1);
});
