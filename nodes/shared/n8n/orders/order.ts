import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../gateway/client/connection';
import { idempotencyKeyOf } from '../../gateway/client/idempotency';
import type { Failure } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { isObject } from '../../gateway/json';
import { sumOf } from '../../gateway/prices';
import type { Cost } from '../../gateway/protocol/endpoints';
import { isTool } from '../agent/tool';
import { runIndexOf } from '../execution/memory';
import { settings } from '../parameters/options';

/** The identity of a paid request, the same in all its tries. Equal values have equal hashes. */
export interface Order {
	/** Unique among the orders of an execution and all its Retries, whichever run of the node places it. */
	readonly id: string;
	/** Hash of the request. */
	readonly request: string;
	/** How many equal requests of the execution came before it. */
	readonly count: number;
	/** How many runs of the node came before its run. */
	readonly run: number;
	/** Index of its item in the run. */
	readonly place: number;
	/** Hash of the input item. Undefined where items do not identify orders: in a tool, and for an empty item. */
	readonly item?: string;
	/** How many equal items of the execution came before it; only where n8n's database must find it by its item. */
	readonly itemCount?: number;
	/** Hash of the node's parameters, with expressions unevaluated: it changes when somebody edits what is ordered. */
	readonly written: string;
	/** Hash of the Order Key. */
	readonly key?: string;
	/** The key by which the gateway recognises it; undefined where the gateway supports none. */
	readonly idempotencyKey?: string;
	/** Estimated cost; undefined without a price. */
	readonly cost?: number;
}

/** The sum of orders that a limit counts. */
export interface Total {
	orders: number;
	/** Infinite when one of them has no price, because nobody knows what is left of the limit then. */
	cost: number;
}

export const totalOf = (orders: ReadonlyArray<Pick<Order, 'cost'>>): Total => ({
	orders: orders.length,
	cost: sumOf(orders.map(({ cost = Infinity }) => cost)),
});

export const addTotals = (one: Total, other: Total): Total => ({
	orders: one.orders + other.orders,
	cost: sumOf([one.cost, other.cost]),
});

/** What is known of an order. */
export type Knowledge =
	/** Nothing was sent, or of several requests only those whose results are in `parts`. */
	| { state: 'new'; parts: object[] }
	/** It was about to be sent; nothing else is known. */
	| { state: 'sent' }
	/** It is known how it failed, but not whether it made anything. */
	| { state: 'lost'; failure: Failure }
	| {
			state: 'answered';
			/** The result of the request. Outputs are made from it at no cost. */
			result: object;
			job?: JobSummary;
			/** Hints shown with the outputs. */
			hints: string[];
	  };

export type Answered = Extract<Knowledge, { state: 'answered' }>;

/** What is known, and the order that it is about. n8n's database knows only some fields of an order. */
export type Known = Knowledge & Partial<Order> & Origin;

/** All that is known of one order. */
export type Entry = Knowledge & Order & Origin;

/** Where knowledge comes from. */
interface Origin {
	/** It is from this process's memory: the items may have been fetched again since, in another order. */
	isRecalled?: true;
	/** Another run is sending the order right now. */
	isUnderWay?: true;
}

/** The run counter of a node, stored with the execution. */
export interface RunCount {
	execution: string;
	/** n8n's index of the current run. */
	index: number;
	/** How many runs came before it. */
	number: number;
}

/** A hash that is the same for equal values in every execution. Files are equal when their type and size are. */
export function hashOf(value: unknown): string {
	const plain = JSON.stringify(value);
	// A replacer takes much longer, and most requests have no file.
	const json = plain.includes('"mimeType":')
		? JSON.stringify(value, (_, part: unknown) => (isFile(part) ? factsOf(part) : part))
		: plain;
	return createHash('sha256').update(json).digest().toString('hex', 0, 16);
}

/** The facts that identify a file. A node that fetches it again gives it another ID, and perhaps another name. */
function factsOf(file: IBinaryData): unknown {
	const { id, mimeType, bytes, fileName, fileSize } = file;
	// Without an ID, the content itself is in `data`.
	if (id === undefined) return file;
	// n8n 1 gives the size as a rounded text only.
	return { mimeType, size: bytes ?? [fileName, fileSize] };
}

function isFile(value: unknown): value is IBinaryData {
	return isObject(value) && typeof value.mimeType === 'string' && typeof value.data === 'string';
}

/**
 * Identifies this node in an execution and all its Retries. n8n 2 gives all of them the same token in their resume
 * links. n8n 1 does not: there it is the ID of the execution that first stored it with its orders.
 */
export function originOf(context: IExecuteFunctions): string {
	const link = String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0));
	const [, token] = /[?&]signature=([^&#]+)/.exec(link) ?? [];
	return hashOf([
		token ?? context.getExecutionId(),
		context.getWorkflow().id,
		context.getNode().id,
	]);
}

/**
 * The current run of the node. n8n's own index is wrong after a crash: n8n then invents a first run for nodes that had
 * begun.
 * @param last the run that n8n stored last
 */
export function runOf(context: IExecuteFunctions, last?: RunCount): RunCount {
	const index = runIndexOf(context);
	const execution = context.getExecutionId();
	// In a Retry, an agent starts again with its first call of a tool.
	const isFirst = !last || (isTool(context.getNode()) && last.execution !== execution);
	if (isFirst) return { execution, index, number: 0 };
	return last.index === index ? last : { execution, index, number: last.number + 1 };
}

/** See {@link Order.written}. */
function writtenOf(context: IExecuteFunctions): string {
	const { options, ...parameters } = context.getNode().parameters;
	const withoutSettings = (values: unknown) =>
		isObject(values)
			? Object.entries(values)
					.filter(([name]) => !settings.has(name))
					.sort()
			: values;
	return hashOf([withoutSettings(parameters), withoutSettings(options)]);
}

/** Assigns an order to each request of a run of the node. */
export class OrderNumbers {
	private readonly written: string;
	/** By the hash of a request or an item: the count of the next equal one. */
	private readonly next = new Map<string, number>();

	constructor(
		context: IExecuteFunctions,
		private readonly execution: {
			origin: string;
			run: number;
			takeNext(name: string, from: number): number;
		},
		private readonly to: { cost: Cost; connection: Connection },
	) {
		this.written = writtenOf(context);
	}

	/**
	 * The order of the next item. Its ID counts equal requests instead of using the place in the list: a Retry that
	 * fetches the list again may find the request at another place, or in another run of a loop.
	 */
	orderOf(
		identity: unknown,
		{
			index: place,
			options,
			item,
			cost: estimatedCost,
		}: { index: number; options?: { key?: string }; item?: string; cost?: number },
	): Order {
		const { origin, run } = this.execution;
		const request = hashOf(identity);
		const count = this.countOf(request);
		// The 0 keeps the IDs equal to those that earlier builds stored.
		const id = hashOf([origin, 0, request, count]);
		const { cost, connection } = this.to;
		const idempotencyKey = cost === 'job' ? idempotencyKeyOf(id, connection) : undefined;
		return {
			...{ id, request, count, run, place, written: this.written },
			...(item !== undefined && { item, itemCount: this.countOf(item) }),
			...(options?.key !== undefined && { key: hashOf(options.key) }),
			...(idempotencyKey !== undefined && { idempotencyKey }),
			...(estimatedCost !== undefined && { cost: estimatedCost }),
		};
	}

	private countOf(name: string): number {
		const count = this.execution.takeNext(name, this.next.get(name) ?? 0);
		this.next.set(name, count + 1);
		return count;
	}
}
