import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	retryExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { onLastJob, stoppedBy } from '../../support/workflows/interruptions';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	startedByWebhook,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// An execution and all its Retries are a family: they share their orders with each other, and with no other execution.

const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const create = (parameters: IDataObject = {}) => chain(createReferenceVideo(parameters));

/** The same workflow behind a webhook. Each call starts an execution. */
const behindWebhook = () => startedByWebhook({}, createReferenceVideo());

async function run(workflow: WorkflowJson, options: RunOptions = {}): Promise<WorkflowRun> {
	return await runWorkflow(workflow, {
		credentials: credentialFor(gateway),
		input: itemsOf('Waves'),
		mode: 'trigger',
		...options,
	});
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

describe('a lost response', () => {
	it.each([
		['its own execution', 'own'],
		['another execution', 'other'],
	])(
		'keeps a Retry from ordering only if the response was lost in its own execution: lost in %s',
		async (_, whose) => {
			gateway.fault({ action: 'reset', accepted: true, route: 'referenceVideoCreate' });
			const failed = await run(create());
			refuse();
			const other = await run(create());
			const retried = await retryExecution(whose === 'own' ? failed : other);
			expect(retried.status).toBe(whose === 'own' ? 'error' : 'success');
			expect(gateway.ledger).toHaveLength(whose === 'own' ? 1 : 2);
		},
	);
});

it('reuses the jobs of all 600 orders of a stopped execution on Retry', async () => {
	const prompts = Array.from({ length: 600 }, (_, index) => `Waves ${index}`);
	const workflow = create({ options: { duration: 2, parallelRequests: 50 } });
	const { stored } = await stoppedBy(
		(stop) => onLastJob(gateway, prompts.length, stop),
		async (onStart) => await run(workflow, { input: itemsOf(...prompts), onStart }),
	);
	const retried = await retryExecution(stored);
	const ownJob = new Map(gateway.jobs.list().map(({ id, order }) => [order.prompt, id]));
	expect(jobsOf(retried)).toEqual(prompts.map((prompt) => ownJob.get(prompt)));
	expect(gateway.ledger).toHaveLength(prompts.length);
});
