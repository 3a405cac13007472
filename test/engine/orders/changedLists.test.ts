import type { IDataObject, IExecuteFunctions, INode, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	EngineProcess,
	registerTypes,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { onLastJob, stoppedBy, storedBy, withItems } from '../../support/workflows/interruptions';
import {
	chain,
	core,
	createReferenceVideo,
	credentialFor,
	loopOver,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Which video an item gets on Retry of a stopped or killed execution. The Retry starts with the list, which may have
// changed in the meantime. In a loop, the list is ordered one by one, and the loop continues when an order fails.

let isChanging = true;
/** A node that changes its input items in place, which n8n allows. */
const change: INodeType = {
	description: {
		...{ displayName: 'Change', name: 'change', group: ['transform'], version: 1 },
		...{ description: '', defaults: { name: 'Change' }, properties: [] },
		...{ inputs: [NodeConnectionTypes.Main], outputs: [NodeConnectionTypes.Main] },
	},
	async execute(this: IExecuteFunctions) {
		const items = this.getInputData();
		if (isChanging) for (const item of items) delete item.json.output;
		return [items];
	},
};
beforeAll(() => registerTypes({ nodes: [change] }));

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

function loopOverOrder(settings: Partial<INode> = {}): WorkflowJson {
	return loopOver(createReferenceVideo({}, { onError: 'continueRegularOutput', ...settings }));
}

const itemsOf = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));

async function run(workflow: WorkflowJson, prompts: string[], options: RunOptions = {}) {
	const credentials = credentialFor(gateway);
	return await runWorkflow(workflow, {
		...{ credentials, input: itemsOf(...prompts), mode: 'trigger' },
		...options,
	});
}

type Interrupted = (workflow: WorkflowJson, prompts: string[]) => Promise<StoredExecution>;

/** What n8n's database holds of an execution that is stopped when all its orders have been accepted. */
const stopped: Interrupted = async (workflow, prompts) => {
	const { stored } = await stoppedBy(
		(stop) => onLastJob(gateway, prompts.length, stop),
		async (onStart) => await run(workflow, prompts, { onStart }),
	);
	return stored;
};

/** The same when n8n is killed instead. */
const killed: Interrupted = async (workflow, prompts) => {
	const n8n = new EngineProcess();
	onLastJob(gateway, prompts.length, () => n8n.kill());
	return await storedBy(n8n, async (onStart) => await run(workflow, prompts, { onStart }));
};

const jobsOf = (prompt: string) =>
	gateway.jobs.list().filter(({ order }) => order.prompt.startsWith(prompt));

/** For each item, the ID of its job or its error. */
const outputsOf = ({ data }: WorkflowRun) =>
	(data.resultData.runData.Create ?? []).map(({ data: output }) => {
		const { json } = output?.main[0]?.[0] ?? {};
		return (json?.output as IDataObject | undefined)?.task_id ?? json?.error;
	});

it.each<[string, Interrupted, string[]]>([
	['killed', killed, ['Clouds', 'Waves']],
	['killed', killed, ['New', 'Waves', 'Clouds']],
	['stopped', stopped, ['New', 'Other', 'Waves', 'Clouds']],
	['stopped', stopped, ['Clouds', 'New']],
])(
	'places no order of a loop that was %s again on Retry with another list',
	async (_, interrupted, prompts) => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf(...prompts)));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	},
);

describe('the Retry of a stopped loop', () => {
	it('names all jobs of a stopped loop when its Retry fails before it reaches their items', async () => {
		const stored = await stopped(loopOverOrder(), ['Waves', 'Clouds']);
		const workflow = loopOverOrder({ onError: undefined });
		const error = (await retryExecution(withItems(stored, itemsOf('New')), { workflow })).errorOf(
			'Create',
		);
		for (const { job = '' } of gateway.ledger) expect(error?.description).toContain(job);
	});
});

describe('the Retry of a stopped execution', () => {
	it.each(['{}', '{ "row": "ok" }'])(
		'gives no row the video of another row on Retry when all input items are %s',
		async (jsonOutput) => {
			const alike = core('Alike', 'set', { mode: 'raw', jsonOutput }, 3.4);
			const create = createReferenceVideo({
				prompt: "={{ $('Start').item.json.prompt }}",
				mediaJson: "={{ $('Start').item.json.media }}",
			});
			const stored = await stopped(chain(alike, create), ['Ada', 'Bob']);
			const retried = await retryExecution(withItems(stored, itemsOf('Xaver', 'Bob')));
			const error = retried.errorOf('Create');
			expect(error?.message).toContain('Another order was sent before in place of this one');
			expect(error?.description).toContain(jobsOf('Ada')[0].id);
		},
	);

	it('returns the job unchanged on Retry, whatever later nodes changed in the item', async () => {
		const change = { name: 'Change', type: 'test.change' };
		const stored = await stopped(chain(createReferenceVideo(), change), ['Waves']);
		await retryExecution(stored);
		isChanging = false;
		expect(outputsOf(await retryExecution(stored))).toEqual([gateway.ledger[0].job]);
		expect(gateway.ledger).toHaveLength(1);
	});
});
