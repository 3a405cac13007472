import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import type { Order } from './order';
import { remembered } from '../execution/processMemory';
import { nodeIdOf } from './storeCalls';
import type { Orders } from './stored';

/** The first use of an Order Key. */
export interface KeyUse {
	/** See `nodeIdOf`. */
	node: string;
	execution: string;
	/** Milliseconds since 1970. */
	time: number;
	job?: string;
}

interface Kept {
	orders: Orders;
	/** The first run that ordered. */
	use: KeyUse;
	/** The IDs of the orders that are being sent. */
	underWay: Set<string>;
	/** Characters of JSON, by the ID of the order; `emptySize` by an empty ID. */
	sizes: Map<string, number>;
}

/** Characters of JSON. */
const maxSize = 32 * 1024 * 1024;

/** Counts for an empty journal, so that their number is limited, too. */
const emptySize = 500;

/** The journals that this process keeps, by origin, the least recently used first. */
class KeptJournals {
	private readonly byOrigin = new Map<string, Kept>();
	private size = 0;

	/**
	 * The orders of an execution: the newer of what the process keeps and what n8n has stored, since another worker may
	 * have changed either. Of the older, only answers are taken: the rest may have been refused since.
	 */
	open(context: IExecuteFunctions, origin: string, stored: Orders): Orders {
		const before = this.byOrigin.get(origin)?.orders;
		if (before === stored) return stored;
		const kept = before ?? stored;
		let older = kept === stored ? {} : stored.known;
		if (kept.revision < stored.revision) {
			older = kept.known;
			// The same object, since other Retries of the execution may be using it.
			Object.assign(kept, stored);
		}
		const { known } = kept;
		for (const order of Object.values(older)) {
			const isNews = order.state === 'answered' && known[order.id]?.state !== 'answered';
			if (isNews) known[order.id] = order;
		}
		this.keep(context, { origin, orders: kept }, Object.keys(known));
		return kept;
	}

	isUnderWay(origin: string, id: string): boolean {
		return this.byOrigin.get(origin)?.underWay.has(id) ?? false;
	}

	/**
	 * @param changed the IDs of the orders that have changed
	 * @param isUnderWay whether these are being sent; default: as before
	 */
	keep(
		context: IExecuteFunctions,
		{ origin, orders, isUnderWay }: { origin: string; orders: Orders; isUnderWay?: boolean },
		changed: string[],
	): void {
		const kept = this.byOrigin.get(origin) ?? {
			use: { node: nodeIdOf(context), execution: context.getExecutionId(), time: clock.now() },
			orders,
			underWay: new Set(),
			sizes: new Map(),
		};
		kept.orders = orders;
		this.byOrigin.delete(origin);
		this.byOrigin.set(origin, kept);
		this.resize(kept, '', emptySize);
		for (const id of changed) {
			this.resize(kept, id, id in orders.known ? JSON.stringify(orders.known[id]).length : 0);
			if (isUnderWay) kept.underWay.add(id);
			else if (isUnderWay === false) kept.underWay.delete(id);
		}
		// Drops whole journals: with a part of one, a Retry would take the rest for never sent.
		for (const [other, { sizes, underWay }] of this.byOrigin) {
			if (this.size <= maxSize || other === origin) return;
			if (underWay.size > 0) continue;
			for (const size of sizes.values()) this.size -= size;
			this.byOrigin.delete(other);
		}
	}

	/** By Order Key: its use by executions of the node, as far as this process knows. */
	keyUses(node: string): Map<string, KeyUse> {
		const ofNode = [...this.byOrigin.values()].filter(({ use }) => use.node === node);
		return new Map(
			ofNode.flatMap(({ use, orders }) =>
				Object.values(orders.known).flatMap((order: Order): Array<[string, KeyUse]> => {
					const job = order.state === 'answered' ? order.job?.id : undefined;
					return order.key === undefined ? [] : [[order.key, { ...use, job }]];
				}),
			),
		);
	}

	private resize({ sizes }: Kept, id: string, size: number): void {
		this.size += size - (sizes.get(id) ?? 0);
		sizes.set(id, size);
	}
}

export const keptJournals = (): KeptJournals => remembered('journals', () => new KeptJournals());
