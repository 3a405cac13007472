import type { Failure } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { sumOf } from '../../service/prices';

/** An order that is wanted, by names that are the same in all tries. Equal values have equal hashes. */
export interface Wish {
	/** Unique among the orders of an execution and all its Retries, whichever run of the node places it. */
	readonly id: string;
	/** Hash of the request. */
	readonly request: string;
	/** How many equal requests of the execution came before it. */
	readonly count: number;
	/** How many runs of the node came before its run. */
	readonly run: number;
	/** Hash of where it comes from: the parameters as written, and the input item, counted among equal ones of its run. */
	readonly source: string;
	/** See `parametersHash`. */
	readonly parameters: string;
	/** Hash of the Order Key. */
	readonly key?: string;
	/** The key by which the gateway recognises it; undefined where the gateway supports none. */
	readonly idempotencyKey?: string;
	/** Estimated cost; undefined without a price. */
	readonly cost?: number;
	/** Hash of what its limits count separately; undefined where they count all orders. */
	readonly subject?: string;
}

/** The state of an order. A refused order made nothing, so it has none and is not kept. */
export type State =
	/** It takes several requests: those whose results are in `parts` were answered, and no other was sent. */
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
			/** The ID of the model that made it. */
			model?: string;
	  };

/** A wish that was sent. */
export interface SentWish extends Wish {
	/** How many requests of it may have made something. */
	timesSent: number;
}

/** A wish that was sent, and what came of it. */
export type Order = State & SentWish;

export type Answered = Extract<Order, { state: 'answered' }>;

/** Orders and their cost, as limits count them. */
export interface Total {
	orders: number;
	/** Infinite when one of them has no price, because nobody knows what is left of the limit then. */
	cost: number;
}

/** The sum of these orders: each request that may have made something counts. */
export function totalOf(orders: ReadonlyArray<Pick<Order, 'cost' | 'timesSent'>>): Total {
	const counted = orders.filter(({ timesSent }) => timesSent > 0);
	return {
		orders: counted.reduce((sum, { timesSent }) => sum + timesSent, 0),
		cost: sumOf(counted.map(({ cost = Infinity, timesSent }) => cost * timesSent)),
	};
}

export const addTotals = (one: Total, other: Total): Total => ({
	orders: one.orders + other.orders,
	cost: sumOf([one.cost, other.cost]),
});

/** The mark of an order in n8n's database. Where the gateway knows the order by a key, the mark has the key. */
export const markOf = ({ id, idempotencyKey = '' }: Wish) => `order ${id} ${idempotencyKey}`.trim();
export const unkeyedMarkOf = ({ id }: Wish) => `order ${id}`;
/** The mark of an order that a Retry has sent again, after it was sent so many times. */
export const againMarkOf = ({ id, timesSent }: SentWish) => `again ${id} ${timesSent}`;
