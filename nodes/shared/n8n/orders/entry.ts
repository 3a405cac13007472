import { GatewayError, type Failure } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { sumOf } from '../../service/prices';
import type { Order } from './identity';

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

/** All that is known of one order. */
export type Entry = Knowledge & Order & Sending;

interface Sending {
	/** How many requests of it may have made something. */
	timesSent: number;
	/** It is from this process's memory: the items may have been fetched again since, in another order. */
	isRecalled?: true;
	/** Another run is sending the order right now. */
	isUnderWay?: true;
}

/** Where orders are kept: with the execution, in the memory of the process, and in n8n's database. */
export interface OrderStore {
	/** What is known of these orders, and of others that may be the same. */
	find(orders: readonly Order[]): Entry[] | Promise<Entry[]>;
	keep(entries: readonly Entry[]): void | Promise<void>;
	/** Removes orders that certainly made nothing. */
	remove(orders: readonly Order[]): void | Promise<void>;
}

const ranks: Record<Entry['state'], number> = { new: 0, sent: 1, lost: 2, answered: 3 };

/** The entry that knows more of an order: what another try has learned in the meantime must not be lost. */
export function fuller(before: Entry | undefined, now: Entry): Entry {
	if (!before) return now;
	const entry = ranks[before.state] > ranks[now.state] ? before : now;
	return { ...entry, timesSent: Math.max(before.timesSent, now.timesSent) };
}

/** Merges what several stores know: of each order, the entry that knows most. */
export function merged(entries: readonly Entry[]): Entry[] {
	const most = new Map<string, Entry>();
	for (const entry of entries) most.set(entry.id, fuller(most.get(entry.id), entry));
	return [...most.values()];
}

/** What a limit counts. */
export interface Total {
	orders: number;
	/** Infinite when one of them has no price, because nobody knows what is left of the limit then. */
	cost: number;
}

/** The sum of these orders: each request that may have made something counts. */
export function totalOf(entries: ReadonlyArray<Pick<Entry, 'cost' | 'timesSent'>>): Total {
	const counted = entries.filter(({ timesSent }) => timesSent > 0);
	return {
		orders: counted.reduce((sum, { timesSent }) => sum + timesSent, 0),
		cost: sumOf(counted.map(({ cost = Infinity, timesSent }) => cost * timesSent)),
	};
}

export const addTotals = (one: Total, other: Total): Total => ({
	orders: one.orders + other.orders,
	cost: sumOf([one.cost, other.cost]),
});

/** The outcome of an order that was sent. */
export interface Outcome {
	/** The result of its request, if a response arrived. */
	result?: object;
	job?: JobSummary;
	hints: string[];
	/** Results of the requests that were answered so far, where the item takes several. */
	parts: object[];
	error?: unknown;
}

/** What is known of an order after it was sent; undefined when it certainly made nothing. Pure. */
export function knowledgeOf({ result, job, hints, parts, error }: Outcome): Knowledge | undefined {
	if (result !== undefined) return { state: 'answered', result, job, hints };
	if (error instanceof GatewayError && error.failure.billed !== 'no') {
		return { state: 'lost', failure: error.failure };
	}
	return parts.length > 0 ? { state: 'new', parts } : undefined;
}
