import type { IDataObject } from 'n8n-workflow';
import { randomFrom } from '../../../gateway/random';
import { EngineProcess, processedItems, type WorkflowRun } from '../../harness';
import { currentProcess } from '../../harness/process';
import { chain, createVideo, type NodeSettings, inGroups } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// n8n's store of a node keeps its newest entries. What it forgets, nobody can guard.

/** How many entries the store keeps. */
const room = 20_000;

const { gateway, runWorkflow } = withGateway({
	isTimeSimulated: true,
	jobSeconds: Infinity,
	render: async () => new Uint8Array(0),
});

const itemsOf = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => ({ json: { sku: `S${from + index}` } }));

const run = async (
	input: ReturnType<typeof itemsOf>,
	options: IDataObject = {},
	parameters: IDataObject = {},
	settings: NodeSettings = {},
): Promise<WorkflowRun> => {
	const keyed = { orderKey: '={{ $json.sku }}', ...options };
	const node = createVideo(
		{ prompt: '={{ $json.sku }}', options: inGroups(keyed), ...parameters },
		settings,
	);
	return await runWorkflow(chain(node), { mode: 'trigger', input });
};

/** Entries of later orders, as if this number of them had been recorded. */
let fillers = 0;
const fill = (count: number) =>
	processedItems.fill(Array.from({ length: count }, () => `filler ${fillers++}`));
const fillUp = () => fill(room - processedItems.size);

const continues = { onError: 'continueRegularOutput' } as const;

describe('a full store of n8n', () => {
	const limit = { maxOrdersPerDay: 10 };
	const lists: Array<[string, IDataObject, NodeSettings]> = [
		['that is only previewed', { preview: true }, {}],
		['that is refused', {}, {}],
		['whose orders a limit refuses one by one', {}, continues],
	];

	it.each(lists)(
		'forgets no Order Key and no order of the day for a list %s',
		async (_, parameters, settings) => {
			await run(itemsOf(0, 10), limit);
			fillUp();
			await run(itemsOf(1_000, 1_600), limit, parameters, settings);
			expect(processedItems.size).toBe(room);
			await run(itemsOf(100, 110), limit, {}, settings);
			const again = await run(itemsOf(0, 10), limit);
			expect(again.items('Create').map(({ json }) => json.ordered)).toEqual(
				Array.from({ length: 10 }, () => false),
			);
			expect(gateway.ledger).toHaveLength(10);
		},
	);
});

describe('a list with more orders than n8n’s store can guard', () => {
	it.each<[string, IDataObject, number]>([
		['orders with an Order Key', {}, 2_475],
		['orders', { orderKey: undefined }, 4_950],
	])('is refused before anything is sent, and the error says how many: %s', async (...row) => {
		const [orders, options, most] = row;
		const refused = await run(itemsOf(0, most + 1), options, { preview: false });
		expect(refused.errorOf('Create')?.message).toMatch(
			new RegExp(`Nothing was ordered, because the list has more than ${most} ${orders}$`),
		);
		expect(gateway.requests).toEqual([]);
		expect(processedItems.size).toBe(0);
	});
});

// The first executions of a node at the same moment, in several workers, with the same Order Key.

const workflow = chain(createVideo({ options: inGroups({ orderKey: 'row 1' }) }));
const order = async (worker = new EngineProcess()) =>
	(await worker.run(
		async () => await runWorkflow(workflow, { mode: 'trigger', inWorker: true }),
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

it.each(Array.from({ length: 14 }, (_, index) => index + 1))(
	'loses no Order Key of a worker when the response to call %d of the database is lost',
	async (lost) => {
		let calls = 0;
		processedItems.intercept = () => {
			if (++calls === lost) throw new Error('Connection terminated unexpectedly');
		};
		const worker = new EngineProcess();
		for (let runs = 0; runs < 3; runs++) await order(worker);
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
			async () => await runWorkflow(list, { mode: 'trigger', inWorker: true, input: skus }),
		);

	it.each([
		['when the first worker had looked it up before', false],
		['when the database also loses the response to the record of the first worker', true],
	])('is ordered once %s', async (_, losesResponse) => {
		const [one, other] = [new EngineProcess(), new EngineProcess()];
		let [hasOrdered, isLost] = [false, false];
		processedItems.precede = async (call) => {
			if (currentProcess() !== one || call !== 'count' || hasOrdered) return;
			hasOrdered = true;
			await orderList(other);
		};
		processedItems.intercept = (call) => {
			if (!losesResponse || currentProcess() !== one || !hasOrdered || isLost) return;
			if (call !== 'record') return;
			isLost = true;
			throw new Error('Connection terminated unexpectedly');
		};
		await orderList(one);
		await orderList(other);
		expect([hasOrdered, isLost]).toEqual([true, losesResponse]);
		expect(gateway.ledger).toHaveLength(11);
	});
});
