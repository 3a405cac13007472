import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import {
	processedItems,
	registerTypes,
	retryExecution,
	runWorkflow,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
} from '../harness';
import { chain, createReferenceVideo, credentialFor } from './support/workflows';

// Whose video an item gets when a stopped execution is retried.

let isChanging = true;
/** A node that changes the items that it is given, as n8n lets it. */
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
beforeEach(async () => {
	processedItems.clear();
	gateway = await startGateway({ jobSeconds: 60, render: async () => new Uint8Array(0) });
	const url = gateway.addMedia('a.png', new Uint8Array(8), 'image/png');
	media = [{ type: 'reference_image', url }];
});
afterEach(async () => await gateway.close());

const itemsOf = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));

async function run(workflow: WorkflowJson, prompts: string[], options: RunOptions = {}) {
	const input = itemsOf(...prompts);
	const credentials = credentialFor(gateway);
	return await runWorkflow(workflow, { credentials, input, mode: 'trigger', ...options });
}

/** The start of an execution that is stopped once all its orders were accepted. */
async function stopped(workflow: WorkflowJson, prompts: string[]): Promise<StoredExecution> {
	let stop = () => {};
	let stored: StoredExecution | undefined;
	let left = prompts.length;
	gateway.on('job', () => void (--left === 0 && stop()));
	const onStart = (cancel: () => void, start: StoredExecution) => {
		stop = cancel;
		stored = start;
	};
	expect((await run(workflow, prompts, { onStart })).status).toBe('canceled');
	// TypeScript does not see that the callback has assigned it.
	return stored as unknown as StoredExecution;
}

/** As if n8n had fetched another list in the Retry. */
function withItems(stored: StoredExecution, ...prompts: string[]): StoredExecution {
	const data = structuredClone(stored.data);
	const [first] = data.executionData?.nodeExecutionStack ?? [];
	first.data.main = [itemsOf(...prompts)];
	return { ...stored, data };
}

describe('the Retry of a stopped execution', () => {
	it.each(['{}', '{ "row": "ok" }'])(
		'gives no row the video of another, where all input items are %s',
		async (jsonOutput) => {
			const alike = {
				...{ name: 'Alike', type: 'n8n-nodes-base.set', typeVersion: 3.4 },
				parameters: { mode: 'raw', jsonOutput },
			};
			const create = createReferenceVideo({
				prompt: "={{ $('Start').item.json.prompt }}",
				mediaJson: "={{ $('Start').item.json.media }}",
			});
			const workflow = chain(alike, create);
			const stored = await stopped(workflow, ['Ada', 'Bob']);
			const retried = await retryExecution(withItems(stored, 'Xaver', 'Bob'));
			const error = retried.errorOf('Create');
			expect(error?.message).toContain(
				'Item 0: In place of this order, another one was sent before',
			);
			const ofAda = gateway.jobs.list().find(({ order }) => order.prompt === 'Ada');
			expect(error?.description).toContain(ofAda?.id);
		},
	);

	it('names the jobs of all items that may have been worded differently', async () => {
		const workflow = chain(
			createReferenceVideo({ prompt: '={{ $json.prompt }}, {{ $now.toMillis() }}' }),
		);
		const stored = await stopped(workflow, ['Waves', 'Waves']);
		const error = (await retryExecution(stored)).errorOf('Create');
		for (const { job } of gateway.ledger) expect(error?.description).toContain(job);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('gives the job as it was, whatever later nodes have made of the item', async () => {
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

it('an order under way is not sent by another Retry, although lost ones are to be sent again', async () => {
	const options = { duration: 2, ifAnswerLost: 'resend' };
	const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;
	gateway.fault({ route: 'referenceVideoCreate', ...refusal });
	const failed = await run(chain(createReferenceVideo({ options })), ['Waves']);
	await Promise.all([retryExecution(failed), retryExecution(failed)]);
	expect(gateway.ledger).toHaveLength(1);
});
