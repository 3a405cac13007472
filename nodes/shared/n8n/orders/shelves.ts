/**
 * What is known of orders is kept in three places: with the execution, in the memory of the process, and in n8n's
 * database (`database.ts`). Each knows an order by its ID, so what one execution knows never serves another.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject, valueAt } from '../../gateway/json';
import { isTool } from '../agent/tool';
import { nodeMemory } from '../execution/memory';
import { sumOf } from '../../gateway/prices';
import {
	addTotals,
	originOf,
	runOf,
	totalOf,
	type Entry,
	type Known,
	type Order,
	type RunCount,
	type Total,
} from './order';

/** Where all that is known of orders is kept. */
export interface KnownOrders {
	/** What is known of these orders, and of others that may be the same. */
	read(orders: readonly Order[]): Entry[];
	keep(entries: readonly Entry[]): void;
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void;
}

const ranks: Record<Entry['state'], number> = { new: 0, sent: 1, lost: 2, answered: 3 };

/** The entry that knows more of an order: what another try has learned in the meantime must not be lost. */
const fuller = (before: Entry | undefined, now: Entry): Entry =>
	before && ranks[before.state] > ranks[now.state] ? before : now;

/** Merges what several sources know: of each order, the entry that knows most. */
export function mergeKnown(entries: readonly Entry[]): Entry[] {
	const most = new Map<string, Entry>();
	for (const entry of entries) most.set(entry.id, fuller(most.get(entry.id), entry));
	return [...most.values()];
}

/** What n8n stores with an execution. */
interface Memory {
	/** See {@link originOf}. */
	origin: string;
	run: RunCount;
	/** How many orders were placed, not counting the known ones. */
	placed: number;
	/** Their estimated cost. */
	spent: number;
	/** By the ID of the order. */
	known: Record<string, Entry>;
	/** By the hash of a request or an item: the number of the run that has taken the first equal one, the second, … */
	taken: Record<string, Array<number | null>>;
}

/** The fields by which `taken` identifies an order. */
type Numbered = Partial<Pick<Order, 'request' | 'count' | 'item' | 'itemCount'>>;

/**
 * The orders in the node's context. n8n stores it with an execution that failed or is parked, so all its Retries have
 * it. n8n does not store it when the execution was stopped or killed while the node ran. Runs of a loop and calls of a
 * tool share it: an order that one of them has taken belongs to no other.
 */
export class ExecutionOrders implements KnownOrders {
	/** False when a newer release has stored it, or when it is damaged. It then stays as it is. */
	readonly isReadable: boolean;
	readonly origin: string;
	readonly run: number;
	private readonly memory: Memory;
	private readonly isOfTool: boolean;

	/** @param isOrder whether videos or images are ordered, which a Retry may find in another run */
	constructor(
		context: IExecuteFunctions,
		private readonly isOrder: boolean,
	) {
		const own: { orders?: Partial<Memory> } | undefined = nodeMemory(context);
		this.isReadable = own !== undefined && isMemory(own.orders ?? {});
		// Changed in place, since the calls of a tool share it.
		const stored = own && this.isReadable ? (own.orders ??= {}) : {};
		const { origin = originOf(context), run: last, placed = 0, known = {}, taken = {} } = stored;
		const run = runOf(context, last);
		// n8n stores null for infinity.
		const spent = stored.spent ?? (placed === 0 ? 0 : Infinity);
		this.memory = Object.assign(stored, { origin, run, placed, spent, known, taken });
		this.origin = origin;
		this.run = run.number;
		this.isOfTool = isTool(context.getNode());
		if (last && run !== last) this.beginRun(last);
	}

	/** What the execution has ordered or is about to order, except some of its known orders. */
	placedExcept(isExcepted: (order: Order) => boolean): Total {
		const { placed, spent, known } = this.memory;
		const counted = Object.values(known).filter((entry) => !isExcepted(entry));
		return addTotals({ orders: placed, cost: spent }, totalOf(counted));
	}

