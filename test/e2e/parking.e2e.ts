import type { IBinaryData, INodeParameters, IWorkflowBase } from 'n8n-workflow';
import { sampleVideo } from '../support/data/samples';
import type { Job } from '../../gateway';
import { earlierTasks } from '../support/workflows/earlierJobs';
import { fetchPublished, isOpen, isUnderWay, itemsOf, type Execution } from '../n8n/owner';
import { withStage } from './support/stage';
import { until, within } from '../support/time/until';
import {
	byId,
	chain,
	core,
	type Node,
	startedBy,
	startedByWebhook,
	waitForVideo,
} from '../support/workflows/workflows';

/** n8n 1 keeps a file in the item itself, and gives its size only as a rounded text. */
const sizeOf = (file?: IBinaryData) =>
	file?.bytes ?? Buffer.from(file?.data ?? '', 'base64').length;

/**
 * Whether parking works in this n8n, and what callers get that wait for a response. All workflows start together,
 * because n8n looks for parked executions once a minute.
 */
describe('waits in a complete n8n', () => {
	const stage = withStage({ jobSeconds: Infinity });
	let count = 0;

	interface Flow {
		workflow: IWorkflowBase;
		jobs: Job[];
		response: Promise<unknown>;
	}

	const list = (jobs: Job[]) =>
		core(
			'List',
			'set',
			{
				mode: 'raw',
				jsonOutput: JSON.stringify({ jobs: jobs.map(({ id }) => ({ task_id: id })) }),
			},
			3.4,
		);
	const each = core('Each', 'splitOut', { fieldToSplitOut: 'jobs' });
	const wait = (whileWaiting?: string): Node => waitForVideo(whileWaiting ? { whileWaiting } : {});
	const after = core('After', 'noOp');

	/** Calls a webhook whose workflow waits for earlier jobs. */
	const call = async (
		webhook: INodeParameters,
		nodes: Node[],
		jobs = earlierTasks(stage.gateway, 2),
	): Promise<Flow> => {
		const path = `parking-${Date.now()}-${count++}`;
		const workflow = await stage.create(
			startedByWebhook({ path, ...webhook }, list(jobs), each, ...nodes),
		);
		await stage.owner.publish(workflow);
		const response = fetchPublished(`${stage.owner.url}/webhook/${path}`).then(
			async (received) => (await received.json()) as unknown,
		);
		await until(async () => (await stage.owner.executionsOf(workflow)).length > 0);
		return { workflow, jobs, response };
	};

	const listed = async ({ workflow }: Pick<Flow, 'workflow'>) =>
		(await stage.owner.executionsOf(workflow))[0];
	const latest = async (flow: Pick<Flow, 'workflow'>): Promise<Execution> =>
		await stage.owner.execution((await listed(flow)).id);
	const becomes = async (flow: Pick<Flow, 'workflow'>, status: string) => {
		await until(async () => (await listed(flow))?.status === status);
		return await latest(flow);
	};
	const pollsOf = ({ jobs }: Flow) =>
		stage.gateway.requests.filter(({ jobId }) => jobs.some(({ id }) => id === jobId));
	const finish = async ({ jobs }: Pick<Flow, 'jobs'>) => {
		for (const { id } of jobs) stage.gateway.jobs.complete(id, await sampleVideo(id));
	};

	let canary: Flow;
	let stopped: Flow;
	/** None, unless n8n resumed it before it was stopped: n8n looks for parked executions once a minute. */
	let pollsWhenStopped: ReturnType<typeof pollsOf>;
	let held: Flow;
	let stoppedHeld: Flow;
	let seen: Pick<Flow, 'workflow' | 'jobs'>;
	let lastNode: Flow;
	let lastNodeParked: Flow;
	let respondNode: Flow;
	let respondNodeParked: Flow;
	let parent: Flow;

	it('n8n still does everything on which parking rests', async () => {
		// Once n8n has looked for parked executions, it leaves them alone for a minute.
		const resumed = await call({}, [wait(), after]);
		const hasPolled = () => pollsOf(resumed).length > 0;
		await within(async () => hasPolled() || !isOpen(await listed(resumed)), 150);
		canary = await call({}, [wait(), after]);
		await within(async () => pollsOf(canary).length > 0 || !isUnderWay(await listed(canary)), 10);
		const { status, waitTill, data } = await latest(canary);
		const memory = data.executionData?.contextData['node:Wait for Video'];
		const parksAgain = async () => (await listed(resumed)).status === 'waiting';

		const facts: Record<string, boolean> = {
			'putExecutionToWait parks the execution': status === 'waiting',
			'the column waitTill has the time': waitTill !== null && !isNaN(Date.parse(waitTill)),
			'the stored data have no waitTill': !('waitTill' in data),
			'the stored data have what getContext had': Object.keys(memory?.waits ?? {}).length === 1,
			'a resumed execution runs the node again, and does not skip it': hasPolled(),
			'the node finds what it stored, and parks again': await within(parksAgain, 10),
			'all passes are one run of the node':
				(await latest(resumed)).data.resultData.runData['Wait for Video']?.length === 1,
		};
		expect(Object.keys(facts).filter((fact) => !facts[fact])).toEqual([]);
	}, 200_000);

	it('a wait parks before its first poll, unless the caller waits for the response', async () => {
		const respond = core('Respond', 'respondToWebhook', { respondWith: 'allIncomingItems' }, 1.1);
		stopped = await call({}, [wait(), after]);
		held = await call({}, [wait('hold'), after]);
		stoppedHeld = await call({}, [wait('hold'), after]);
		lastNode = await call({ responseMode: 'lastNode' }, [wait(), after]);
		lastNodeParked = await call({ responseMode: 'lastNode' }, [wait('park'), after]);
		respondNode = await call({ responseMode: 'responseNode' }, [wait(), respond]);
		respondNodeParked = await call({ responseMode: 'responseNode' }, [wait('park'), respond]);
		const child = await stage.create(
			startedBy(
				core('Called', 'executeWorkflowTrigger', { inputSource: 'passthrough' }, 1.1),
				wait('park'),
				after,
			),
		);
		await stage.owner.publishCalled(child);
		const calling = core('Call', 'executeWorkflow', { workflowId: byId(child.id) }, 1.2);
		parent = await call({}, [calling, after]);

		for (const flow of [
			canary,
			stopped,
			held,
			stoppedHeld,
			lastNodeParked,
			respondNodeParked,
			parent,
		]) {
			await becomes(flow, 'waiting');
		}
		for (const flow of [lastNode, respondNode]) await becomes(flow, 'running');
		expect(pollsOf(canary)).toEqual([]);
		expect(itemsOf(await latest(canary), 'Wait for Video').map(({ json }) => json)).toEqual(
			canary.jobs.map(({ id }) => ({ job_id: id, next_poll: expect.any(String) })),
		);
	}, 200_000);

	it('a parked wait that is stopped leaves its job IDs in the execution', async () => {
		const { id } = await latest(stopped);
		await stage.owner.request('POST', `/executions/${id}/stop`);
		const execution = await becomes(stopped, 'canceled');
		pollsWhenStopped = pollsOf(stopped);
		expect(itemsOf(execution, 'Wait for Video').map(({ json }) => json.job_id)).toEqual(
			stopped.jobs.map((job) => job.id),
		);
	});

	it('the editor shows a parked wait and its execution', async () => {
		const jobs = earlierTasks(stage.gateway, 2);
		const editor = await stage.editor();
		const workflow = await stage.create({
			...chain(list(jobs), each, wait('park'), after),
			name: 'Product videos',
		});
		await editor.openWorkflow(workflow);
		await editor.page.getByTestId('execute-workflow-button').click();
		await becomes({ workflow }, 'waiting');
		const panel = await editor.openNode('Wait for Video');
		await panel.getByText('No input needed: unless it was stopped').waitFor();
		const ids = jobs.map(({ id }) => id).join(', ');
		await panel.getByText(`Video jobs ${ids}: waiting for the first status check`).waitFor();
		await editor.takePicture('parked-node');
		await editor.closeNode();
		await editor.page.goto(`${editor.url}/home/executions`);
		await editor.page
			.getByTestId('global-execution-list-item')
			.filter({ hasText: 'Product videos' })
			.waitFor();
		seen = { workflow, jobs };
	});

	it('a caller of a parked wait gets the first job as the response', async () => {
		const [job] = lastNodeParked.jobs;
		expect(await lastNodeParked.response).toMatchObject({ job_id: job.id });
	});

	it('a parked wait hands on all videos in order in one run, and a stopped one polls no more', async () => {
		await until(() => pollsOf(canary).length >= canary.jobs.length);
		expect(pollsOf(canary)).toHaveLength(canary.jobs.length);
		for (const flow of [canary, held, lastNode, lastNodeParked]) await finish(flow);
		for (const flow of [respondNode, respondNodeParked, parent, seen]) await finish(flow);
		for (const flow of [canary, lastNodeParked]) {
			const execution = await becomes(flow, 'success');
			const items = itemsOf(execution, 'After');
			expect(items.map(({ json }) => json.task_id)).toEqual(flow.jobs.map(({ id }) => id));
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			expect(items.map(({ binary }) => sizeOf(binary?.data))).toEqual(
				flow.jobs.map(({ video }) => video?.bytes.length),
			);
			expect(execution.data.resultData.runData['Wait for Video']).toHaveLength(1);
		}
		expect(itemsOf(await becomes(seen, 'success'), 'After')).toHaveLength(2);
		expect(pollsOf(stopped)).toEqual(pollsWhenStopped);
	}, 200_000);

	it('a caller that waits for the response gets the finished videos', async () => {
		const [job] = lastNode.jobs;
		expect(await lastNode.response).toMatchObject({ task_id: job.id });
		for (const flow of [respondNode, respondNodeParked]) {
			const expected = flow.jobs.map(
				({ id }) => expect.objectContaining({ task_id: id }) as object,
			);
			expect(await flow.response).toEqual(expected);
		}
		expect((await latest(lastNode)).data.resultData.runData['Wait for Video'][0].hints).toEqual([
			expect.objectContaining({
				message: expect.stringContaining('because whoever called Start waits for the response'),
			}),
		]);
	}, 200_000);

	it('a parked wait in a sub-workflow gives its result to the calling workflow', async () => {
		const execution = await becomes(parent, 'success');
		expect(itemsOf(execution, 'After').map(({ json }) => json.task_id)).toEqual(
			parent.jobs.map(({ id }) => id),
		);
	}, 200_000);

	it('a wait that is stopped while it keeps running leaves the job IDs in the execution', async () => {
		await becomes(stoppedHeld, 'running');
		await until(() => pollsOf(stoppedHeld).length > 0);
		const { id } = await latest(stoppedHeld);
		await stage.owner.request('POST', `/executions/${id}/stop`);
		const execution = await becomes(stoppedHeld, 'canceled');
		expect(itemsOf(execution, 'Each').map(({ json }) => json.task_id)).toEqual(
			stoppedHeld.jobs.map((job) => job.id),
		);
	}, 200_000);
});
