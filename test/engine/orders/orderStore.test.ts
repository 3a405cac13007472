import { randomFrom } from '../../../gateway/random';
import { EngineProcess, processedItems, type WorkflowRun } from '../../harness';
import { currentProcess } from '../../harness/process';
import { charged, create, run, withOrders, world, type Fields } from '../../support/orders';
import { chain } from '../../support/workflows/workflows';

// n8n's store of a node keeps its newest entries. What it forgets, nobody can guard.

/** How many entries the store keeps. */
const room = 20_000;

withOrders({ jobSeconds: Infinity });

const keyed = (options: Fields = {}, more: Fields = {}) =>
	chain(create('a video', { options: { orderKey: '={{ $json.prompt }}', ...options }, ...more }));
const skus = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => `S${from + index}`);

/** Adds entries of later orders, until the store has no more room. */
const fillUp = () => {
	const { size } = processedItems;
	processedItems.fill(Array.from({ length: room - size }, (_, index) => `filler ${size + index}`));
};

const continues = { onError: 'continueRegularOutput' } as const;

describe('a full store of n8n', () => {
	const limit = { maxOrdersPerDay: 10 };

	it.each<[string, Fields]>([
		['that is only previewed', { preview: true }],
		['that is refused', {}],
		['whose orders a limit refuses one by one', { settings: continues }],
	])('forgets no Order Key and no order of the day for a list %s', async (_, more) => {
		await run(keyed(limit), skus(0, 10));
		fillUp();
		await run(keyed(limit, more), skus(1_000, 1_600));
		expect(processedItems.size).toBe(room);
		await run(keyed(limit, { ...more, preview: false }), skus(100, 110));
		const again = await run(keyed(limit), skus(0, 10));
		expect(again.items('Create').map(({ json }) => json.ordered)).toEqual(
			Array.from({ length: 10 }, () => false),
		);
		expect(charged()).toBe(10);
	});
});

describe('a list with more orders than n8n’s store can guard', () => {
	it.each<[string, Fields, number]>([
		['orders with an Order Key', {}, 2_475],
		['orders', { orderKey: undefined }, 4_950],
	])('is refused before anything is sent, and the error says how many: %s', async (...row) => {
		const [orders, options, most] = row;
		const refused = await run(keyed(options), skus(0, most + 1));
		expect(refused.errorOf('Create')?.message).toMatch(
			new RegExp(`Nothing was ordered, because the list has more than ${most} ${orders}$`),
		);
		expect(world.gateway.requests).toEqual([]);
		expect(processedItems.size).toBe(0);
	});
});

// The first executions of a node at the same moment, in several workers, with the same Order Key.

const orderIn = async (worker: EngineProcess, prompts = ['row 1']) =>
	(await worker.run(async () => await run(keyed(), prompts, { inWorker: true }))) as WorkflowRun;

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
		const runs = await Promise.all(workers.map(async (worker) => await orderIn(worker)));
		expect(runs.map((run) => run.errorOf('Create')?.message)).toEqual(runs.map(() => undefined));
		expect(charged()).toBe(1);
		expect((await orderIn(new EngineProcess())).items('Create')[0].json).toMatchObject({
			ordered: false,
		});
		expect(charged()).toBe(1);
	},
);

it.each(Array.from({ length: 6 }, (_, index) => [`refused burst ${index}`]))(
	'leaves an Order Key unused when the service refuses all of four workers: %s',
	async (seed) => {
		answerAtRandom(seed, 40);
		const refusal = { status: 429, code: 'quota_exceeded', times: Infinity };
		const fault = world.gateway.fault({ route: 'videoCreate', action: 'error', ...refusal });
		const workers = Array.from({ length: 4 }, () => new EngineProcess());
		await Promise.all(workers.map(async (worker) => await orderIn(worker)));
		fault.remove();
		await orderIn(new EngineProcess());
		expect(charged()).toBe(1);
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
		for (let runs = 0; runs < 3; runs++) await orderIn(worker);
		expect(charged()).toBe(1);
	},
);

describe('a list of Order Keys that another worker orders meanwhile', () => {
	const list = skus(0, 11);

	it.each([
		['when the first worker had looked it up before', false],
		['when the database also loses the response to the record of the first worker', true],
	])('is ordered once %s', async (_, losesResponse) => {
		const [one, other] = [new EngineProcess(), new EngineProcess()];
		let [hasOrdered, isLost] = [false, false];
		processedItems.precede = async (call) => {
			if (currentProcess() !== one || call !== 'count' || hasOrdered) return;
			hasOrdered = true;
			await orderIn(other, list);
		};
		processedItems.intercept = (call) => {
			if (!losesResponse || currentProcess() !== one || !hasOrdered || isLost) return;
			if (call !== 'record') return;
			isLost = true;
			throw new Error('Connection terminated unexpectedly');
		};
		await orderIn(one, list);
		await orderIn(other, list);
		expect([hasOrdered, isLost]).toEqual([true, losesResponse]);
		expect(charged()).toBe(11);
	});
});
