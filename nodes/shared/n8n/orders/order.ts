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

/** A paid request over all its tries: what it is, wherever it is sent from. */
export interface Order {
	/** One for each order of an execution and all its Retries, whichever run of the node places it. */
	readonly id: string;
	/** The same for equal requests. */
	readonly request: string;
	/** How many equal requests of the execution came before it. */
	readonly count: number;
	/** How many runs of the node came before. */
	readonly run: number;
	/** Index of its item among those of the run. */
	readonly place: number;
	/** The same for equal input items. Undefined where they tell nothing: of a tool, and of an empty item. */
	readonly item?: string;
	/** How many equal items of the execution came before it, where n8n's database has to tell it by its item. */
	readonly itemCount?: number;
	/** The same as long as nobody changes what the node asks for: of its parameters, expressions unevaluated. */
	readonly written: string;
	/** The same for equal Order Keys. */
	readonly key?: string;
	/** By which the gateway recognises it; undefined where it knows no keys. */
	readonly idempotencyKey?: string;
	/** What it is estimated to cost; undefined where no price told it. */
	readonly cost?: number;
}

/** What orders come to, which limits count. */
export interface Total {
	orders: number;
	/** Infinite when one of them has no price: a limit cannot tell what is left then. */
	cost: number;
}

export const totalOf = (orders: ReadonlyArray<Pick<Order, 'cost'>>): Total => ({
	orders: orders.length,
	cost: sumOf(orders.map(({ cost = Infinity }) => cost)),
});

export const added = (one: Total, other: Total): Total => ({
	orders: one.orders + other.orders,
	cost: sumOf([one.cost, other.cost]),
});

/** What is known of an order. */
export type Knowledge =
	/** Nothing; of several requests, those that were answered. */
	| { state: 'new'; parts: object[] }
	/** It was about to be sent. */
	| { state: 'sent' }
	/** How it failed, but not what it made. */
	| { state: 'lost'; failure: Failure }
	| {
			state: 'answered';
			/** Of the request, from which outputs are made at no cost. */
			result: object;
			job?: JobSummary;
			/** Remarks beside the outputs. */
			hints: string[];
	  };

export type Answered = Extract<Knowledge, { state: 'answered' }>;

/** What is known, and of which order; of some, n8n's database tells no more than a part. */
export type Known = Knowledge & Partial<Order> & Origin;

/** All that is known of one order. */
export type Entry = Knowledge & Order & Origin;

/** Where knowledge comes from. */
interface Origin {
	/** From the process: n8n may have fetched the items anew since, so that their places tell nothing for sure. */
	isRecalled?: true;
	/** It is being sent right now. */
	isUnderWay?: true;
}

/** What n8n stores of the runs of a node in an execution. */
export interface RunCount {
	execution: string;
	/** n8n's index of the run under way. */
	index: number;
	/** How many runs came before it. */
	number: number;
}

/** The same for equal values, in every execution. Files among them are equal when their type and size are. */
export function hashOf(value: unknown): string {
	const plain = JSON.stringify(value);
	// Most requests have no file, and a replacer takes much longer.
	const json = plain.includes('"mimeType":')
		? JSON.stringify(value, (_, part: unknown) => (isFile(part) ? factsOf(part) : part))
		: plain;
	return createHash('sha256').update(json).digest().toString('hex', 0, 16);
}

/** A node that fetches a file again, as a Retry may, gives it another ID, and perhaps another name. */
function factsOf(file: IBinaryData): unknown {
	const { id, mimeType, bytes, fileName, fileSize } = file;
	// Its content is in it.
	if (id === undefined) return file;
	// n8n 1 tells the size in rounded words only.
	return { mimeType, size: bytes ?? [fileName, fileSize] };
}

function isFile(value: unknown): value is IBinaryData {
	return isObject(value) && typeof value.mimeType === 'string' && typeof value.data === 'string';
}

/**
 * What this node has in common with itself in all Retries of the execution, and with nothing else. n8n 2 gives all of
 * them one token, for the links by which they resume. n8n 1 does not: there it is the ID of the first execution that
 * stored it with its orders.
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
 * The run of the node that is under way. n8n's own index does not tell it after a crash, for which n8n makes up a first
 * run of nodes that had begun.
 * @param last that n8n has stored
 */
export function runOf(context: IExecuteFunctions, last?: RunCount): RunCount {
	const index = runIndexOf(context);
	const execution = context.getExecutionId();
	// In a Retry, an agent calls its tools from the first one on.
	const isFirst = !last || (isTool(context.getNode()) && last.execution !== execution);
	if (isFirst) return { execution, index, number: 0 };
	return last.index === index ? last : { execution, index, number: last.number + 1 };
}

/** See {@link Order.written}. */
function writtenOf(context: IExecuteFunctions): string {
	const { options, ...parameters } = context.getNode().parameters;
	const asked = (values: unknown) =>
		isObject(values)
			? Object.entries(values)
					.filter(([name]) => !settings.has(name))
					.sort()
			: values;
	return hashOf([asked(parameters), asked(options)]);
}

/** Gives each request of a run of the node its order. */
export class OrderNumbers {
	private readonly written: string;
	/** By request, or by item, the count of the next equal one. */
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
	 * The order of the next item. Equal requests are counted instead of their places in the list: a Retry that fetches
	 * the list again may find them at other places, and in other runs of a loop.
	 */
	orderOf(
		asked: unknown,
		{
			index: place,
			options,
			item,
			cost: ofOrder,
		}: { index: number; options?: { key?: string }; item?: string; cost?: number },
	): Order {
		const { origin, run } = this.execution;
		const request = hashOf(asked);
		const count = this.countOf(request);
		// The 0 keeps the IDs as executions of earlier builds have them.
		const id = hashOf([origin, 0, request, count]);
		const { cost, connection } = this.to;
		const idempotencyKey = cost === 'job' ? idempotencyKeyOf(id, connection) : undefined;
		return {
			...{ id, request, count, run, place, written: this.written },
			...(item !== undefined && { item, itemCount: this.countOf(item) }),
			...(options?.key !== undefined && { key: hashOf(options.key) }),
			...(idempotencyKey !== undefined && { idempotencyKey }),
			...(ofOrder !== undefined && { cost: ofOrder }),
		};
	}

	private countOf(name: string): number {
		const count = this.execution.takeNext(name, this.next.get(name) ?? 0);
		this.next.set(name, count + 1);
		return count;
	}
}
