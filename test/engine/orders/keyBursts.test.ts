import type { Gateway } from '../../../gateway';
import { randomFrom } from '../../../gateway/random';
import { EngineProcess, processedItems, runWorkflow, type WorkflowRun } from '../../harness';
import { currentProcess } from '../../harness/process';
import { withGateway } from '../../support/http/withGateway';
import { chain, createVideo, credentialFor, inGroups } from '../../support/workflows/workflows';

// The first executions of a node at the same moment, in several workers, with the same Order Key.

let gateway: Gateway;
withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway } = world),
);

const workflow = chain(createVideo({ options: inGroups({ orderKey: 'row 1' }) }));
const order = async (worker = new EngineProcess()) =>
	(await worker.run(
		async () =>
			await runWorkflow(workflow, {
				...{ credentials: credentialFor(gateway), mode: 'trigger', inWorker: true },
			}),
	)) as WorkflowRun;

/** Lets each call to n8n's store take up to this many milliseconds before it reads, and as long to respond. */
function answerAtRandom(seed: string, milliseconds: number): void {
	const random = randomFrom(seed);
	const wait = async () =>
		await new Promise<void>((resolve) => void setTimeout(resolve, random() * milliseconds));
	processedItems.precede = wait;
	processedItems.intercept = wait;
}

it.each(Array.from({ length: 12 }, (_, index) => [2 + 2 * (index % 2), `burst ${index}`]))(
	'places one order for an Order Key that %d workers use at the same moment: %s',
	async (count, seed) => {
		answerAtRandom(String(seed), 40);
		const workers = Array.from({ length: Number(count) }, () => new EngineProcess());
		const runs = await Promise.all(workers.map(async (worker) => await order(worker)));
		expect(runs.map((run) => run.errorOf('Create')?.message)).toEqual(runs.map(() => undefined));
		expect(gateway.ledger).toHaveLength(1);
		expect((await order()).items('Create')[0].json).toMatchObject({ ordered: false });
		expect(gateway.ledger).toHaveLength(1);
	},
);

it.each(Array.from({ length: 6 }, (_, index) => [`refused burst ${index}`]))(
	'leaves an Order Key unused when the service refuses all of four workers: %s',
	async (seed) => {
		answerAtRandom(seed, 40);
		const refusal = { status: 429, code: 'quota_exceeded', times: Infinity };
		const fault = gateway.fault({ route: 'videoCreate', action: 'error', ...refusal });
		const workers = Array.from({ length: 4 }, () => new EngineProcess());
		await Promise.all(workers.map(async (worker) => await order(worker)));
		fault.remove();
		await order();
		expect(gateway.ledger).toHaveLength(1);
	},
);

describe('a list of Order Keys that another worker orders meanwhile', () => {
	const skus = Array.from({ length: 11 }, (_, index) => ({ json: { sku: `S${index}` } }));
	const list = chain(
		createVideo({
			prompt: '={{ $json.sku }}',
			options: inGroups({ orderKey: '={{ $json.sku }}' }),
		}),
	);
	const orderList = async (worker: EngineProcess) =>
		await worker.run(
			async () =>
				await runWorkflow(list, {
					...{ credentials: credentialFor(gateway), mode: 'trigger', inWorker: true },
					input: skus,
				}),
		);

	it('is ordered once when the first worker had looked it up before', async () => {
		const [one, other] = [new EngineProcess(), new EngineProcess()];
		let hasOrdered = false;
		processedItems.precede = async (call) => {
			if (currentProcess() !== one || call !== 'count' || hasOrdered) return;
			hasOrdered = true;
			await orderList(other);
		};
		await orderList(one);
		expect(hasOrdered).toBe(true);
		expect(gateway.ledger).toHaveLength(11);
	});

	it('stays used when the database loses the response to the record of the first worker', async () => {
		const [one, other] = [new EngineProcess(), new EngineProcess()];
		let [hasOrdered, isLost] = [false, false];
		processedItems.precede = async (call) => {
			if (currentProcess() !== one || call !== 'count' || hasOrdered) return;
			hasOrdered = true;
			await orderList(other);
		};
		processedItems.intercept = (call) => {
			if (currentProcess() !== one || !hasOrdered || call !== 'record' || isLost) return;
			isLost = true;
			throw new Error('Connection terminated unexpectedly');
		};
		await orderList(one);
		await orderList(other);
		expect(isLost).toBe(true);
		expect(gateway.ledger).toHaveLength(11);
	});
});
