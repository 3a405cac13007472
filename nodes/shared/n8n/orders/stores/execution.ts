import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject, valueAt } from '../../../service/json';
import { firstCallOfNewTry } from '../../agent/agentRun';
import { isTool } from '../../agent/tool';
import { nodeMemory, runIndexOf } from '../../execution/memory';
import { addTotals, fuller, totalOf, type Entry, type OrderStore, type Total } from '../entry';
import { originOf, type Order } from '../identity';

/** What n8n stores with an execution. */
interface Memory {
	/** See {@link originOf}. */
	origin: string;
	run: CurrentRun;
	/** What the dropped orders count for limits. n8n stores null for an infinite cost. */
	dropped: { orders: number; cost: number | null };
	/** By the ID of the order. */
	known: Record<string, Entry>;
	/** By the hash of a request: the number of the run that has the first equal one, the second, … */
	owners: Record<string, Array<number | null>>;
}

/** The run of a node. n8n's own index is wrong after a crash: n8n then invents a first run for nodes that had begun. */
interface CurrentRun {
	execution: string;
	/** n8n's index of the run. */
	index: number;
	/** How many runs came before it. */
	number: number;
}

/**
 * The orders in the node's context. n8n stores it with an execution that failed or is parked, so all its Retries have
 * it. n8n does not store it when the execution was stopped or killed while the node ran. Runs of a loop and calls of a
 * tool share it: an order that one of them owns belongs to no other.
 */
export class ExecutionOrders implements OrderStore {
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
		const { origin = originOf(context), run: last, known = {}, owners = {} } = stored;
		const { dropped = { orders: 0, cost: 0 } } = stored;
		this.isOfTool = isTool(context.getNode());
		const run = this.currentRun(context, last);
		this.memory = Object.assign(stored, { origin, run, dropped, known, owners });
		this.origin = origin;
		this.run = run.number;
		if (last && run !== last) this.beginRun(last);
	}

	/** Whether a run has ordered before. */
	get isFirst(): boolean {
		const { known, dropped } = this.memory;
		return dropped.orders === 0 && Object.keys(known).length === 0;
	}

	/** What limits count of all orders but some. */
	totalExcept(isExcepted: (order: Order) => boolean): Total {
		const { dropped, known } = this.memory;
		const counted = Object.values(known).filter((entry) => !isExcepted(entry));
		const { orders, cost } = dropped;
		return addTotals({ orders, cost: cost ?? Infinity }, totalOf(counted));
	}

	/** Whether it has the order, or had it. */
	has({ id, request, count }: Order): boolean {
		const { known, owners } = this.memory;
		return id in known || typeof owners[request]?.[count] === 'number';
	}

	/** Whether the order belongs to another run. */
	isOfOtherRun({ request, count }: Pick<Order, 'request' | 'count'>): boolean {
		return (this.memory.owners[request]?.[count] ?? this.run) !== this.run;
	}

	/**
	 * Assigns to this run the next order of equal requests that belongs to no other run.
	 * @param from the first count that is possible
	 * @returns its count
	 */
	takeNext(request: string, from: number): number {
		let count = from;
		while (this.isOfOtherRun({ request, count })) count++;
		this.assign({ request, count });
		return count;
	}

	/** Assigns an order to this run. */
	assign({ request, count }: Pick<Order, 'request' | 'count'>): void {
		if (!this.isOrder && !this.isOfTool) return;
		const owners = (this.memory.owners[request] ??= []);
		while (owners.length < count) owners.push(null);
		owners[count] = this.run;
	}

	/** Lets other runs have an order of this run. */
	release({ request, count }: Pick<Order, 'request' | 'count'>): void {
		const owners = this.memory.owners[request];
		if (owners?.[count] !== this.run) return;
		owners[count] = null;
		if (owners.every((owner) => owner === null)) delete this.memory.owners[request];
	}

	/** All orders that belong to no other run. */
	find(): Entry[] {
		return Object.values(this.memory.known).filter((entry) => !this.isOfOtherRun(entry));
	}

	keep(entries: readonly Entry[]): void {
		const { known } = this.memory;
		for (const entry of entries) known[entry.id] = fuller(known[entry.id], entry);
	}

	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		for (const { id } of orders) delete this.memory.known[id];
	}

	/** Drops the orders of a run that has succeeded: n8n stores its outputs, so only their sum is still needed. */
	finishRun(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		// A Retry of the agent calls its tools again, which need the results.
		if (this.isOfTool && this.isOrder) return;
		for (const { id } of orders) this.drop(id);
	}

	/** @param last the run that n8n stored last */
	private currentRun(context: IExecuteFunctions, last?: CurrentRun): CurrentRun {
		const [index, execution] = [runIndexOf(context), context.getExecutionId()];
		const isFirst = !last || (this.isOfTool && last.execution !== execution);
		const isSame = !isFirst && last.index === index;
		const next = isFirst ? 0 : last.number + (isSame ? 0 : 1);
		const first = this.isOfTool ? firstCallOfNewTry(context, next) : undefined;
		return isSame && first === undefined ? last : { execution, index, number: first ?? next };
	}

	/** Drops the orders of earlier runs: they are in their outputs, also where n8n continued after a failure. */
	private beginRun(last: CurrentRun): void {
		const { memory, isOfTool, isOrder } = this;
		if (isOfTool) {
			// An agent that is run again starts with its first call of a tool, which owns nothing yet.
			if (last.number < memory.run.number) return;
			for (const owners of Object.values(memory.owners))
				for (const [count, owner] of owners.entries())
					if (owner !== null && owner >= memory.run.number) owners[count] = null;
			return;
		}
		for (const entry of Object.values(memory.known)) {
			if (!isOrder || this.isOfOtherRun(entry)) this.drop(entry.id);
		}
	}

	private drop(id: string): void {
		const { memory } = this;
		if (!(id in memory.known)) return;
		const { orders, cost } = memory.dropped;
		memory.dropped = addTotals({ orders, cost: cost ?? Infinity }, totalOf([memory.known[id]]));
		delete memory.known[id];
	}
}

function isMemory({
	origin = '',
	run,
	dropped = { orders: 0, cost: 0 },
	known = {},
	owners = {},
}: Partial<Memory>): boolean {
	const isRun = run === undefined || Number.isInteger(valueAt(run, 'number'));
	const [orders, cost] = [valueAt(dropped, 'orders'), valueAt(dropped, 'cost')];
	const isSum = Number.isInteger(orders) && Number(orders) >= 0 && Number(cost) >= 0;
	return (
		isRun &&
		isSum &&
		cost !== undefined &&
		typeof origin === 'string' &&
		isObject(known) &&
		Object.values(known).every(isEntry) &&
		isObject(owners) &&
		Object.values(owners).every(Array.isArray)
	);
}

function isEntry(value: unknown): boolean {
	if (!isObject(value) || typeof value.id !== 'string') return false;
	const { state, parts, failure, result, hints, run, timesSent } = value;
	if (!Number.isInteger(run) || !Number.isInteger(timesSent)) return false;
	if (state === 'answered')
		return typeof result === 'object' && result !== null && Array.isArray(hints);
	return state === 'sent' || (state === 'new' ? Array.isArray(parts) : isObject(failure));
}
