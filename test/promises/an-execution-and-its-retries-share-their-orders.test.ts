import { retryExecution } from '../harness';
import { stoppedBy } from '../support/workflows/interruptions';
import { chain, loopOver } from '../support/workflows/workflows';
import {
	charged,
	chargedJobs,
	create,
	jobsOf,
	orderedPrompts,
	refuseNext,
	run,
	shownBy,
	withOrders,
	world,
} from '../support/workflows/orders';

const workflow = chain(create('a reference video'));

/** An execution that somebody stops as soon as its order was accepted. */
const stopped = async () =>
	await stoppedBy(
		(stop) => world.gateway.once('job', stop),
		async (onStart) => await run(workflow, ['Waves'], { onStart }),
	);

withOrders();

it('gives all Retries of an execution the jobs that one of them ordered', async () => {
	refuseNext('a reference video', 'Fog');
	const failed = await run(workflow, ['Fog', 'Waves']);
	const jobs = jobsOf(await retryExecution(failed));
	expect(jobsOf(await retryExecution(failed))).toEqual(jobs);
	expect(charged()).toBe(2);
});

it('orders once in two Retries at the same moment', async () => {
	refuseNext('a reference video');
	const failed = await run(workflow);
	const both = await Promise.all([retryExecution(failed), retryExecution(failed)]);
	expect(both.map(({ status }) => status)).toContain('success');
	expect(charged()).toBe(1);
	expect(jobsOf(await retryExecution(failed))).toEqual(chargedJobs());
});

it('gives a Retry after Stop the job of its own execution, and no other execution that job', async () => {
	const { stored } = await stopped();
	const [own] = chargedJobs();
	const other = await run(workflow);
	expect(shownBy(other)).not.toContain(own);
	expect(jobsOf(other)).toEqual([chargedJobs()[1]]);
	expect(jobsOf(await retryExecution(stored))).toEqual([own]);
	expect(charged()).toBe(2);
});

it('gives the Retry the video of the same input item when its prompt changes by itself', async () => {
	const worded = create('a reference video', { prompt: '={{ $json.prompt }} {{ $execution.id }}' });
	refuseNext('a reference video', 'Fog');
	const failed = await run(chain(worded), ['Waves', 'Fog']);
	const [waves] = chargedJobs();
	expect(jobsOf(await retryExecution(failed))).toEqual([waves, chargedJobs()[1]]);
	expect(charged()).toBe(2);
});

it('orders what the user has changed before the Retry', async () => {
	refuseNext('a reference video', 'Fog');
	const failed = await run(workflow, ['Waves', 'Fog']);
	const longer = chain(create('a reference video', { options: { duration: 3 } }));
	expect(jobsOf(await retryExecution(failed, { workflow: longer }))).toHaveLength(2);
	expect(orderedPrompts()).toEqual(['Fog', 'Waves', 'Waves']);
});

it('orders the same again in each run of a loop and in each new execution', async () => {
	await run(loopOver(create('a reference video')), ['Waves', 'Waves']);
	await run(workflow);
	expect(new Set(chargedJobs()).size).toBe(3);
});
