import type { IBinaryData, INodeParameters, IWorkflowBase } from 'n8n-workflow';
import { sampleVideo } from '../support/samples';
import type { Job } from '../gateway';
import { earlierTasks } from '../support/earlierJobs';
import { fetchPublished, itemsOf, type Execution } from '../n8n/owner';
import { openStage, type Stage } from './support/stage';
import { until } from '../support/until';
import {
	byId,
	chain,
	core,
	type Node,
	startedBy,
	startedByWebhook,
	waitForVideo,
} from '../support/workflows';

/** n8n 1 keeps a file in the item itself, and tells its size in rounded words only. */
const sizeOf = (file?: IBinaryData) =>
	file?.bytes ?? Buffer.from(file?.data ?? '', 'base64').length;

/**
 * Whether parking works in this n8n, and what those get who wait for an answer. All workflows begin together: n8n
 * looks for parked executions once a minute.
 */
describe('a wait in n8n', () => {
	let stage: Stage;
	let count = 0;

	beforeAll(async () => void (stage = await openStage({ jobSeconds: Infinity })));
	afterAll(async () => await stage.close());

	interface Flow {
		workflow: IWorkflowBase;
		jobs: Job[];
		/** What the caller gets. */
		answer: Promise<unknown>;
	}

	const listed = (jobs: Job[]) =>
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

	/** Calls a webhook that leads to a wait for earlier jobs. */
	const call = async (
		webhook: INodeParameters,
		nodes: Node[],
		jobs = earlierTasks(stage.gateway, 2),
	): Promise<Flow> => {
		const path = `parking-${Date.now()}-${count++}`;
		const workflow = await stage.create(
			startedByWebhook({ path, ...webhook }, listed(jobs), each, ...nodes),
		);
		await stage.owner.publish(workflow);
		const answer = fetchPublished(`${stage.owner.url}/webhook/${path}`).then(
			async (response) => (await response.json()) as unknown,
		);
		await until(async () => (await stage.owner.executionsOf(workflow)).length > 0);
		return { workflow, jobs, answer };
	};

	const latest = async ({ workflow }: Pick<Flow, 'workflow'>): Promise<Execution> => {
		const [{ id }] = await stage.owner.executionsOf(workflow);
		return await stage.owner.execution(id);
	};
	const becomes = async (flow: Pick<Flow, 'workflow'>, status: string) => {
		await until(async () => (await stage.owner.executionsOf(flow.workflow))[0]?.status === status);
		return await latest(flow);
	};
	const pollsOf = ({ jobs }: Flow) =>
		stage.gateway.requests.filter(({ jobId }) => jobs.some(({ id }) => id === jobId));
	const finish = async ({ jobs }: Pick<Flow, 'jobs'>) => {
		for (const { id } of jobs) stage.gateway.jobs.complete(id, await sampleVideo(id));
	};

	let canary: Flow;
	let stopped: Flow;
	/** None, unless n8n took it up before it was stopped: it looks for parked executions once a minute. */
	let pollsWhenStopped: ReturnType<typeof pollsOf>;
	let held: Flow;
	let stoppedHeld: Flow;
	let seen: Pick<Flow, 'workflow' | 'jobs'>;
	let lastNode: Flow;
	let lastNodeParked: Flow;
	let answeredLater: Flow;
	let answeredLaterParked: Flow;
	let parent: Flow;

	it('parks as soon as it begins, or stays open', async () => {
		const respond = core('Respond', 'respondToWebhook', { respondWith: 'allIncomingItems' }, 1.1);
		// Once n8n has looked for parked executions, it leaves them alone for a minute.
		const first = await call({}, [wait(), after]);
		await until(() => pollsOf(first).length > 0);
		canary = await call({}, [wait(), after]);
		stopped = await call({}, [wait(), after]);
		held = await call({}, [wait('hold'), after]);
		stoppedHeld = await call({}, [wait('hold'), after]);
		lastNode = await call({ responseMode: 'lastNode' }, [wait(), after]);
		lastNodeParked = await call({ responseMode: 'lastNode' }, [wait('park'), after]);
		answeredLater = await call({ responseMode: 'responseNode' }, [wait(), respond]);
		answeredLaterParked = await call({ responseMode: 'responseNode' }, [wait('park'), respond]);
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
			answeredLaterParked,
			parent,
		]) {
			await becomes(flow, 'waiting');
		}
		for (const flow of [lastNode, answeredLater]) await becomes(flow, 'running');
		expect(pollsOf(canary)).toEqual([]);
		expect(itemsOf(await latest(canary), 'Wait for Video').map(({ json }) => json)).toEqual(
			canary.jobs.map(({ id }) => ({ job_id: id, next_poll: expect.any(String) })),
		);
	}, 200_000);

	it('leaves the jobs in the execution that is stopped while it is parked, and asks no more', async () => {
		const { id } = await latest(stopped);
		await stage.owner.request('POST', `/executions/${id}/stop`);
		const execution = await becomes(stopped, 'canceled');
		pollsWhenStopped = pollsOf(stopped);
		expect(itemsOf(execution, 'Wait for Video').map(({ json }) => json.job_id)).toEqual(
			stopped.jobs.map((job) => job.id),
		);
	});

	it('is seen in the editor', async () => {
		const jobs = earlierTasks(stage.gateway, 2);
		const editor = await stage.editor();
		const workflow = await stage.create({
			...chain(listed(jobs), each, wait('park'), after),
			name: 'Product videos',
		});
		await editor.openWorkflow(workflow);
		await editor.page.getByTestId('execute-workflow-button').click();
		await becomes({ workflow }, 'waiting');
		const panel = await editor.openNode('Wait for Video');
		await panel.getByText('No input needed: your videos are being generated').waitFor();
		await panel.getByText(`Video task ${jobs[0].id}: waiting for the first status check`).waitFor();
		await editor.takePicture('parked-node');
		await editor.closeNode();
		await editor.page.goto(`${editor.url}/home/executions`);
		await editor.page
			.getByTestId('global-execution-list-item')
			.filter({ hasText: 'Product videos' })
			.waitFor();
		seen = { workflow, jobs };
	});

	it('answers a caller who was not waited for with the first job', async () => {
		const [job] = lastNodeParked.jobs;
		expect(await lastNodeParked.answer).toMatchObject({ job_id: job.id });
	});

	it('hands on all videos, in order, in one run', async () => {
		await until(() => pollsOf(canary).length >= canary.jobs.length);
		expect(pollsOf(canary)).toHaveLength(canary.jobs.length);
		for (const flow of [canary, held, lastNode, lastNodeParked]) await finish(flow);
		for (const flow of [answeredLater, answeredLaterParked, parent, seen]) await finish(flow);
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

	it('answers those with the video who were waited for', async () => {
		const [job] = lastNode.jobs;
		expect(await lastNode.answer).toMatchObject({ task_id: job.id });
		for (const flow of [answeredLater, answeredLaterParked]) {
			const expected = flow.jobs.map(
				({ id }) => expect.objectContaining({ task_id: id }) as object,
			);
			expect(await flow.answer).toEqual(expected);
		}
		expect((await latest(lastNode)).data.resultData.runData['Wait for Video'][0].hints).toEqual([
			expect.objectContaining({
				message: expect.stringContaining('because whoever called Start waits for the response'),
			}),
		]);
	}, 200_000);

	it('gives its result to the workflow that called it', async () => {
		const execution = await becomes(parent, 'success');
		expect(itemsOf(execution, 'After').map(({ json }) => json.task_id)).toEqual(
			parent.jobs.map(({ id }) => id),
		);
	}, 200_000);

	it('leaves the jobs in the execution that is stopped while it keeps running', async () => {
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
