import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../gateway';
import {
	EngineProcess,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../harness';
import { onLastJob, stoppedBy, storedBy, withItems } from '../support/interruptions';
import { createReferenceVideo, credentialFor, loopOver } from '../support/workflows';
import { withGateway } from '../support/withGateway';

// A list that is ordered one by one in Loop Over Items, whatever fails, and the Retry of an execution that was stopped
// or killed: that begins with the list, which may have changed meanwhile.

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

function loopOverOrder(
	prompt = '={{ $json.prompt }}',
	options: IDataObject = {},
	settings: Partial<INode> = {},
): WorkflowJson {
	return loopOver(
		createReferenceVideo(
			{ prompt, options: { duration: 2, ...options } },
			{ onError: 'continueRegularOutput', ...settings },
		),
	);
}

const reworded = '={{ $json.prompt }}, {{ Math.random() }}';
const itemsOf = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt, media } }));

async function run(workflow: WorkflowJson, prompts: string[], options: RunOptions = {}) {
	const credentials = credentialFor(gateway);
	return await runWorkflow(workflow, {
		...{ credentials, input: itemsOf(...prompts), mode: 'trigger' },
		...options,
	});
}

type Interrupted = (workflow: WorkflowJson, prompts: string[]) => Promise<StoredExecution>;

/** What n8n holds of an execution that is stopped once all its orders were accepted. */
const stopped: Interrupted = async (workflow, prompts) => {
	const { stored } = await stoppedBy(
		(stop) => onLastJob(gateway, prompts.length, stop),
		async (onStart) => await run(workflow, prompts, { onStart }),
	);
	return stored;
};

/** The same of an n8n that is killed then. */
const killed: Interrupted = async (workflow, prompts) => {
	const n8n = new EngineProcess();
	onLastJob(gateway, prompts.length, () => n8n.kill());
	return await storedBy(n8n, async (onStart) => await run(workflow, prompts, { onStart }));
};

const jobsOf = (prompt: string) =>
	gateway.jobs.list().filter(({ order }) => order.prompt.startsWith(prompt));

/** By item: the ID of the job, or the error. */
const outputsOf = ({ data }: WorkflowRun) =>
	(data.resultData.runData.Create ?? []).map(({ data: output }) => {
		const { json } = output?.main[0]?.[0] ?? {};
		return (json?.output as IDataObject | undefined)?.task_id ?? json?.error;
	});

const interruptions: Array<[string, Interrupted]> = [
	['stopped', stopped],
	['killed with its n8n', killed],
];

describe.each(interruptions)('the Retry of a loop that was %s', (_, interrupted) => {
	it.each([
		['its items', ['Waves', 'Clouds']],
		['its items behind a new one', ['New', 'Waves', 'Clouds']],
		['its items behind two new ones', ['New', 'Other', 'Waves', 'Clouds']],
		['its items without the first, and a new one', ['Clouds', 'New']],
		['its items in another order', ['Clouds', 'Waves']],
	])('orders nothing again when the list has now %s', async (__, prompts) => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf(...prompts)));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	});

	it('orders equal items as often as the list has them', async () => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, itemsOf('Waves', 'Waves', 'Waves')));
		expect(jobsOf('Waves')).toHaveLength(3);
	});
});

describe('the Retry of a killed loop whose prompts are worded again', () => {
	it.each([
		['behind a new one', ['New', 'Waves', 'Clouds']],
		['in another order', ['Clouds', 'Waves']],
		['without the first', ['Clouds']],
	])('orders no item again when the list has its items now %s', async (_, prompts) => {
		const stored = await killed(loopOverOrder(reworded), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf(...prompts)));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	});

	it('orders no equal item again', async () => {
		const stored = await killed(loopOverOrder(reworded), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, itemsOf('New', 'Waves', 'Waves')));
		expect(jobsOf('Waves')).toHaveLength(2);
	});
});

describe('the Retry of a stopped loop', () => {
	it('gives each item its own job, wherever that is in the list now', async () => {
		const stored = await stopped(loopOverOrder(), ['Waves', 'Clouds', 'Waves']);
		const [waves, clouds, again] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, itemsOf('Clouds', 'Waves', 'Waves')));
		expect(outputsOf(retried)).toEqual([clouds, waves, again]);
		expect(gateway.ledger).toHaveLength(3);
	});

	it('recognises a prompt that was worded again by its item, wherever that is in the list now', async () => {
		const stored = await stopped(loopOverOrder(reworded), ['Waves', 'Clouds']);
		const [waves, clouds] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, itemsOf('New', 'Waves', 'Clouds')));
		// What the new one is, nobody can tell.
		const [first, ...others] = outputsOf(retried);
		expect(first).toContain('Another order was sent before in place of this one');
		expect(others).toEqual([waves, clouds]);
	});

	it('names all jobs of the execution when it fails before it comes to their items', async () => {
		const stored = await stopped(loopOverOrder(), ['Waves', 'Clouds']);
		const workflow = loopOverOrder(undefined, undefined, { onError: undefined });
		const error = (await retryExecution(withItems(stored, itemsOf('New')), { workflow })).errorOf(
			'Create',
		);
		for (const { job = '' } of gateway.ledger) expect(error?.description).toContain(job);
	});

	it('counts the earlier orders of the loop for the limit', async () => {
		const stored = await stopped(loopOverOrder(undefined, { maxOrders: 2 }), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf('Waves', 'Clouds', 'New', 'Other')));
		expect(gateway.ledger).toHaveLength(2);
	});
});
