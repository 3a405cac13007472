/**
 * Where the knowledge of orders lasts: with the execution, as long as the process, and in n8n's database
 * (`database.ts`). Each of them knows an order by its ID, and so nothing of one execution serves another.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject, valueAt } from '../../gateway/json';
import { isTool } from '../agent/tool';
import { nodeMemory } from '../execution/memory';
import { sumOf } from '../../gateway/prices';
import {
	added,
	originOf,
	runOf,
	totalOf,
	type Entry,
	type Known,
	type Order,
	type RunCount,
	type Total,
} from './order';

/** A shelf that keeps all that is known of an order. */
export interface Shelf {
	/** What is known of these orders, and of those of this run that may be the same. */
	read(orders: readonly Order[]): Entry[];
	keep(entries: readonly Entry[]): void;
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void;
}

const ranks: Record<Entry['state'], number> = { new: 0, sent: 1, lost: 2, answered: 3 };

/** Knowledge only grows: what another try has learned meanwhile is not lost. */
const more = (before: Entry | undefined, now: Entry): Entry =>
	before && ranks[before.state] > ranks[now.state] ? before : now;

/** Of what several shelves know of the same order, the most. */
export function mostOf(entries: readonly Entry[]): Entry[] {
	const most = new Map<string, Entry>();
	for (const entry of entries) most.set(entry.id, more(most.get(entry.id), entry));
	return [...most.values()];
}

/** What n8n stores with an execution. */
interface Memory {
	/** See {@link originOf}. */
	origin: string;
	run: RunCount;
	/** How many orders were placed, beside the known ones. */
	placed: number;
	/** What these are estimated to cost. */
	spent: number;
	/** By the ID of the order. */
	known: Record<string, Entry>;
	/** By request, and by item: the number of the run that has taken the first such order, the second, and so on. */
	taken: Record<string, Array<number | null>>;
}

/** Tells an order by what n8n stores of all of them. */
type Numbered = Partial<Pick<Order, 'request' | 'count' | 'item' | 'itemCount'>>;

/**
 * The node's context. n8n stores it with an execution that failed, or that is parked, and so with all its Retries, but
 * not with one that was stopped or killed while the node ran. Runs of a loop and calls of a tool share it: an order that
 * one of them has taken is no other one's.
 */
export class ExecutionShelf implements Shelf {
	/** Whether it is not of a newer release, or damaged. What cannot be read stays as it is. */
	readonly isReadable: boolean;
	readonly origin: string;
	readonly run: number;
	private readonly memory: Memory;
	private readonly isOfTool: boolean;

	/** @param isOrder whether something dear is ordered, which Retries may find in another run */
	constructor(
		context: IExecuteFunctions,
		private readonly isOrder: boolean,
	) {
		const own: { orders?: Partial<Memory> } | undefined = nodeMemory(context);
		this.isReadable = own !== undefined && isMemory(own.orders ?? {});
		// In place, since the calls of a tool share it.
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

	/** What the execution has ordered, or is about to, except some of its known orders. */
	placedBut(isExcepted: (order: Order) => boolean): Total {
		const { placed, spent, known } = this.memory;
		const counted = Object.values(known).filter((entry) => !isExcepted(entry));
		return added({ orders: placed, cost: spent }, totalOf(counted));
	}

	/** Whether it is known, or a run has it. */
	has({ id, request, count }: Order): boolean {
		const { known, taken } = this.memory;
		return id in known || typeof taken[request]?.[count] === 'number';
	}

	/** Whether another run has the order. */
	isTaken({ request = '', count = -1 }: Numbered): boolean {
		return (this.memory.taken[request]?.[count] ?? this.run) !== this.run;
	}

	/** Takes the first order of a request, or of an item, from a count on, that no other run has. @returns its count */
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

	/** Leaves the order to other runs. */
	giveBack(order: Numbered): void {
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
		for (const entry of entries) known[entry.id] = more(known[entry.id], entry);
	}

	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		for (const { id } of orders) delete this.memory.known[id];
	}

	/** The run has succeeded, and n8n stores its outputs: of its orders, only their number is still needed. */
	settle(orders: ReadonlyArray<Pick<Known, 'id'>>): void {
		// A Retry of the agent calls its tools again.
		if (this.isOfTool && this.isOrder) return;
		for (const { id = '' } of orders) this.drop(id);
	}

	/** What earlier runs have ordered is in their outputs, whether they succeeded or n8n went on all the same. */
	private beginRun(last: RunCount): void {
		const { memory, isOfTool, isOrder } = this;
		if (isOfTool) {
			// The agent of a Retry calls its tools from the first one on.
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

/** What it is counted by. */
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
interface Family {
	/** By the ID of the order. */
	known: Map<string, Recalled>;
	/** Characters of all of them. */
	size: number;
}

interface Recalled {
	order: Order;
	/** All that is known of it, as JSON: what a workflow makes of an output must not change it. */
	json: string;
}

/** By origin; the one that was used last is the last. */
export const processMemory = new Map<string, Family>();

/** Characters of JSON. Above it, all that is known of the executions that were used longest ago is let go of. */
const maxSize = 32 * 1024 * 1024;

/**
 * The memory of this process of n8n. It has what n8n does not store: what was ordered by an execution that was stopped,
 * and by the other Retries of an execution.
 */
export class ProcessShelf implements Shelf {
	constructor(
		private readonly origin: string,
		private readonly run: number,
	) {}

	/** All orders of the execution and its Retries. */
	get orders(): Order[] {
		return [...this.family.known.values()].map(({ order }) => order);
	}

	read(orders: readonly Order[]): Entry[] {
		const marks = new Set(orders.flatMap(marksOf));
		const isRead = (order: Order) =>
			order.run === this.run || marksOf(order).some((mark) => marks.has(mark));
		return this.readAll(isRead);
	}

	/** @param isRead which of all orders of the execution and its Retries; default: each */
	readAll(isRead: (order: Order) => boolean = () => true): Entry[] {
		return [...this.family.known.values()]
			.filter(({ order }) => isRead(order))
			.map(({ json }) => ({ ...(JSON.parse(json) as Entry), isRecalled: true }));
	}

	keep(entries: readonly Entry[]): void {
		if (entries.length === 0) return;
		const { family } = this;
		for (const added of entries) {
			const before = family.known.get(added.id);
			const entry = before ? more(JSON.parse(before.json) as Entry, added) : added;
			const json = JSON.stringify(entry);
			family.known.set(added.id, { order: orderOf(entry), json });
			family.size += json.length - (before?.json.length ?? 0);
		}
		processMemory.delete(this.origin);
		processMemory.set(this.origin, family);
		this.makeRoom();
	}

	/** Spares what another Retry was answered meanwhile. */
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		const { family } = this;
		for (const { id } of orders) {
			const { json } = family.known.get(id) ?? {};
			if (!json || (JSON.parse(json) as Entry).state === 'answered') continue;
			family.known.delete(id);
			family.size -= json.length;
		}
		if (family.known.size === 0) processMemory.delete(this.origin);
	}

	private get family(): Family {
		return processMemory.get(this.origin) ?? { known: new Map(), size: 0 };
	}

	/** Lets go of whole executions: of a part of one, its Retry would take the rest for never sent. */
	private makeRoom(): void {
		let size = 0;
		for (const family of processMemory.values()) size += family.size;
		for (const [origin, family] of processMemory) {
			if (size <= maxSize || origin === this.origin) return;
			processMemory.delete(origin);
			size -= family.size;
		}
	}
}

/** By which it may be told in another run. They are of different lengths, or hashes of different things. */
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
