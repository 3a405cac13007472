import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	registerTypes,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type StoredExecution,
	type WorkflowJson,
} from '../../harness';
import { onLastJob, stoppedBy, withItems } from '../../support/workflows/interruptions';
import {
	chain,
	core,
	createReferenceVideo,
	credentialFor,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Which video an item gets when a stopped execution is retried.

let isChanging = true;
/** A node that changes its input items in place, which n8n allows. */
const change: INodeType = {
	description: {
		...{ displayName: 'Change', name: 'change', group: ['transform'], version: 1 },
		...{ description: '', defaults: { name: 'Change' }, properties: [] },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
	},
	async execute(this: IExecuteFunctions) {
		const items = this.getInputData();
		if (isChanging) for (const item of items) delete item.json.output;
		return [items];
	},
};

let gateway: Gateway;
let media: IDataObject[];

beforeAll(() => registerTypes({ nodes: [change] }));
withGateway(
	{ jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const itemsOf = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));

async function run(workflow: WorkflowJson, prompts: string[], options: RunOptions = {}) {
	const input = itemsOf(...prompts);
	const credentials = credentialFor(gateway);
	return await runWorkflow(workflow, { credentials, input, mode: 'trigger', ...options });
}

/** What n8n's database holds of an execution that is stopped when all its orders have been accepted. */
async function stopped(workflow: WorkflowJson, prompts: string[]): Promise<StoredExecution> {
	const { stored } = await stoppedBy(
		(stop) => onLastJob(gateway, prompts.length, stop),
		async (onStart) => await run(workflow, prompts, { onStart }),
	);
	return stored;
}

describe('the Retry of a stopped execution', () => {
	it.each(['{}', '{ "row": "ok" }'])(
		'gives no row the video of another row on Retry when all input items are %s',
		async (jsonOutput) => {
			const alike = core('Alike', 'set', { mode: 'raw', jsonOutput }, 3.4);
			const create = createReferenceVideo({
				prompt: "={{ $('Start').item.json.prompt }}",
				mediaJson: "={{ $('Start').item.json.media }}",
			});
			const workflow = chain(alike, create);
			const stored = await stopped(workflow, ['Ada', 'Bob']);
			const retried = await retryExecution(withItems(stored, itemsOf('Xaver', 'Bob')));
			const error = retried.errorOf('Create');
			expect(error?.message).toContain('Another order was sent before in place of this one');
			const ofAda = gateway.jobs.list().find(({ order }) => order.prompt === 'Ada');
			expect(error?.description).toContain(ofAda?.id);
		},
	);

	it('names the jobs of all orders that may have been reworded on Retry', async () => {
		const workflow = chain(
			createReferenceVideo({ prompt: '={{ $json.prompt }}, {{ $now.toMillis() }}' }),
		);
		const stored = await stopped(workflow, ['Waves', 'Waves']);
		const error = (await retryExecution(stored)).errorOf('Create');
		for (const { job } of gateway.ledger) expect(error?.description).toContain(job);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('returns the job unchanged on Retry, whatever later nodes changed in the item', async () => {
		const node = { name: 'Change', type: 'test.change', parameters: {} };
		const workflow = chain(createReferenceVideo(), node);
		const stored = await stopped(workflow, ['Waves']);
		isChanging = true;
		await retryExecution(stored);
		isChanging = false;
		const again = await retryExecution(stored);
		expect(again.items('Create')[0].json.output).toMatchObject({
			task_id: gateway.ledger[0].job,
		});
		expect(gateway.ledger).toHaveLength(1);
	});
});

it('places an order once in two Retries at once, although the user chose Send Again', async () => {
	const options = { duration: 2, ifAnswerLost: 'resend' };
	const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;
	gateway.fault({ route: 'referenceVideoCreate', ...refusal });
	const failed = await run(chain(createReferenceVideo({ options })), ['Waves']);
	await Promise.all([retryExecution(failed), retryExecution(failed)]);
	expect(gateway.ledger).toHaveLength(1);
});
