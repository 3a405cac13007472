import type { IDataObject, INode } from 'n8n-workflow';
import {
	EngineProcess,
	registerTypes,
	retryExecution,
	runWorkflow,
	type RunOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { agent } from '../../support/workflows/agent';
import { mp4Of } from '../../support/files/boxes';
import { onLastJob, storedBy } from '../../support/workflows/interruptions';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	loopOver,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

type Credentials = RunOptions['credentials'];

const idempotencyHeaderName = 'Idempotency-Key';

describe('a create with an idempotency key', () => {
	const video = mp4Of(1_000);

	beforeAll(() => registerTypes({ nodes: [agent] }));
	const { gateway, media } = withGateway({
		isTimeSimulated: true,
		jobSeconds: 0,
		idempotencyHeader: idempotencyHeaderName,
		render: async () => video,
	});

	const withKeyHeader = (more: IDataObject = {}) =>
		credentialFor(gateway, { advanced: true, idempotencyHeaderName, ...more });
	const orders = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));
	const order = async (
		settings: Partial<INode> = {},
		{ credentials = withKeyHeader(), input = orders('A boat', 'A boat') } = {},
	) => await runWorkflow(chain(createReferenceVideo({}, settings)), { credentials, input });
	const creates = () => gateway.requests.filter(({ route }) => /Create$/.test(route ?? ''));
	const keys = () => creates().map(({ headers }) => headers['idempotency-key']);
	const distinctKeys = () => new Set(keys());
	const loseResponses = (times: number) =>
		gateway.fault({ route: 'referenceVideoCreate', action: 'reset', accepted: true, times });

	it('sends a create again with the same key on each Retry until its response arrives', async () => {
		const lost = gateway.fault({
			route: 'referenceVideoCreate',
			action: 'reset',
			accepted: true,
			times: Infinity,
		});
		const failed = await order();
		expect(failed.errorOf('Create')?.description).toContain(
			"n8n's Retry of this execution sends it again with the same key",
		);
		expect(failed.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
		const again = await retryExecution(failed);
		expect(again.status).toBe('error');
		lost.remove();
		const retried = await retryExecution(again);
		expect(retried.items('Create')).toHaveLength(2);
		expect(distinctKeys().size).toBe(2);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('uses other keys when the workflow is executed again, and in each run of a loop', async () => {
		const input = orders('A boat', 'A boat');
		await order({}, { credentials: withKeyHeader(), input });
		await order({}, { credentials: withKeyHeader(), input });
		expect(distinctKeys().size).toBe(4);
		const workflow = loopOver(createReferenceVideo());
		const looped = await runWorkflow(workflow, { credentials: withKeyHeader(), input });
		expect(looped.status).toBe('success');
		expect(distinctKeys().size).toBe(6);
		expect(gateway.ledger).toHaveLength(6);
	});

	it.each<[string, (failed: WorkflowRun) => void]>([
		[
			'when n8n stored nothing of it, as after a kill',
			({ data }) => {
				expect(Object.keys(data.executionData?.contextData ?? {})).toContain('node:Create');
				delete data.executionData?.contextData['node:Create'];
			},
		],
		// It gives executions no such token. The stored data of the failed execution name their origin.
		['in n8n 1', ({ data }) => void delete data.resumeToken],
	])('sends a create again with the same key on Retry %s', async (_, change) => {
		loseResponses(5);
		const failed = await order({}, { credentials: withKeyHeader(), input: orders('A boat') });
		change(failed);
		const retried = await retryExecution(failed);
		expect(retried.items('Create')).toHaveLength(1);
		expect(distinctKeys().size).toBe(1);
		expect(gateway.ledger).toHaveLength(1);
	});

	describe('after n8n was killed before its response arrived', () => {
		const prices = '{"beta-2.7-r2v":{"per_video":1}}';
		const limited = (limit: IDataObject, options: IDataObject = {}) =>
			chain(createReferenceVideo({ options: { limits: limit, ...options } }));

		const killedWhileOrdering = async (workflow: WorkflowJson, credentials: Credentials) => {
			const n8n = new EngineProcess();
			onLastJob(gateway, 1, () => n8n.kill());
			return await storedBy(
				n8n,
				async (onStart) =>
					await runWorkflow(workflow, { credentials, input: orders('A boat'), onStart }),
			);
		};

		it.each([{ maxOrders: 1 }, { maxCost: 1 }, { maxOrdersPerDay: 1 }])(
			'counts once against its limit in each Retry: %j',
			async (limit) => {
				const credentials = withKeyHeader({ prices });
				const killed = await killedWhileOrdering(limited(limit), credentials);
				const retried = await retryExecution(killed);
				expect(retried.errorOf('Create')?.message).toBeUndefined();
				expect(retried.items('Create')).toHaveLength(1);
				expect(distinctKeys().size).toBe(1);
				expect(gateway.ledger).toHaveLength(1);
			},
		);

		it.each([{ maxOrders: 1 }, { maxCost: 1 }, { maxOrdersPerDay: 1 }])(
			'counts again against its limit where it is sent again without a key: %j',
			async (limit) => {
				const credentials = credentialFor(gateway, { advanced: true, prices });
				const again = limited(limit, { ifAnswerLost: 'resend' });
				const killed = await killedWhileOrdering(again, credentials);
				await retryExecution(killed);
				expect(gateway.ledger).toHaveLength(1);
			},
		);
	});
});
