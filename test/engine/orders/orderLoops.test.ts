import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	EngineProcess,
	retryExecution,
	type RunOptions,
	runWorkflow,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { onLastJob, stoppedBy, storedBy, withItems } from '../../support/workflows/interruptions';
import { createReferenceVideo, credentialFor, loopOver } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// A list is ordered one by one in Loop Over Items, and the loop continues when an order fails. The Retry of a stopped
// or killed execution starts with the list, which may have changed in the meantime.

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

const interruptions: Array<[string, Interrupted]> = [
	['stopped', stopped],
	['killed', killed],
];

describe.each(interruptions)('the Retry of a loop that was %s', (_, interrupted) => {
	it.each([
		['the same items', ['Waves', 'Clouds']],
		['the same items after a new one', ['New', 'Waves', 'Clouds']],
		['the same items after two new ones', ['New', 'Other', 'Waves', 'Clouds']],
		['the same items without the first, and a new one', ['Clouds', 'New']],
		['the same items in another order', ['Clouds', 'Waves']],
	])('places no order of a loop again on Retry when the list now has %s', async (__, prompts) => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf(...prompts)));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	});

	it('orders equal items of a loop as often as the list has them on Retry', async () => {
		const stored = await interrupted(loopOverOrder(), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, itemsOf('Waves', 'Waves', 'Waves')));
		expect(jobsOf('Waves')).toHaveLength(3);
	});
});

describe('the Retry of a killed loop with reworded prompts', () => {
	it.each([
		['after a new one', ['New', 'Waves', 'Clouds']],
		['in another order', ['Clouds', 'Waves']],
		['without the first', ['Clouds']],
	])(
		'places no reworded order of a loop again on Retry when its items are now %s',
		async (_, prompts) => {
			const stored = await killed(loopOverOrder(reworded), ['Waves', 'Clouds']);
			await retryExecution(withItems(stored, itemsOf(...prompts)));
			expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
		},
	);

	it('places no reworded order of equal items again on Retry of a loop', async () => {
		const stored = await killed(loopOverOrder(reworded), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, itemsOf('New', 'Waves', 'Waves')));
		expect(jobsOf('Waves')).toHaveLength(2);
	});
});

describe('the Retry of a stopped loop', () => {
	it('gives each item of a loop its own job on Retry, wherever it is in the list now', async () => {
		const stored = await stopped(loopOverOrder(), ['Waves', 'Clouds', 'Waves']);
		const [waves, clouds, again] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, itemsOf('Clouds', 'Waves', 'Waves')));
		expect(outputsOf(retried)).toEqual([clouds, waves, again]);
		expect(gateway.ledger).toHaveLength(3);
	});

	it('recognises a reworded order of a loop by its item on Retry, wherever it is in the list now', async () => {
		const stored = await stopped(loopOverOrder(reworded), ['Waves', 'Clouds']);
		const [waves, clouds] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, itemsOf('New', 'Waves', 'Clouds')));
		// The new item could be one of the two, reworded.
		const [first, ...others] = outputsOf(retried);
		expect(first).toContain('Another order was sent before in place of this one');
		expect(others).toEqual([waves, clouds]);
	});

	it('names all jobs of a stopped loop when its Retry fails before it reaches their items', async () => {
		const stored = await stopped(loopOverOrder(), ['Waves', 'Clouds']);
		const workflow = loopOverOrder(undefined, undefined, { onError: undefined });
		const error = (await retryExecution(withItems(stored, itemsOf('New')), { workflow })).errorOf(
			'Create',
		);
		for (const { job = '' } of gateway.ledger) expect(error?.description).toContain(job);
	});

	it('counts the orders of a stopped loop for Max Orders per Execution on Retry', async () => {
		const stored = await stopped(loopOverOrder(undefined, { maxOrders: 2 }), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, itemsOf('Waves', 'Clouds', 'New', 'Other')));
		expect(gateway.ledger).toHaveLength(2);
	});
});
