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
	core,
	createReferenceVideo,
	credentialFor,
	startedByWebhook,
	to,
} from '../../support/workflows/workflows';
import { createsOf } from '../../support/workflows/videoOrders';
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
const creates = () => createsOf(gateway);
const refuse = (prompt = '') =>
	gateway.fault({
		...refusal,
		route: 'referenceVideoCreate',
		when: ({ body }) => JSON.stringify(body).includes(prompt),
	});

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

	it.each(started)(
		'reuses the job of its own stopped execution on Retry, not of an equal one: both started %s',
		async (_, workflowOf, options) => {
			const { stored } = await stopped(workflowOf(), options);
			const [{ job: mondaysJob }] = gateway.ledger;
			await run(workflowOf(), options);

			for (let click = 0; click < 2; click++) {
				expect(jobsOf(await retryExecution(stored))).toEqual([mondaysJob]);
			}
			expect(gateway.ledger).toHaveLength(2);
		},
	);
});

describe('a failed execution that is retried twice', () => {
	const wordings: Array<[string, WorkflowJson]> = [
		['the same', create()],
		['reworded in each try', create({ prompt: '={{ $json.prompt }}, {{ $execution.id }}' })],
	];
	const failing = ({ nodes, connections }: WorkflowJson): WorkflowJson => ({
		nodes: [...nodes, core('Later', 'stopAndError', { errorMessage: 'Full' })],
		connections: {
			...connections,
			Create: { main: [to('Later')] },
		},
	});
	const ends: Array<[string, (workflow: WorkflowJson) => WorkflowJson]> = [
		['succeeded', (workflow) => workflow],
		['failed in a later node', failing],
	];
	const cases = wordings.flatMap(([wording, workflow]) =>
		ends.map(([end, ending]) => [wording, end, ending(workflow)] as const),
	);

	it.each(cases)(
		'delivers the jobs of the first Retry in later ones when prompts are %s and the first %s',
		async (_, __, workflow) => {
			refuse('Clouds');
			const failed = await run(workflow, { input: itemsOf('Waves', 'Clouds') });
			const first = await retryExecution(failed);
			const second = await retryExecution(failed);
			const third = await retryExecution(failed);
			expect([jobsOf(second), jobsOf(third)]).toEqual([jobsOf(first), jobsOf(first)]);
			expect(creates()).toHaveLength(3);
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
