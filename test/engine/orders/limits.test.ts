import type { INodeExecutionData } from 'n8n-workflow';
import type { Route } from '../../../gateway';
import {
	listSearch,
	registerTypes,
	resumeExecution,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowRun,
} from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { embeddingsUser } from '../../support/workflows/embeddingsUser';
import {
	charged,
	create,
	requested,
	run as order,
	withOrders,
	world,
	type Fields,
} from '../../support/orders';
import {
	byId,
	chain,
	credentialFor,
	embeddings,
	waitForVideo,
	withSubNodes,
} from '../../support/workflows/workflows';

/** Asks for one vector after another, as a vector store may. */
const store = embeddingsUser(async (embeddings) => {
	for (const query of ['one', 'two', 'three']) await embeddings.embedQuery(query);
	return {};
});

describe('the limits of a credential', () => {
	withOrders();
	beforeAll(() => registerTypes({ nodes: [store] }));

	const credential = (fields: Fields) =>
		credentialFor(world.gateway, { advanced: true, ...fields });
	const texts = (count: number) => Array.from({ length: count }, (_, index) => `Text ${index}`);

	const requestsTo = (...routes: Route[]) =>
		world.gateway.requests.filter(({ route }) => route && routes.includes(route));
	const expectSpread = (milliseconds: number) =>
		world.gateway.requests.slice(1).forEach(({ at }, index) => {
			expect(at - world.gateway.requests[index].at).toBeGreaterThanOrEqual(milliseconds);
		});

	it('applies the limits to all users of a key: a node, a vector store, the list of models', async () => {
		const credentials = credential({ requestsPerSecond: 1 });
		const stored = runWorkflow(
			withSubNodes(chain({ name: 'Store', type: 'test.store' }), [
				'ai_embedding',
				embeddings({ model: byId('embed-1') }),
			]),
			{ credentials },
		);
		const listed = listSearch('n8n-nodes-model-gateway.modelGateway', 'searchModels', {
			credentials,
			parameters: { resource: 'chat' },
		});
		const chats = order(chain(create('a chat')), texts(3), { credentials });
		const [run] = await Promise.all([stored, chats, listed]);
		expect(run.items('Store')).toHaveLength(1);
		expect(requestsTo('embedding', 'chat', 'models')).toHaveLength(7);
		expectSpread(1000);
	});

	it('sends nothing more after a refusal while orders wait for a limit, and places them on Retry', async () => {
		const credentials = credential({ requestsPerSecond: 0.1 });
		const refused = { status: 400, code: 'invalid_prompt', skip: 1 };
		world.gateway.fault({ route: 'videoCreate', action: 'error', ...refused });
		const failed = await order(chain(create('a video')), texts(5), { credentials });
		expect(failed.errorOf('Create')?.message).toContain('Item 1: Could not create the video');
		expect(failed.errorOf('Create')?.description).not.toContain('canceled');
		expect([requested('a video'), charged()]).toEqual([2, 1]);
		expect((await retryExecution(failed)).items('Create')).toHaveLength(5);
		expect(charged()).toBe(5);
	});

	describe('Wait for Video under a limit', () => {
		const waitFor = async (count: number, fields: Fields, options: Partial<RunOptions> = {}) => {
			const jobs = earlierTasks(world.gateway, count);
			const whileWaiting = options.mode ? 'park' : 'hold';
			const node = waitForVideo(
				{ download: false, whileWaiting, options: { timeoutMinutes: 5 } },
				{ onError: 'continueRegularOutput' },
			);
			const run = await runWorkflow(chain(node), {
				credentials: credential(fields),
				input: jobs.map(({ id }) => ({ json: { task_id: id } })) as INodeExecutionData[],
				...options,
			});
			return { jobs, run };
		};
		const passes = async (run: WorkflowRun, each: (pass: number) => void = () => {}) => {
			let pass = 0;
			for (; run.status === 'waiting'; pass++) {
				each(pass);
				// n8n looks for due executions once a minute.
				jest.setSystemTime(Math.max(Date.now() + 40_000, (run.waitTill as Date).getTime()));
				run = await resumeExecution(run);
			}
			return run;
		};

		it('parks again rather than wait long for a limit, and polls the jobs next that were held back', async () => {
			const fields = { requestsPerSecond: 0.1 };
			const { jobs, run } = await waitFor(6, fields, { mode: 'trigger' });
			const lengths: number[] = [];
			let last = 0;
			const ended = await passes(run, (pass) => {
				if (pass > 0) lengths.push(Date.now() - last);
				last = Date.now() + 40_000;
				if (pass === 1)
					for (const { id } of jobs) world.gateway.jobs.complete(id, new Uint8Array(0));
			});
			// A pass ends when its polls have waited for 20 seconds.
			expect(Math.max(...lengths)).toBeLessThan(30_000);
			expect(ended.items('Wait for Video').map(({ json }) => json.status)).toEqual(
				jobs.map(() => 'completed'),
			);
			const polled = requestsTo('task').map(({ jobId }) => jobId);
			expect(new Set(polled.slice(0, 6)).size).toBe(6);
			expectSpread(10_000);
		});
	});
});
