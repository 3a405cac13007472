import type { IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../service/errors/jobSummary';
import { firstCallOfNewTry } from '../agent/agentRun';
import { isTool } from '../agent/tool';
import { nodeMemory, runIndexOf } from '../execution/memory';
import { originOf } from './identity';
import { keptJournals } from './keptJournals';
import { orderOf, wishesOf, type Line } from './line';
import { addTotals, totalOf, type Order, type State, type Total, type Wish } from './order';
import { readStored, type Orders, type Run, type Stored } from './stored';

/**
 * All orders of an execution and its Retries: the only memory of them, apart from the marks in n8n's database.
 *
 * It is one object. n8n stores it in the node's context with an execution that failed or is parked, so every Retry has
 * it. The process keeps the same object, because n8n stores nothing of an execution that was stopped while the node ran,
 * and because several Retries may run at once. Runs of a loop and calls of a tool share it: each order belongs to one.
 */
export class Journal {
	/** False when a newer release has stored it, or when it is damaged. It then stays as it is. */
	readonly isReadable: boolean;
	/** See {@link originOf}. */
	readonly origin: string;
	/** How many runs of the node came before this one. */
	readonly run: number;
	readonly isOfTool: boolean;
	private readonly memory: Stored;

	/** @param isOrder whether videos or images are ordered, which a Retry may find in another run */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly isOrder: boolean,
	) {
		const own: { orders?: object } | undefined = nodeMemory(context);
		const stored = own && readStored(own.orders ?? {});
		this.isReadable = stored !== undefined;
		this.isOfTool = isTool(context.getNode());
		const { run: last, owners = {}, journal: orders = { revision: 0, known: {} } } = stored ?? {};
		const origin = stored?.origin ?? originOf(context);
		const run = this.currentRun(last);
		const journal = isOrder ? keptJournals().open(context, origin, orders) : orders;
		const memory = { origin, run, owners, journal };
		// Changed in place, since the calls of a tool share it.
		this.memory = own && stored ? (own.orders = Object.assign(stored, memory)) : memory;
		this.origin = origin;
		this.run = run.number;
		if (last && run !== last) this.beginRun(last);
	}

	/** The orders that belong to no other run. */
	get open(): Order[] {
		return Object.values(this.orders.known).filter((order) => !this.isOfOtherRun(order));
	}

	/** The sum of all orders except these. @param subject if given, only its orders count, and those without one */
	totalExcept(ids: ReadonlySet<string | undefined> = new Set(), subject?: string): Total {
		const { known, earlier = { orders: 0, cost: 0 } } = this.orders;
		const isOfSubject = (order: Order) => [undefined, subject].includes(order.subject);
		const counted = Object.values(known).filter(
			(order) => !ids.has(order.id) && (subject === undefined || isOfSubject(order)),
		);
		const { orders, cost } = earlier;
		return addTotals({ orders, cost: cost ?? Infinity }, totalOf(counted));
	}

	isUnderWay({ id }: Pick<Wish, 'id'>): boolean {
		return this.isOrder && keptJournals().isUnderWay(this.origin, id);
	}

	/** Assigns to this run the next of equal requests that belongs to no other run. @returns its count */
	takeNext(request: string, from: number): number {
		let count = from;
		while (this.isOfOtherRun({ request, count })) count++;
		this.assign({ request, count });
		return count;
	}

	/**
	 * Keeps what is known of orders. An answer that was learned in the meantime stays.
	 * @param isUnderWay whether they are being sent, so that other Retries leave them alone; default: as before
	 */
	keep(orders: readonly Order[], isUnderWay?: boolean): void {
		const { known } = this.orders;
		for (const order of orders) {
			const before = known[order.id];
			const next = before?.state === 'answered' && order.state !== 'answered' ? before : order;
			const timesSent = Math.max(before?.timesSent ?? 0, order.timesSent);
			// A copy, because a workflow may change an output.
			known[order.id] = JSON.parse(JSON.stringify({ ...next, timesSent })) as Order;
		}
		this.changed(orders, isUnderWay);
	}

	/** Keeps what is about to be sent, and whose orders they are. */
	begin(lines: readonly Line[]): void {
		for (const line of lines) {
			const { wish, found } = line;
			if (!line.isSent) this.release(wish);
			if (line.isPreview || !found) continue;
			// From now on, it belongs to this run.
			const { run, source } = wish;
			if (found.order.run !== run) this.keep([{ ...found.order, run, source }]);
			this.assign(found.order);
		}
		if (!this.isOrder) return;
		const orders = lines
			.filter(({ isSent }) => isSent)
			.map((line) => orderOf(line, { state: 'sent' }));
		this.keep(orders, true);
	}

	/** Keeps the state of an order before the others have ended. */
	keepSent(line: Line, state: State): void {
		if (this.isOrder) this.keep([orderOf(line, state)], state.state === 'sent');
	}

	settle(sent: readonly Line[]): void {
		const refused = sent.filter(({ learned }) => !learned);
		// Found as another request, so that it has another name from now on.
		const renamed = sent.flatMap(({ wish, found, learned }) =>
			learned && found && found.order.id !== wish.id ? found.order : [],
		);
		this.remove([...wishesOf(refused), ...renamed]);
		// An earlier try may have been accepted, even if this one certainly made nothing.
		const made = sent.flatMap((line) =>
			line.learned ? orderOf(line, line.learned) : (line.found?.order ?? []),
		);
		this.keep(made, false);
		for (const { wish, found } of refused) if (!found) this.release(wish);
	}

	/** The jobs that belong neither to these lines nor to another run. */
	jobsExcept(lines: readonly Line[]): JobSummary[] {
		const own = new Set(namesOf(lines).map(({ id }) => id));
		return this.open.flatMap((order) =>
			order.state === 'answered' && !own.has(order.id) ? (order.job ?? []) : [],
		);
	}

	/** @param hasSucceeded whether n8n stores the outputs of the run */
	finishRun(lines: readonly Line[], hasSucceeded: boolean): void {
		const wishes = namesOf(lines);
		if (hasSucceeded && !this.isOrder) for (const { id } of wishes) delete this.orders.known[id];
		// An agent that calls its tool again after a failure wants the same orders.
		const isDelivered = hasSucceeded && this.isOrder;
		if (this.isOfTool && !isDelivered) for (const wish of wishes) this.release(wish);
	}

	/** Removes refused orders, except those that another Retry got a response for in the meantime. */
	private remove(wishes: ReadonlyArray<Pick<Wish, 'id'>>): void {
		const { known } = this.orders;
		for (const { id } of wishes) if (known[id]?.state !== 'answered') delete known[id];
		this.changed(wishes, false);
	}

	private isOfOtherRun({ request, count }: Pick<Wish, 'request' | 'count'>): boolean {
		return (this.memory.owners[request]?.[count] ?? this.run) !== this.run;
	}

	private assign({ request, count }: Pick<Wish, 'request' | 'count'>): void {
		if (!this.isOrder && !this.isOfTool) return;
		const owners = (this.memory.owners[request] ??= []);
		while (owners.length < count) owners.push(null);
		owners[count] = this.run;
	}

	/** Lets other runs have an order that belongs to this run. */
	private release({ request, count }: Pick<Wish, 'request' | 'count'>): void {
		const owners = this.memory.owners[request];
		if (owners?.[count] !== this.run) return;
		owners[count] = null;
		if (owners.every((owner) => owner === null)) delete this.memory.owners[request];
	}

	private changed(wishes: ReadonlyArray<Pick<Wish, 'id'>>, isUnderWay?: boolean): void {
		const { context, origin, orders } = this;
		if (wishes.length === 0) return;
		orders.revision++;
		if (!this.isOrder) return;
		const ids = wishes.map(({ id }) => id);
		keptJournals().keep(context, { origin, orders, isUnderWay }, ids);
	}

	private get orders(): Orders {
		return this.memory.journal;
	}

	/** @param last the run that n8n stored last */
	private currentRun(last?: Run): Run {
		const { context } = this;
		const index = runIndexOf(context);
		const execution = context.getExecutionId();
		const isFirst = !last || (this.isOfTool && last.execution !== execution);
		const isSame = !isFirst && last.index === index;
		const next = isFirst ? 0 : last.number + (isSame ? 0 : 1);
		const first = this.isOfTool ? firstCallOfNewTry(context, next) : undefined;
		return isSame && first === undefined ? last : { execution, index, number: first ?? next };
	}

	private beginRun(last: Run): void {
		const { owners } = this.memory;
		// The outputs of earlier runs have them, also where n8n continued after a failure.
		if (!this.isOfTool && !this.isOrder) this.orders.known = {};
		// An agent that is run again starts with its first call of a tool, which owns nothing yet.
		if (!this.isOfTool || last.number < this.run) return;
		for (const ofRequest of Object.values(owners))
			for (const [count, owner] of ofRequest.entries())
				if (owner !== null && owner >= this.run) ofRequest[count] = null;
	}
}

const namesOf = (lines: readonly Line[]) =>
	lines.flatMap(({ wish, found }) => (found ? [wish, found.order] : wish));
