import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { processedItems, retryExecution, type RunOptions, type WorkflowJson } from '../../harness';
import { stoppedBy } from '../../support/workflows/interruptions';
import { credentialFor } from '../../support/workflows/workflows';
import { orderWorkflow, runOrders, createsOf } from '../../support/workflows/videoOrders';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const run = async (workflow: WorkflowJson, prompts?: string[], options?: RunOptions) =>
	await runOrders({ gateway, media }, workflow, prompts, options);

const creates = () => createsOf(gateway);

describe('Max Orders per Execution', () => {
	const limitedTo = (maxOrders: number) =>
		orderWorkflow({ maxOrders }, { onError: 'continueRegularOutput' });

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
});

describe('If No Response Arrives = Send Again', () => {
	const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
	const prices = '{"beta-2.7-r2v":{"per_video":1}}';

	/** Orders one video, and every response is lost after its order was accepted. */
	const orderAndLose = async (options: IDataObject, settings: Partial<INode> = {}) => {
		gateway.fault({
			...{ route: 'referenceVideoCreate', action: 'reset', accepted: true, times: Infinity },
		});
		const workflow = orderWorkflow({ ifAnswerLost: 'resend', ...options }, settings);
		const credentials = credentialFor(gateway, { advanced: true, prices });
		return await run(workflow, undefined, { credentials });
	};

	it.each([
		['maxOrders', 'It would exceed the limit of 1 order per execution.'],
		[
			'maxOrdersPerDay',
			'It would exceed the limit of 1 order per day (1 used before this run). It opens again on',
		],
		[
			'maxCost',
			'Its estimated cost of 1 is more than what is left of the limit of 1 per execution.',
		],
		[
			'maxCostPerDay',
			'Its estimated cost of 1 is more than what is left of the limit of 1 per day (1 used before this run).',
		],
	])(
		'sends an order as often as the limit allows in all tries of Retry On Fail, and says so: %s',
		async (limit, reason) => {
			const error = (await orderAndLose({ [limit]: 1 }, retryOnFail)).errorOf('Create');
			expect(error?.message).toContain('the connection was lost before the response arrived');
			expect(error?.description).toContain(`It was not sent again. ${reason}`);
			expect(creates()).toHaveLength(1);
			processedItems.clear();
			await orderAndLose({ [limit]: 3 }, retryOnFail);
			expect(creates()).toHaveLength(1 + 3);
		},
	);
});
