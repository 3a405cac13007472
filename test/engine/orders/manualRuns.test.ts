import {
	orderedHint,
	uncollectedHint,
} from '../../../nodes/ModelGateway/resources/shared/createJob';
import { retryExecution, type RunOptions } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { mp4Of } from '../../support/files/boxes';
import {
	chain,
	core,
	createVideo,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

// A manual run talks to the person who pressed the button.

const video = mp4Of(1_000);
const { gateway, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: 0,
	render: async () => video,
});

const create = createVideo();
const lastJob = () => gateway.ledger.at(-1)?.job ?? '';

const hintsAfter = async (later: Node[], options: RunOptions = {}) => {
	const result = await runWorkflow(chain(create, ...later), { ...options });
	return result.hintsOf(create.name);
};

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
	const workflow = chain(create, core('Next', 'noOp'), core('Gone', 'noOp'));
	workflow.nodes.pop();
	const result = await runWorkflow(workflow);
	expect(result.data.resultData.error?.message).toBe('Destination node not found');
	expect((await retryExecution(result)).items('Create')).toMatchObject([
		{ json: { id: lastJob() } },
	]);
	expect(gateway.ledger).toHaveLength(1);
});

it('says nothing to nobody: in an execution that starts by itself', async () =>
	expect(await hintsAfter([], { mode: 'trigger', startNode: 'Start' })).toEqual([]));

it('names the videos that earlier runs ordered until a node has collected them', async () => {
	await hintsAfter([]);
	const first = lastJob();
	await hintsAfter([]);
	const second = lastJob();
	expect(await hintsAfter([])).toEqual([orderedHint, uncollectedHint([first, second])]);
	const third = lastJob();

	const collect = async (node: Node) => await runWorkflow(chain(node));
	await collect(waitForVideo({ jobId: first }));
	await collect(modelGateway({ resource: 'video', operation: 'getContent', videoId: second }));
	expect(await hintsAfter([waitForVideo()])).toEqual([uncollectedHint([third])]);
});

it('still names a video whose file Get Content could not download', async () => {
	await hintsAfter([]);
	const first = lastJob();
	gateway.fault({ route: 'download', action: 'answer', status: 404, times: 99 });
	const collect = modelGateway({ resource: 'video', operation: 'getContent', videoId: first });
	const result = await runWorkflow(chain(collect));
	expect(result.errorOf(collect.name)?.message).toContain(first);
	expect(await hintsAfter([waitForVideo()])).toEqual([uncollectedHint([first])]);
});
