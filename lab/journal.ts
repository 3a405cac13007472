import type { IExecuteFunctions } from 'n8n-workflow';
import { EventLoopYielder } from '../nodes/shared/n8n/client/eventLoopYielder';
import { NodeLog } from '../nodes/shared/n8n/log/nodeLog';
import { Ledger } from '../nodes/shared/n8n/orders/ledger';
import { Line } from '../nodes/shared/n8n/orders/line';
import type { Limit } from '../nodes/shared/n8n/parameters/orderOptions';
import { processMemory } from '../nodes/shared/n8n/execution/processMemory';
import { median } from './statistics';
import { executeContext } from '../test/support/workflows/executeContext';
import { atMost, type Figure } from './report';

const executions = 10_000;
/** Executions whose orders are compared. */
const group = 500;
/** Executions before the first of them. */
const warmUps = 2_000;
/** Characters of a result: all of them are more than the process keeps. */
const resultSize = 4_000;
/** How much slower the last orders may be than the first. */
const maxSlower = 1.5;
/** Megabytes that the process may keep of all executions. */
const maxKept = 100;
/** Orders of the day before a process starts. */
const earlier = 100;

const settings = {
	billing: 'job',
	fields: [],
	isOrder: true,
	yielder: new EventLoopYielder(),
	connection: { baseUrl: 'http://127.0.0.1:9', asyncHeaderName: 'X-Gateway-Async', key: 'sk' },
	log: new NodeLog(executeContext()),
} as const;

const plain = { ifOrderedBefore: 'skip', releasesKey: false, limits: [] } as const;
/** A limit of a day. */
const ofDay = (of: Limit['of']) => ({
	...plain,
	limits: [{ of, period: 'day', max: 1_000, field: 'Limit' } as const],
});
/** @param number of the order: an Order Key is used once */
type OptionsOf = (number: number) => Line['options'];

/** The records that an order can have, and how many calls of n8n's store it may take in the main process. */
const kinds: Record<string, { optionsOf: OptionsOf; maxCalls: number }> = {
	plain: { optionsOf: () => plain, maxCalls: 2 },
	'Order Key': { optionsOf: (number) => ({ ...plain, key: `key ${number}` }), maxCalls: 6 },
	'Max Orders per Day': { optionsOf: () => ofDay('orders'), maxCalls: 6 },
	'Max Cost per Day': { optionsOf: () => ofDay('cost'), maxCalls: 6 },
};

/** n8n's store of processed items, without the time that n8n takes for it. */
class Store {
	calls = 0;
	private readonly entries = new Set<string>();

	readonly helpers = {
		checkProcessedAndRecord: async (
			values: string[],
			_: unknown,
			{ maxEntries = Infinity }: { maxEntries?: number },
		) => {
			this.calls++;
			const processed = values.filter((value) => this.entries.has(value));
			for (const value of values) this.entries.add(value);
			for (const oldest of this.entries) {
				if (this.entries.size <= maxEntries) break;
				this.entries.delete(oldest);
			}
			return { new: [], processed };
		},
		removeProcessed: async (values: string[]) => {
			this.calls++;
			for (const value of values) this.entries.delete(value);
		},
		getProcessedDataCount: async () => {
			this.calls++;
			return this.entries.size;
		},
	};
}

interface Order {
	store: Store;
	/** Unique: its execution has only this order. */
	number: number;
	optionsOf: OptionsOf;
	isInWorker?: boolean;
}

/** Places an order in an execution of its own, and gets a result. */
async function place({ store, number, optionsOf, isInWorker }: Order): Promise<void> {
	const execution = executeContext({ id: `${number}`, token: `token ${number}` });
	const context = Object.assign(execution, {
		helpers: store.helpers,
		getTimezone: () => 'UTC',
		// A worker's engine has nothing that sends to the editor.
		...(isInWorker && { additionalData: {} }),
	}) as unknown as IExecuteFunctions;
	const ledger = new Ledger(context, settings);
	const line = Object.assign(new Line(0), {
		identity: `Video ${number}`,
		options: optionsOf(number),
		cost: 0.37,
	});
	await ledger.open([line]);
	if (line.decision?.do !== 'send')
		throw new Error(`Order ${number}: ${JSON.stringify(line.decision)}`);
	line.result = { id: `video_${number}`, text: 'x'.repeat(resultSize) };
	ledger.recordOutcome(line);
	await ledger.close({ hasSucceeded: true });
}

/** Measures the record of orders in one process: its time and memory over many executions, and its calls of n8n's store. */
export async function measureJournal(): Promise<Figure[]> {
	const figures = [...(await manyExecutions()), ...(await callsOfKinds())];
	processMemory.clear();
	return figures;
}

async function manyExecutions(): Promise<Figure[]> {
	const { optionsOf } = kinds.plain;
	const timed = async (store: Store, number: number) => {
		const begun = performance.now();
		await place({ store, number, optionsOf });
		return performance.now() - begun;
	};
	processMemory.clear();
	const warm = new Store();
	for (let number = 0; number < warmUps; number++) await timed(warm, number);
	processMemory.clear();
	const before = heapUsed();
	const store = new Store();
	const times: number[] = [];
	for (let number = 0; number < executions; number++) times.push(await timed(store, number));
	const medians = Array.from({ length: executions / group }, (_, index) =>
		median(times.slice(index * group, (index + 1) * group)),
	);
	const [first, last] = [medians[0], medians[medians.length - 1]];
	const milliseconds = (figure: string, value: number) => ({
		figure,
		value: `${value.toFixed(3)} ms`,
	});
	return [
		milliseconds(`an order, of the first ${group} executions`, first),
		milliseconds(`an order, of the slowest ${group}`, Math.max(...medians)),
		milliseconds(`an order, of the last ${group} of ${executions.toLocaleString('en')}`, last),
		atMost('the last / the first', last / first, maxSlower, { digits: 2 }),
		atMost('memory that the process keeps', (heapUsed() - before) / 1e6, maxKept, { unit: 'MB' }),
	];
}

/** Bytes in use after a garbage collection. */
function heapUsed(): number {
	globalThis.gc?.();
	return process.memoryUsage().heapUsed;
}

/** Counts the calls of n8n's store for each kind of order, in the main process and in a worker. */
async function callsOfKinds(): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const [kind, { optionsOf, maxCalls }] of Object.entries(kinds)) {
		const inMain = await callsOf({ optionsOf });
		const inWorker = await callsOf({ optionsOf, isInWorker: true });
		figures.push(
			atMost(`calls of n8n’s store, ${kind}`, inMain.most, maxCalls, { value: textOf(inMain) }),
			{ figure: '  the same in a worker', value: textOf(inWorker) },
		);
	}
	return figures;
}

interface Calls {
	/** Calls for the first order of a node. */
	first: number;
	/** The most of the orders after it. */
	most: number;
	/** Calls for the first order in a process that starts later. */
	later: number;
}

async function callsOf(kind: Pick<Order, 'optionsOf' | 'isInWorker'>): Promise<Calls> {
	const store = new Store();
	let number = 0;
	const calls = async (order = kind) => {
		const before = store.calls;
		await place({ ...order, store, number: number++ });
		return store.calls - before;
	};
	processMemory.clear();
	const first = await calls();
	const next = [await calls(), await calls(), await calls()];
	// In the main process, where no order waits for other workers.
	while (number < earlier) await calls({ ...kind, isInWorker: false });
	processMemory.clear();
	return { first, most: Math.max(...next), later: await calls() };
}

const textOf = ({ first, most, later }: Calls) =>
	`${most}; the first ${first}, after a restart ${later}`;
