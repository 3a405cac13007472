import { registerTypes, retryExecution, type RunOptions } from '../harness';
import { onLastJob, stoppedBy, withItems } from '../support/workflows/interruptions';
import { testNode } from '../support/workflows/testNode';
import { chain, loopOver, type NodeSettings } from '../support/workflows/workflows';
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
} from '../support/orders';

const workflow = chain(create('a reference video'));

/** An execution that somebody stops as soon as its orders were accepted. */
const stopped = async (ordering = workflow, prompts = ['Waves'], options: RunOptions = {}) =>
	await stoppedBy(
		(stop) => onLastJob(world.gateway, prompts.length, stop),
		async (onStart) => await run(ordering, prompts, { ...options, onStart }),
	);

withOrders({ jobSeconds: 60 });

it.each([
	['by default', {}],
	['with Send Again', { ifAnswerLost: 'resend' }],
])('orders once in two Retries at the same moment %s', async (_, options) => {
	refuseNext('a reference video');
	const failed = await run(chain(create('a reference video', { options })));
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

it('takes no job of another stopped execution in n8n 1, where a Retry has no token of its execution', async () => {
	const ofN8n1 = { hasResumeToken: false };
	await stopped(workflow, ['Waves'], ofN8n1);
	refuseNext('a reference video');
	const failed = await run(workflow, ['Waves'], ofN8n1);
	const retried = await retryExecution(failed);
	expect(shownBy(retried)).not.toContain(chargedJobs()[0]);
	expect(jobsOf(retried)).toEqual([chargedJobs()[1]]);
});

it('names all jobs of a stopped loop when its Retry fails before it reaches their items', async () => {
	const loop = (settings: NodeSettings = {}) => loopOver(create('a reference video', { settings }));
	const prompts = ['Waves', 'Clouds'];
	const { stored } = await stopped(loop({ onError: 'continueRegularOutput' }), prompts);
	const other = withItems(stored, [{ json: { prompt: 'New', media: world.media } }]);
	const error = (await retryExecution(other, { workflow: loop() })).errorOf('Create');
	expect(chargedJobs()).toHaveLength(2);
	for (const job of chargedJobs()) expect(error?.description).toContain(job);
});

it('gives the Retry its job unchanged, although a later node had changed the item in place', async () => {
	let isChanging = true;
	const change = testNode('change', {}, async function () {
		if (isChanging) for (const item of this.getInputData()) delete item.json.output;
		return [this.getInputData()];
	});
	registerTypes({ nodes: [change] });
	const changing = chain(create('a reference video'), { name: 'Change', type: 'test.change' });
	const { stored } = await stopped(changing);
	await retryExecution(stored);
	isChanging = false;
	expect(jobsOf(await retryExecution(stored))).toEqual(chargedJobs());
	expect(charged()).toBe(1);
});
