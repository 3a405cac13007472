import {
	orderedHint,
	uncollectedHint,
} from '../../../nodes/ModelGateway/resources/shared/createJob';
import { retryExecution, type RunOptions } from '../../harness';
import { charged, chargedJobs, create, run, withOrders, world } from '../../support/orders';
import {
	chain,
	core,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

// A manual run talks to the person who pressed the button.

withOrders();

const video = create('a video');
const manual: RunOptions = { mode: 'manual' };
const lastJob = () => chargedJobs().at(-1) ?? '';

const hintsAfter = async (later: Node[], options = manual) =>
	(await run(chain(video, ...later), ['Waves'], options)).hintsOf('Create');

it.each<[string, Node[], boolean]>([
	['no node behind it', [], true],
	['a disabled Wait for Video behind it', [{ ...waitForVideo(), disabled: true }], true],
	['Wait for Video behind another node', [core('Next', 'noOp'), waitForVideo()], false],
	['Model: Get Many behind it', [modelGateway({ resource: 'model', operation: 'getAll' })], true],
	[
		'Get Status behind it',
		[modelGateway({ resource: 'video', operation: 'get', videoId: '={{ $json.id }}' })],
		false,
	],
])('says that a video was ordered, and how to get it, with %s: %#', async (_, later, isSaid) =>
	expect(await hintsAfter(later)).toEqual(isSaid ? [orderedHint] : []),
);

it('keeps an order of a workflow with a connection to a node that is missing', async () => {
	const workflow = chain(video, core('Next', 'noOp'), core('Gone', 'noOp'));
	workflow.nodes.pop();
	const result = await run(workflow, ['Waves'], manual);
	expect(result.data.resultData.error?.message).toBe('Destination node not found');
	expect((await retryExecution(result)).items('Create')).toMatchObject([
		{ json: { id: lastJob() } },
	]);
	expect(charged()).toBe(1);
});

it('says nothing to nobody: in an execution that starts by itself', async () =>
	expect(await hintsAfter([], { mode: 'trigger' })).toEqual([]));

it('names the videos that earlier runs ordered until a node has collected them', async () => {
	await hintsAfter([]);
	const first = lastJob();
	await hintsAfter([]);
	const second = lastJob();
	expect(await hintsAfter([])).toEqual([orderedHint, uncollectedHint([first, second])]);
	const third = lastJob();

	const collect = async (node: Node) => await run(chain(node), ['Waves'], manual);
	await collect(waitForVideo({ jobId: first }));
	await collect(modelGateway({ resource: 'video', operation: 'getContent', videoId: second }));
	expect(await hintsAfter([waitForVideo()])).toEqual([uncollectedHint([third])]);
});

it('still names a video whose file Get Content could not download', async () => {
	await hintsAfter([]);
	const first = lastJob();
	world.gateway.fault({ route: 'download', action: 'answer', status: 404, times: 99 });
	const collect = modelGateway({ resource: 'video', operation: 'getContent', videoId: first });
	const result = await run(chain(collect), ['Waves'], manual);
	expect(result.errorOf(collect.name)?.message).toContain(first);
	expect(await hintsAfter([waitForVideo()])).toEqual([uncollectedHint([first])]);
});
