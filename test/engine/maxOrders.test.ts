import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../gateway';
import { retryExecution, type RunOptions, type WorkflowJson } from '../harness';
import { stoppedBy } from '../support/interruptions';
import { core } from '../support/workflows';
import { orderWorkflow, runOrders, createsOf } from '../support/videoOrders';
import { withGateway } from '../support/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const run = async (workflow: WorkflowJson, prompts?: string[], options?: RunOptions) =>
	await runOrders({ gateway, media }, workflow, prompts, options);

const creates = () => createsOf(gateway);

/** A workflow whose create runs this many times, with the same item. */
const loopOf = (times: number, options: IDataObject = {}): WorkflowJson => {
	const workflow = orderWorkflow(options);
	const loop = core(
		'Loop',
		'if',
		{
			conditions: {
				options: { version: 2, typeValidation: 'loose' },
				combinator: 'and',
				conditions: [
					{
						leftValue: '={{ $runIndex }}',
						rightValue: times - 1,
						operator: { type: 'number', operation: 'lt' },
					},
				],
			},
		},
		2.2,
	);
	workflow.nodes.push(loop);
	workflow.connections = {
		...workflow.connections,
		Create: { main: [[{ node: 'Loop', type: 'main', index: 0 }]] },
		Loop: { main: [[{ node: 'Create', type: 'main', index: 0 }]] },
	};
	// From the second run on, the incoming item is the job.
	workflow.nodes[1].parameters = {
		...workflow.nodes[1].parameters,
		prompt: '={{ $("Start").first().json.prompt }}',
		mediaJson: '={{ $("Start").first().json.media }}',
	};
	return workflow;
};

describe('Max Orders per Execution', () => {
	const three = ['Waves', 'Clouds', 'Rain'];
	const limitedTo = (maxOrders: number) =>
		orderWorkflow({ maxOrders }, { onError: 'continueRegularOutput' });

	it('refuses a list of more orders than the limit before anything is sent', async () => {
		const result = await run(orderWorkflow({ maxOrders: 2 }), three);
		const error = result.errorOf('Create');
		expect(error?.message).toBe(
			'Item 2: Not ordered: it would exceed the limit of 2 orders per execution',
		);
		expect(error?.description).toContain(
			'raise Max Orders per Execution. Until then, none of these items is ordered.',
		);
		expect(creates()).toEqual([]);
	});

	it('places as many orders as the limit allows when the node continues on error', async () => {
		const result = await run(limitedTo(2), three);
		expect(gateway.ledger).toHaveLength(2);
		const [{ json }] = result.items('Create').slice(2);
		expect(json.details).toMatchObject({
			advice: 'To allow more, raise Max Orders per Execution.',
		});
	});

	it('counts the orders across all runs of a loop', async () => {
		const result = await run(loopOf(4, { maxOrders: 3 }));
		expect(result.status).toBe('error');
		expect(gateway.ledger).toHaveLength(3);
	});

	it('counts each order once across all Retries, and no order that the service refused', async () => {
		gateway.fault({
			...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_prompt' },
			when: ({ body }) => JSON.stringify(body).includes('Rain'),
		});
		const failed = await run(orderWorkflow({ maxOrders: 3 }), three);
		expect(gateway.ledger).toHaveLength(2);
		const retried = await retryExecution(failed);
		expect(retried.items('Create')).toHaveLength(3);
	});

	it('counts the orders before a Stop, although n8n stored no count of them', async () => {
		const { stored } = await stoppedBy(
			(stop) => gateway.once('request', stop),
			async (onStart) => await run(limitedTo(1), ['Waves', 'Fog'], { onStart }),
		);
		const retried = await retryExecution(stored);
		expect(gateway.ledger).toHaveLength(1);
		expect(retried.items('Create')).toMatchObject([
			{ json: { output: { task_id: gateway.ledger[0].job } } },
			{ json: { error: expect.stringContaining('the limit of 1 order per execution') } },
		]);
	});

	it('places no order with a limit of 0', async () => {
		await run(orderWorkflow({ maxOrders: 0 }));
		expect(creates()).toEqual([]);
	});

	it('places the same order in each run of a loop when there is no limit', async () => {
		const result = await run(loopOf(3));
		expect(result.status).toBe('success');
		expect(gateway.ledger).toHaveLength(3);
	});
});
