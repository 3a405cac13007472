import type { IDataObject, WorkflowExecuteMode } from 'n8n-workflow';
import { type RunOptions, type WorkflowJson } from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { hintsOf, resume, startWaits } from '../../support/workflows/parkedWaits';
import { mp4Of } from '../../support/files/boxes';
import {
	asTool,
	chain,
	core,
	createVideo,
	startedByWebhook,
	to,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Whether Wait for Video parks the execution or keeps running: its parameter While Waiting, and who started the workflow.

const video = mp4Of(1_000);
const { gateway, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: 0,
	render: async () => video,
});

const done = core('Done', 'noOp');
const workflowOf = (options: IDataObject = {}) => chain(waitForVideo({ options }), done);

/** The workflow as an import or a program may leave it: with connections of a node that is not there. */
const withoutNode = (
	gone: string,
	{ nodes, connections }: ReturnType<typeof startedByWebhook>,
) => ({
	nodes: nodes.filter(({ name }) => name !== gone),
	connections: { ...connections, Start: { main: [to('Wait for Video')] } },
});

describe('Automatic', () => {
	const wait = waitForVideo();
	const respond = core('Respond', 'respondToWebhook', { respondWith: 'text' });
	const startFinished = async (
		workflow: WorkflowJson,
		mode: WorkflowExecuteMode,
		options: Partial<RunOptions> = {},
	) => {
		const [job] = earlierTasks(gateway, 1);
		gateway.jobs.complete(job.id, video);
		return await startWaits(gateway, workflow, [job], { mode, startNode: 'Start', ...options });
	};

	it.each<[string, WorkflowExecuteMode, WorkflowJson]>([
		['the failure of another workflow', 'error', chain(wait)],
		['a webhook that responds at once', 'webhook', startedByWebhook({ path: 'a' }, wait)],
		[
			'a webhook that has responded before',
			'webhook',
			startedByWebhook({ path: 'a', responseMode: 'responseNode' }, respond, wait),
		],
	])('parks with Automatic when the workflow is started by %s', async (_, mode, workflow) => {
		expect((await startFinished(workflow, mode)).status).toBe('waiting');
	});

	it.each<[string, WorkflowExecuteMode, WorkflowJson, string]>([
		[
			'a webhook that responds with the last node',
			'webhook',
			startedByWebhook({ path: 'a', responseMode: 'lastNode' }, wait),
			'whoever called Start waits for the response',
		],
		[
			'a webhook that responds in a later node',
			'webhook',
			startedByWebhook({ path: 'a', responseMode: 'responseNode' }, wait, respond),
			'whoever called Start waits for the response',
		],
		[
			'a webhook of a workflow that lacks a node',
			'webhook',
			withoutNode('Gone', startedByWebhook({}, core('Gone', 'noOp'), wait)),
			'a connection of the workflow leads to a node that is missing',
		],
		['the command line', 'cli', chain(wait), 'what started this workflow waits for its result'],
	])(
		'keeps running with Automatic when the workflow is started by %s, and says why',
		async (_, mode, workflow, reason) => {
			const run = await startFinished(workflow, mode);
			expect(run.status).toBe('success');
			expect(hintsOf(run)).toEqual([expect.stringContaining(`because ${reason}`)]);
			expect(hintsOf(run)[0]).toContain('unless “Save execution progress” is on');
		},
	);

	it('keeps running with Automatic while a chat waits for a streamed response, and says why', async () => {
		const streamed = await startFinished(chain(wait), 'webhook', { onChunk: () => undefined });
		expect(hintsOf(streamed)[0]).toContain('the response is shown to somebody while it is made');
	});

	it('keeps running with Automatic in an unsaved workflow, and says why', async () => {
		const run = await startFinished({ ...chain(wait), id: '' }, 'trigger');
		expect(run.status).toBe('success');
		expect(hintsOf(run)[0]).toContain('only a saved workflow can be parked');
	});
});

describe('Survive a Restart', () => {
	const parameters = { whileWaiting: 'park' };

	it('keeps running as a tool even with Survive a Restart', async () => {
		const [job] = earlierTasks(gateway, 1);
		gateway.jobs.complete(job.id, video);
		const tool = asTool(waitForVideo({ ...parameters, jobId: job.id }));
		const workflow = { nodes: [core('Start', 'manualTrigger'), tool] };
		// Newer agents let the engine run the tool like any other node.
		const run = await runWorkflow(workflow, { startNode: tool.name });
		expect(run.status).toBe('success');
		const [task] = run.data.resultData.runData['Wait for Video'];
		expect(Object.values(task.data ?? {}).flat(2)).toMatchObject([{ json: { id: job.id } }]);
		expect(hintsOf(run)).toEqual([]);
	});
});

describe('Keep Running', () => {
	const hold = waitForVideo({ whileWaiting: 'hold' });

	it('lets n8n store the execution again before a second wait when it has ordered in between', async () => {
		const again = createVideo({}, { name: 'Create 2' });
		const second = { ...hold, name: 'Wait 2' };
		let run = await startWaits(gateway, chain(createVideo(), hold, again, second, done), [
			{ id: '1' },
		]);
		run = await resume(run);
		expect(run.status).toBe('waiting');
		expect(run.data.resultData.lastNodeExecuted).toBe('Wait 2');
		expect((await resume(run)).status).toBe('success');
	});
});

it.each([
	[60, 5, 'the main process', true],
	[600, 5, 'the main process', false],
	[-1, 5, 'the main process', false],
	[60, 5, 'a worker', false],
])(
	'decides whether to hint at a workflow timeout of %d s with its own Timeout of %d minutes in %s: %p',
	async (seconds, own, process, isHinted) => {
		const [job] = earlierTasks(gateway, 1);
		const settings = { executionOrder: 'v1', executionTimeout: seconds } as const;
		const workflow = { ...workflowOf({ timeoutMinutes: own }), settings };
		const run = await startWaits(gateway, workflow, [job], { inWorker: process === 'a worker' });
		const hint = expect.stringContaining('stops this wait after 1 min') as unknown;
		const hints = hintsOf(run).filter((text) => !text.includes('Video job'));
		expect(hints).toEqual(isHinted ? [hint] : []);
	},
);