	/** Whether the order is known, or a run has taken it. */
	has({ id, request, count }: Order): boolean {
		const { known, taken } = this.memory;
		return id in known || typeof taken[request]?.[count] === 'number';
	}

	/** Whether another run has taken the order. */
	isTaken({ request = '', count = -1 }: Numbered): boolean {
		return (this.memory.taken[request]?.[count] ?? this.run) !== this.run;
	}

	/**
	 * Takes the next order of equal requests, or of equal items, that no other run has taken.
	 * @param from the first count that is possible
	 * @returns its count
	 */
	takeNext(name: string, from: number): number {
		let count = from;
		while (this.isTaken({ request: name, count })) count++;
		this.take({ request: name, count });
		return count;
	}

	take(order: Numbered): void {
		if (!this.isOrder && !this.isOfTool) return;
		for (const [name, count] of numbersOf(order)) {
			const takers = (this.memory.taken[name] ??= []);
			while (takers.length < count) takers.push(null);
			takers[count] = this.run;
		}
	}

	/** Lets other runs take the order. */
	release(order: Numbered): void {
		const { taken } = this.memory;
		for (const [name, count] of numbersOf(order)) {
			const takers = taken[name];
			if (takers?.[count] !== this.run) continue;
			takers[count] = null;
			if (takers.every((taker) => taker === null)) delete taken[name];
		}
	}

	read(): Entry[] {
		return Object.values(this.memory.known).filter((entry) => !this.isTaken(entry));
	}

	keep(entries: readonly Entry[]): void {
		const { known } = this.memory;
		for (const entry of entries) known[entry.id] = fuller(known[entry.id], entry);
	}

	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		for (const { id } of orders) delete this.memory.known[id];
	}

	/** Drops the orders of a run that has succeeded: n8n stores its outputs, so only their sum is still needed. */
	settle(orders: ReadonlyArray<Pick<Known, 'id'>>): void {
		// A Retry of the agent calls its tools again, which need the results.
		if (this.isOfTool && this.isOrder) return;
		for (const { id = '' } of orders) this.drop(id);
	}

	/** Drops the orders of earlier runs: they are in their outputs, also where n8n continued after a failure. */
	private beginRun(last: RunCount): void {
		const { memory, isOfTool, isOrder } = this;
		if (isOfTool) {
			// In a Retry, an agent starts again with its first call of a tool.
			if (last.execution !== memory.run.execution) memory.taken = {};
			return;
		}
		for (const entry of Object.values(memory.known)) {
			if (!isOrder || this.isTaken(entry)) this.drop(entry.id);
		}
	}

	private drop(id: string): void {
		if (!(id in this.memory.known)) return;
		const { memory } = this;
		memory.placed++;
		memory.spent = sumOf([memory.spent, memory.known[id].cost ?? Infinity]);
		delete memory.known[id];
	}
}

/** The hashes by which the order is counted, each with its count. */
const numbersOf = ({ request, count, item, itemCount }: Numbered) =>
	(
		[
			[request, count],
			[item, itemCount],
		] as const
	).filter((pair): pair is readonly [string, number] => pair.every((part) => part !== undefined));

function isMemory({
	origin = '',
	run,
	placed = 0,
	spent,
	known = {},
	taken = {},
}: Partial<Memory>): boolean {
	const isRun = run === undefined || Number.isInteger(valueAt(run, 'number'));
	const isCount = Number.isInteger(placed) && placed >= 0;
	const isSum = typeof (spent ?? 0) === 'number' && !(Number(spent) < 0);
	return (
		isRun &&
		isCount &&
		isSum &&
		typeof origin === 'string' &&
		isObject(known) &&
		Object.values(known).every(isEntry) &&
		isObject(taken) &&
		Object.values(taken).every(Array.isArray)
	);
}

