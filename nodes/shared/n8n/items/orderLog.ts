import { GatewayError, type Failure } from '../../gateway/errors/gatewayError';
import { sumOf } from '../../gateway/prices';
import type { EventName } from '../log/events';
import type { EventDetails } from '../log/nodeLog';
import type { Reason } from '../orders/decide';
import { failureOf, type CheckedItem } from './item';
import type { RunState } from './runState';

/** An item that the ledger does not send. */
export interface RefusedItem {
	item: CheckedItem;
	reason: Reason;
}

/** Logs what becomes of orders. Other paid requests log nothing, since there may be many thousands of them. */
export class OrderLog {
	constructor(private readonly run: RunState) {}

	sent(item: CheckedItem): void {
		this.write('order sent', item);
	}

	/** The request has its result, or has failed. Until n8n stores the node's output, only the log has the job. */
	ended(item: CheckedItem): void {
		const failure = gatewayFailureOf(item);
		if (item.result !== undefined) {
			this.write(item.job ? 'order created' : 'order completed', item);
		} else if (failure?.isStopped && failure.billed === 'no') {
			this.write('order withdrawn', item);
		} else {
			const isUnknown = failure !== undefined && failure.billed !== 'no';
			this.write(isUnknown ? 'order outcome unknown' : 'order failed', item, { failure });
		}
	}

	/** The result was delivered, or some of its files could not be. */
	delivered(item: CheckedItem): void {
		if (item.result === undefined || !failureOf(item)) return;
		const failure = gatewayFailureOf(item);
		if (!failure?.isStopped) this.write('download failed', item, { failure });
	}

	/** One line for each reason, since there may be thousands of items. */
	refused(refused: readonly RefusedItem[]): void {
		for (const reason of new Set(refused.map((entry) => entry.reason))) {
			const items = refused.flatMap((entry) => (entry.reason === reason ? entry.item : []));
			const costs = items.flatMap(({ cost }) => cost ?? []);
			const estimatedCost = costs.length > 0 ? sumOf(costs) : undefined;
			this.write('order refused', items[0], { items: items.length, reason, estimatedCost });
		}
	}

	private write(event: EventName, item: CheckedItem, details: EventDetails = {}): void {
		const { work, log } = this.run;
		if (!work.isOrder) return;
		const { index, request, job, cost: estimatedCost } = item;
		const model = work.amount?.(request).model;
		log.write(event, { item: index, model, job, estimatedCost, ...details });
	}
}

/** Undefined for an error of n8n itself, before anything was sent. */
function gatewayFailureOf(item: CheckedItem): Failure | undefined {
	const error = failureOf(item)?.error;
	return error instanceof GatewayError ? error.failure : undefined;
}
