import { isObject, valueAt, type JsonObject } from '../../service/json';
import { hashOf } from './identity';
import type { Order } from './order';

/** The record of orders that n8n stores with an execution. */
export interface Stored {
	/** See `originOf`. */
	origin: string;
	run: Run;
	/** By the hash of a request: the number of the run that has the first equal one, the second, … */
	owners: Record<string, Array<number | null>>;
	journal: Orders;
}

/** A run of a node. n8n's own index is wrong after a crash: n8n then invents a first run. */
export interface Run {
	execution: string;
	/** n8n's index of the run. */
	index: number;
	/** How many runs came before it. */
	number: number;
}

/** The orders of an execution and all its Retries, by ID. */
export interface Orders {
	/** Rises with every change. */
	revision: number;
	known: Record<string, Order>;
	/** Counted by release 1.0, which did not keep them. n8n stores null for an infinite cost. */
	earlier?: { orders: number; cost: number | null };
}

/**
 * @param stored what n8n has stored of orders; empty where there were none
 * @returns undefined when it cannot be read
 */
export function readStored(stored: object): Partial<Stored> | undefined {
	const orders = 'known' in stored ? ofRelease10(stored) : stored;
	return isStored(orders) ? orders : undefined;
}

function isStored(stored: object): stored is Partial<Stored> {
	const { origin = '', run, owners = {}, journal } = stored as Record<string, unknown>;
	return (
		typeof origin === 'string' &&
		(run === undefined || Number.isInteger(valueAt(run, 'number'))) &&
		isObject(owners) &&
		Object.values(owners).every(Array.isArray) &&
		(journal === undefined || (isObject(journal) && areOrders(journal)))
	);
}

function areOrders({ revision, known, earlier = { orders: 0, cost: 0 } }: JsonObject): boolean {
	const isSum = isObject(earlier) && isCount(earlier.orders) && Number(earlier.cost) >= 0;
	return isCount(revision) && isSum && isObject(known) && Object.values(known).every(isOrder);
}

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

function isOrder(value: unknown): boolean {
	if (!isObject(value) || typeof value.id !== 'string') return false;
	const { state, parts, failure, result, hints, run, timesSent } = value;
	if (!Number.isInteger(run) || !Number.isInteger(timesSent)) return false;
	if (state === 'answered')
		return typeof result === 'object' && result !== null && Array.isArray(hints);
	return state === 'sent' || (state === 'new' ? Array.isArray(parts) : isObject(failure));
}

/** The record of release 1.0, in the form of this release. To be deleted in 2.0. */
function ofRelease10(stored: object): object {
	const { known, dropped: earlier, ...others } = stored as Record<string, unknown>;
	const orders = isObject(known) ? Object.values(known).filter(isObject) : [];
	const inOrder = orders.sort((one, other) => Number(one.index) - Number(other.index));
	const counts = new Map<string, number>();
	const journal = { revision: 0, earlier, known: isObject(known) ? { ...known } : known };
	for (const order of inOrder) {
		const { parameters, run, item = run } = order;
		const origin = JSON.stringify([parameters, run, item]);
		const count = counts.get(origin) ?? 0;
		counts.set(origin, count + 1);
		Object.assign(journal.known as object, {
			[String(order.id)]: { ...order, source: hashOf([parameters, item, count]) },
		});
	}
	return { ...others, journal };
}