function isEntry(value: unknown): boolean {
	if (!isObject(value) || typeof value.id !== 'string') return false;
	const { state, parts, failure, result, hints, run } = value;
	if (!Number.isInteger(run)) return false;
	if (state === 'answered')
		return typeof result === 'object' && result !== null && Array.isArray(hints);
	return state === 'sent' || (state === 'new' ? Array.isArray(parts) : isObject(failure));
}

/** What this process knows of an execution and all its Retries. */
interface RelatedOrders {
	/** By the ID of the order. */
	known: Map<string, RelatedOrder>;
	/** Characters of JSON in all of them. */
	size: number;
}

interface RelatedOrder {
	order: Order;
	/** All that is known of it. As JSON, so that nothing that a workflow does with an output changes it. */
	json: string;
}

/** By origin, the least recently used first. */
export const processMemory = new Map<string, RelatedOrders>();

/** Characters of JSON. Above it, the least recently used executions are dropped. */
const maxSize = 32 * 1024 * 1024;

/**
 * The orders in the memory of this n8n process. It has what n8n does not store: the orders of an execution that was
 * stopped, and those of the other Retries of an execution.
 */
export class ProcessOrders implements KnownOrders {
	constructor(
		private readonly origin: string,
		private readonly run: number,
	) {}

	/** All orders of the execution and its Retries. */
	get orders(): Order[] {
		return [...this.related.known.values()].map(({ order }) => order);
	}

	read(orders: readonly Order[]): Entry[] {
		const marks = new Set(orders.flatMap(marksOf));
		const isRead = (order: Order) =>
			order.run === this.run || marksOf(order).some((mark) => marks.has(mark));
		return this.readAll(isRead);
	}

	/** @param isRead selects among the orders of the execution and its Retries; default: all */
	readAll(isRead: (order: Order) => boolean = () => true): Entry[] {
		return [...this.related.known.values()]
			.filter(({ order }) => isRead(order))
			.map(({ json }) => ({ ...(JSON.parse(json) as Entry), isRecalled: true }));
	}

	keep(entries: readonly Entry[]): void {
		if (entries.length === 0) return;
		const { related } = this;
		for (const added of entries) {
			const before = related.known.get(added.id);
			const entry = before ? fuller(JSON.parse(before.json) as Entry, added) : added;
			const json = JSON.stringify(entry);
			related.known.set(added.id, { order: orderOf(entry), json });
			related.size += json.length - (before?.json.length ?? 0);
		}
		processMemory.delete(this.origin);
		processMemory.set(this.origin, related);
		this.evictOldest();
	}

	/** Removes orders, except those that another Retry got a response for in the meantime. */
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		const { related } = this;
		for (const { id } of orders) {
			const { json } = related.known.get(id) ?? {};
			if (!json || (JSON.parse(json) as Entry).state === 'answered') continue;
			related.known.delete(id);
			related.size -= json.length;
		}
		if (related.known.size === 0) processMemory.delete(this.origin);
	}

	private get related(): RelatedOrders {
		return processMemory.get(this.origin) ?? { known: new Map(), size: 0 };
	}

	/** Drops whole executions: if only some orders were dropped, a Retry would place these again. */
	private evictOldest(): void {
		let size = 0;
		for (const related of processMemory.values()) size += related.size;
		for (const [origin, related] of processMemory) {
			if (size <= maxSize || origin === this.origin) return;
			processMemory.delete(origin);
			size -= related.size;
		}
	}
}

/** The texts by which the order may be found in another run. No two kinds of them are ever equal. */
const marksOf = ({ id, request, item, key }: Order): string[] =>
	[id, request, item, key].filter((mark) => mark !== undefined);

const orderOf = ({
	id,
	request,
	count,
	run,
	place,
	item,
	itemCount,
	written,
	key,
	idempotencyKey,
	cost,
}: Order): Order => ({
	...{ id, request, count, run, place, item, itemCount, written, key, idempotencyKey, cost },
});
