/**
 * Where the knowledge of orders lasts: with the execution, as long as the process, and in n8n's database
 * (`database.ts`). Each of them knows an order by its ID, and so nothing of one execution serves another.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject, valueAt } from '../../gateway/json';
import { isTool } from '../agent/tool';
import { nodeMemory } from '../execution/memory';
import { originOf, runOf, type Entry, type Order, type RunCount } from './order';

/** A shelf that keeps all that is known of an order. */
export interface Shelf {
	/** What is known of the orders of this run, and perhaps of others that these ones repeat. */
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
	/** How many orders were placed by runs that succeeded. */
	placed: number;
	/** Of the runs that did not: by the ID of the order. */
	known: Record<string, Entry>;
}

/**
 * The node's context. n8n stores it with an execution that failed, or that is parked, and so with all its Retries, but
 * not with one that was stopped or killed while the node ran.
 */
export class ExecutionShelf implements Shelf {
	/** Whether it is not of a newer release, or damaged. What cannot be read stays as it is. */
	readonly isReadable: boolean;
	readonly origin: string;
	readonly run: number;
	private readonly memory: Memory;
	private readonly isOfTool: boolean;

	constructor(context: IExecuteFunctions) {
		const own: { orders?: Partial<Memory> } | undefined = nodeMemory(context);
		this.isReadable = own !== undefined && isMemory(own.orders ?? {});
		// In place, since the calls of a tool share it.
		const stored = own && this.isReadable ? (own.orders ??= {}) : {};
		const { origin = originOf(context), run, placed = 0, known = {} } = stored;
		this.memory = Object.assign(stored, { origin, run: runOf(context, run), placed, known });
		this.origin = this.memory.origin;
		this.run = this.memory.run.number;
		this.isOfTool = isTool(context.getNode());
	}

	/** How many orders the execution has placed, or is about to. */
	get placed(): number {
		const { placed, known } = this.memory;
		return placed + Object.keys(known).length;
	}

	read(orders: readonly Order[]): Entry[] {
		const all = Object.values(this.memory.known);
		const ofRun = all.filter(({ run }) => run === this.run);
		if (!this.isOfTool) return ofRun;
		// An agent that calls its tool again after a failure begins another run. What is under way is of another call.
		const requests = new Set(orders.map(({ request }) => request));
		const repeated = all.filter(
			({ run, request, state }) => run !== this.run && requests.has(request) && state !== 'sent',
		);
		return [...ofRun, ...repeated];
	}

	keep(entries: readonly Entry[]): void {
		const { known } = this.memory;
		for (const entry of entries) known[entry.id] = more(known[entry.id], entry);
	}

	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		for (const { id } of orders) delete this.memory.known[id];
	}

	/** The run has succeeded, and n8n stores its outputs: of its orders, only their number is still needed. */
	settle(orders: ReadonlyArray<Partial<Order>>): void {
		const { memory } = this;
		const known = Object.values(memory.known);
		if (known.length === 0) return;
		const settled = new Set(orders.map(({ id }) => id));
		for (const { id, run } of known) {
			// Other calls of a tool may be under way.
			if (!settled.has(id) && (this.isOfTool || run !== this.run)) continue;
			memory.placed++;
			delete memory.known[id];
		}
	}
}

function isMemory({ origin = '', run, placed = 0, known = {} }: Partial<Memory>): boolean {
	const isRun = run === undefined || Number.isInteger(valueAt(run, 'number'));
	const isCount = Number.isInteger(placed) && placed >= 0;
	return (
		isRun &&
		isCount &&
		typeof origin === 'string' &&
		isObject(known) &&
		Object.values(known).every(isEntry)
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
	/** By the ID of the order, as JSON: what a workflow makes of an output must not change it. */
	known: Map<string, string>;
	/** Characters of all of them. */
	size: number;
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

	read(): Entry[] {
		const entries = [...this.family.known.values()].map((json) => JSON.parse(json) as Entry);
		const ofRun = entries.filter(({ run }) => run === this.run);
		return ofRun.map((entry) => ({ ...entry, isRecalled: true }));
	}

	keep(entries: readonly Entry[]): void {
		if (entries.length === 0) return;
		const { family } = this;
		for (const added of entries) {
			const before = family.known.get(added.id);
			const json = JSON.stringify(before ? more(JSON.parse(before) as Entry, added) : added);
			family.known.set(added.id, json);
			family.size += json.length - (before?.length ?? 0);
		}
		processMemory.delete(this.origin);
		processMemory.set(this.origin, family);
		this.makeRoom();
	}

	/** Spares what another Retry was answered meanwhile. */
	remove(orders: ReadonlyArray<Pick<Order, 'id'>>): void {
		const { family } = this;
		for (const { id } of orders) {
			const json = family.known.get(id);
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
