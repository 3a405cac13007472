import type { IDataObject, INode } from 'n8n-workflow';
import {
	EngineProcess,
	registerTypes,
	retryExecution,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { onLastJob, stoppedBy, storedBy, withItems } from '../../support/workflows/interruptions';
import {
	chain,
	createReferenceVideo,
	loopOver,
	startedByWebhook,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';
import { testNode } from '../../support/workflows/testNode';

// An execution and all its Retries are a family: they share their orders with each other, and with no other execution.

let isChanging = true;
/** A node that changes its input items in place, which n8n allows. */
const change = testNode('change', {}, async function () {
	const items = this.getInputData();
	if (isChanging) for (const item of items) delete item.json.output;
	return [items];
});

const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;

const { gateway, media, runWorkflow } = withGateway({
	jobSeconds: 60,
	render: async () => new Uint8Array(0),
});

const create = (parameters: IDataObject = {}) => chain(createReferenceVideo(parameters));

/** The same workflow behind a webhook. Each call starts an execution. */
const behindWebhook = () => startedByWebhook({}, createReferenceVideo());

async function run(workflow: WorkflowJson, options: RunOptions = {}): Promise<WorkflowRun> {
	return await runWorkflow(workflow, { input: itemsOf('Waves'), mode: 'trigger', ...options });
}

const itemsOf = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));
const refuse = () => gateway.fault({ ...refusal, route: 'referenceVideoCreate' });

/** The jobs of the ledger that the execution names in its outputs and errors. */
function jobsIn({ data }: WorkflowRun): string[] {
	const shown = JSON.stringify(data.resultData);
	return gateway.ledger.flatMap(({ job = '' }) => (shown.includes(job) ? [job] : []));
}

const jobsOf = (result: WorkflowRun) =>
	result.items('Create').map(({ json }) => (json.output as { task_id: string }).task_id);

/** An execution that is stopped when its first job has been created, and what n8n's database holds of it. */
const stopped = async (workflow: WorkflowJson, options: RunOptions = {}) =>
	await stoppedBy(
		(stop) => gateway.once('job', stop),
		async (onStart) => await run(workflow, { ...options, onStart }),
	);

beforeAll(() => registerTypes({ nodes: [change] }));

describe('a Retry', () => {
	const started: Array<[string, () => WorkflowJson, RunOptions]> = [
		['by a schedule', () => create(), {}],
		['by hand', () => create(), { mode: 'manual' }],
		['by a webhook', behindWebhook, { mode: 'webhook', startNode: 'Start' }],
	];
	const sentBy = (caller: string) =>
		itemsOf('Waves').map(({ json }) => ({ json: { ...json, caller } }));

	it.each([...started, ['in n8n 1', () => create(), { hasResumeToken: false }] as const])(
		'takes no job of another stopped execution on Retry, and places its own order: both started %s',
		async (_, workflowOf, options) => {
			const monday = await stopped(workflowOf(), { ...options, input: sentBy('Ada') });
			const [{ job: mondaysJob }] = gateway.ledger;

			refuse();
			const tuesday = await run(workflowOf(), { ...options, input: sentBy('Bob') });
			expect(tuesday.status).toBe('error');
			const retried = await retryExecution(tuesday);

			expect(jobsIn(retried)).not.toContain(mondaysJob);
			expect(jobsOf(retried)).toEqual([gateway.ledger[1].job]);
			expect(gateway.ledger).toHaveLength(2);
			expect(jobsIn(monday.execution)).toEqual([mondaysJob]);
		},
	);
});

it('orders in a later Retry what the service refused to another Retry at the same moment', async () => {
	refuse();
	const failed = await run(create());
	refuse();
	const both = await Promise.all([retryExecution(failed), retryExecution(failed)]);
	expect(gateway.ledger).toHaveLength(0);
	const refused = both.find((retry) =>
		retry.errorOf('Create')?.message?.includes('was sent before'),
	);
	const later = await retryExecution(refused as WorkflowRun);
	expect([later.status, later.errorOf('Create')?.message]).toEqual(['success', undefined]);
	expect(gateway.ledger).toHaveLength(1);
});

// The Retry starts with the list, which may have changed in the meantime.

function loopOverOrder(settings: Partial<INode> = {}): WorkflowJson {
	return loopOver(createReferenceVideo({}, { onError: 'continueRegularOutput', ...settings }));
}

type Interrupted = (workflow: WorkflowJson, prompts: string[]) => Promise<StoredExecution>;

/** An execution in n8n's database that is stopped when all its orders have been accepted. */
const stoppedAtEnd: Interrupted = async (workflow, prompts) => {
	const { stored } = await stoppedBy(
		(stop) => onLastJob(gateway, prompts.length, stop),
		async (onStart) => await run(workflow, { input: itemsOf(...prompts), onStart }),
	);
	return stored;
};

/** The same when n8n is killed instead. */
const killed: Interrupted = async (workflow, prompts) => {
	const n8n = new EngineProcess();
	onLastJob(gateway, prompts.length, () => n8n.kill());
	return await storedBy(
		n8n,
		async (onStart) => await run(workflow, { input: itemsOf(...prompts), onStart }),
	);
};

const jobsFor = (prompt: string) =>
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
	['stopped', stoppedAtEnd, ['New', 'Other', 'Waves', 'Clouds']],
	['stopped', stoppedAtEnd, ['Clouds', 'New']],
])(
	'places no order of a loop that was %s again on Retry with another list',
	async (_, interrupted, prompts) => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf(...prompts)));
		expect([jobsFor('Waves').length, jobsFor('Clouds').length]).toEqual([1, 1]);
	},
);

describe('the Retry of a stopped loop', () => {
	it('names all jobs of a stopped loop when its Retry fails before it reaches their items', async () => {
		const stored = await stoppedAtEnd(loopOverOrder(), ['Waves', 'Clouds']);
		const workflow = loopOverOrder({ onError: undefined });
		const error = (await retryExecution(withItems(stored, itemsOf('New')), { workflow })).errorOf(
			'Create',
		);
		for (const { job = '' } of gateway.ledger) expect(error?.description).toContain(job);
	});
});

describe('the Retry of a stopped execution', () => {
	it('returns the job unchanged on Retry, whatever later nodes changed in the item', async () => {
		const change = { name: 'Change', type: 'test.change' };
		const stored = await stoppedAtEnd(chain(createReferenceVideo(), change), ['Waves']);
		await retryExecution(stored);
		isChanging = false;
		expect(outputsOf(await retryExecution(stored))).toEqual([gateway.ledger[0].job]);
		expect(gateway.ledger).toHaveLength(1);
	});
});
