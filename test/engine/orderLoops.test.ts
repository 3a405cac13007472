import type { IDataObject, INode } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import {
	EngineProcess,
	processedItems,
	retryExecution,
	runWorkflow,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../harness';
import { chain, createReferenceVideo, credentialFor } from './support/workflows';

// A list that is ordered one by one in Loop Over Items, whatever fails, and the Retry of an execution that was stopped
// or killed: that begins with the list, which may have changed meanwhile.

let gateway: Gateway;
let media: IDataObject[];

beforeEach(async () => {
	processedItems.clear();
	gateway = await startGateway({ jobSeconds: 60, render: async () => new Uint8Array(0) });
	const url = gateway.addMedia('a.png', new Uint8Array(8), 'image/png');
	media = [{ type: 'reference_image', url }];
});
afterEach(async () => await gateway.close());

const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];

function loopOver(
	prompt = '={{ $json.prompt }}',
	options: IDataObject = {},
	settings: Partial<INode> = {},
): WorkflowJson {
	const loop = {
		...{ name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3 },
		parameters: { batchSize: 1 },
	};
	const create = createReferenceVideo(
		{ prompt, options: { duration: 2, ...options } },
		{ onError: 'continueRegularOutput', ...settings },
	);
	const workflow = chain(loop, create);
	workflow.connections = {
		Start: { main: [to('Loop')] },
		Loop: { main: [[], to('Create')] },
		Create: { main: [to('Loop')] },
	};
	return workflow;
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
	let stop = () => {};
	let stored: StoredExecution | undefined;
	onLastJob(prompts, () => stop());
	const onStart = (cancel: () => void, start: StoredExecution) => {
		stop = cancel;
		stored = start;
	};
	expect((await run(workflow, prompts, { onStart })).status).toBe('canceled');
	return stored as unknown as StoredExecution;
};

/** The same of an n8n that is killed then. */
const killed: Interrupted = async (workflow, prompts) => {
	const n8n = new EngineProcess();
	let stored: StoredExecution | undefined;
	onLastJob(prompts, () => n8n.kill());
	const onStart = (_: () => void, start: StoredExecution) => void (stored = start);
	await n8n.run(async () => await run(workflow, prompts, { onStart }));
	return stored as unknown as StoredExecution;
};

function onLastJob(prompts: string[], act: () => void): void {
	let left = prompts.length;
	gateway.on('job', () => void (--left === 0 && act()));
}

function withItems(stored: StoredExecution, ...prompts: string[]): StoredExecution {
	const data = structuredClone(stored.data);
	const [first] = data.executionData?.nodeExecutionStack ?? [];
	first.data.main = [itemsOf(...prompts)];
	return { ...stored, data };
}

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
	])('orders nothing again, where the list has now %s', async (__, prompts) => {
		const stored = await interrupted(loopOver(), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, ...prompts));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	});

	it('orders equal items as often as the list has them', async () => {
		const stored = await interrupted(loopOver(), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, 'Waves', 'Waves', 'Waves'));
		expect(jobsOf('Waves')).toHaveLength(3);
	});
});

describe('the Retry of a killed loop whose prompts are worded again', () => {
	it.each([
		['behind a new one', ['New', 'Waves', 'Clouds']],
		['in another order', ['Clouds', 'Waves']],
		['without the first', ['Clouds']],
	])('orders no item again, where the list has its items now %s', async (_, prompts) => {
		const stored = await killed(loopOver(reworded), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, ...prompts));
		expect([jobsOf('Waves').length, jobsOf('Clouds').length]).toEqual([1, 1]);
	});

	it('orders no equal item again', async () => {
		const stored = await killed(loopOver(reworded), ['Waves', 'Waves']);
		await retryExecution(withItems(stored, 'New', 'Waves', 'Waves'));
		expect(jobsOf('Waves')).toHaveLength(2);
	});
});

describe('the Retry of a stopped loop', () => {
	it('gives each item its own job, wherever that is in the list now', async () => {
		const stored = await stopped(loopOver(), ['Waves', 'Clouds', 'Waves']);
		const [waves, clouds, again] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, 'Clouds', 'Waves', 'Waves'));
		expect(outputsOf(retried)).toEqual([clouds, waves, again]);
		expect(gateway.ledger).toHaveLength(3);
	});

	it('knows a prompt that was worded again by its item, wherever that is in the list now', async () => {
		const stored = await stopped(loopOver(reworded), ['Waves', 'Clouds']);
		const [waves, clouds] = gateway.ledger.map(({ job }) => job);
		const retried = await retryExecution(withItems(stored, 'New', 'Waves', 'Clouds'));
		// What the new one is, nobody can tell.
		const [first, ...others] = outputsOf(retried);
		expect(first).toContain('In place of this order, another one was sent before');
		expect(others).toEqual([waves, clouds]);
	});

	it('names all jobs of the execution when it fails before it comes to their items', async () => {
		const stored = await stopped(loopOver(), ['Waves', 'Clouds']);
		const workflow = loopOver(undefined, undefined, { onError: undefined });
		const error = (await retryExecution(withItems(stored, 'New'), { workflow })).errorOf('Create');
		for (const { job = '' } of gateway.ledger) expect(error?.description).toContain(job);
	});

	it('counts what the loop had ordered for the limit', async () => {
		const stored = await stopped(loopOver(undefined, { maxOrders: 2 }), ['Waves', 'Clouds']);
		await retryExecution(withItems(stored, 'Waves', 'Clouds', 'New', 'Other'));
		expect(gateway.ledger).toHaveLength(2);
	});
});
