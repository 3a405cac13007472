import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { registerTypes, retryExecution, runWorkflow, type WorkflowRun } from '../../harness';
import { agent } from '../../support/workflows/agent';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	loopOver,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const idempotencyHeaderName = 'Idempotency-Key';

describe('a create with an idempotency key', () => {
	let gateway: Gateway;
	let media: IDataObject[];

	let video: Uint8Array;

	beforeAll(async () => {
		registerTypes({ nodes: [agent] });
		video = await sampleVideo();
	});
	withGateway(
		{
			...{ isTimeSimulated: true, jobSeconds: 0, idempotencyHeader: idempotencyHeaderName },
			render: async () => video,
		},
		(world) => void ({ gateway, media } = world),
	);

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
			...{ route: 'referenceVideoCreate', action: 'reset', accepted: true, times: Infinity },
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
});
