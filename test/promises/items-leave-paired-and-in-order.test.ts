import { resumeToEnd } from '../harness';
import { chain, type NodeSettings } from '../support/workflows/workflows';
import {
	create,
	isFor,
	jobsOf,
	orderedPrompts,
	pass,
	refuseNext,
	routeOf,
	run,
	videos,
	withOrders,
	world,
} from '../support/orders';
import type { Fields } from '../support/orders';
import {
	finishAfter,
	finishedJob,
	itemsOf,
	newVideo,
	results,
	runningJob,
	waiting,
} from '../support/waits';

const prompts = ['Clouds', 'Fog', 'Rain', 'Waves'];
const paired = (count: number) => Array.from({ length: count }, (_, item) => ({ item }));
const errorOutput = { onError: 'continueErrorOutput' } as const;
const regularOutput = { onError: 'continueRegularOutput' } as const;

withOrders();

it.each([...videos, 'a chat'] as const)(
	'gives each item its own result, in the order of the items, whichever comes first: %s',
	async (thing) => {
		for (const [index, prompt] of prompts.entries()) {
			const until = pass(10 - index);
			world.gateway.fault({ route: routeOf(thing), action: 'stall', until, when: isFor(prompt) });
		}
		const execution = await run(chain(create(thing)), prompts);
		const items = execution.items('Create');
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(paired(4));
		for (const [index, job] of jobsOf(execution).entries()) {
			const order = world.gateway.jobs.get(String(job))?.order;
			expect(order?.prompt ?? items[index].json.text).toContain(prompts[index]);
		}
	},
);

it.each(videos)(
	'lets the other items pass when one is refused, with one record wherever the error goes: %s',
	async (thing) => {
		const failedIn = async (settings: NodeSettings, output: number) => {
			refuseNext(thing, 'Fog');
			const execution = await run(chain(create(thing, { settings })), prompts);
			const items = execution.items('Create', { output });
			return { execution, failed: items.find(({ json }) => json.error) };
		};
		const [byOutput, inLine] = [await failedIn(errorOutput, 1), await failedIn(regularOutput, 0)];
		expect(byOutput.execution.items('Create').map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 2 },
			{ item: 3 },
		]);
		expect(byOutput.failed).toMatchObject({
			json: { details: { billed: 'no', code: 'invalid_prompt' } },
			pairedItem: { item: 1 },
		});
		const fields = ({ failed }: typeof byOutput) => [
			failed?.json.error,
			{ ...(failed?.json.details as Fields), request_id: '', raw_body: '' },
		];
		expect(fields(inLine)).toEqual(fields(byOutput));
		const inPlace = inLine.execution.items('Create').map(({ json }) => 'error' in json);
		expect(inPlace).toEqual([false, true, false, false]);
		expect(orderedPrompts()).toHaveLength(6);
	},
);

it('lets the other videos pass when one job fails, in a held wait and in a parked one', async () => {
	for (const whileWaiting of ['hold', 'park']) {
		const jobs = [runningJob(), runningJob('video'), finishedJob('video', newVideo())];
		world.gateway.jobs.fail(jobs[0].id, { message: 'too dark' });
		finishAfter(jobs[1], 30);
		const workflow = waiting({ whileWaiting }, errorOutput);
		const execution = await resumeToEnd(await run(workflow, [], { input: itemsOf(jobs) }));
		expect(results(execution)).toMatchObject([
			{ json: { job_id: jobs[1].id }, pairedItem: { item: 1 } },
			{ json: { job_id: jobs[2].id }, pairedItem: { item: 2 } },
		]);
		expect(results(execution, 1)).toMatchObject([
			{ json: { details: { job: { id: jobs[0].id } } }, pairedItem: { item: 0 } },
		]);
	}
});
