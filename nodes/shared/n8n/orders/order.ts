import type { Failure } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { sumOf } from '../../service/prices';

/** An order that is wanted, by names that are the same in all tries. Equal values have equal hashes. */
export interface Wish {
	/** Unique among the orders of an execution and all its Retries. */
	readonly id: string;
	/** Hash of the request. */
	readonly request: string;
	/** How many equal requests of the execution came before it. */
	readonly count: number;
	/** How many runs of the node came before its run. */
	readonly run: number;
	/** Hash of the parameters as written and the input item, counted among equal ones of its run. */
	readonly source: string;
	/** See `parametersHash`. */
	readonly parameters: string;
	/** Hash of the Order Key. */
	readonly key?: string;
	/** The key by which the gateway recognises it; undefined where the gateway supports none. */
	readonly idempotencyKey?: string;
	/** Estimated cost; undefined without a price. */
	readonly cost?: number;
	/** Hash of Count For; undefined where its limits count all orders together. */
	readonly subject?: string;
}

/** The state of an order. A refused order made nothing, so it has none and is not kept. */
export type State =
	/** It takes several requests. Those with results in `parts` were answered, and no other was sent. */
	| { state: 'new'; parts: object[] }
	/** It was about to be sent; nothing else is known. */
	| { state: 'sent' }
	/** It failed, and it is unknown whether it made anything. */
	| { state: 'lost'; failure: Failure }
	| {
			state: 'answered';
			/** Outputs are made from it at no cost. */
			result: object;
			job?: JobSummary;
			hints: string[];
			model?: string;
	  };

/** A wish that was sent, and what came of it. `timesSent`: how many requests may have made something. */
export type Order = State & Wish & { timesSent: number };

export type Answered = Extract<Order, { state: 'answered' }>;

export interface Total {
	orders: number;
	/** Infinite when one of them has no price: nobody knows what is left of the limit then. */
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

/** The mark of an order in n8n's database, with the key by which the gateway knows the order. */
export const markOf = ({ id, idempotencyKey = '' }: Wish) => `order ${id} ${idempotencyKey}`.trim();
/** The mark where the gateway knows it by none. */
export const unkeyedMarkOf = ({ id }: Wish) => `order ${id}`;
/** The mark of an order that was sent again, after it had been sent so many times. */
export const againMarkOf = ({ id, timesSent }: Order) => `again ${id} ${timesSent}`;
