import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../../client/httpClient';
import { addTotals, merged, totalOf, type Entry, type Total } from '../entry';
import type { Order } from '../identity';
import { ExecutionOrders } from './execution';
import { ProcessOrders } from './process';
import { nodeIdOf } from './processedItems';

/** What the execution and this process know of orders, without n8n's database. */
export class LocalOrders {
	readonly execution: ExecutionOrders;
	/** Only for videos and images. */
	readonly process?: ProcessOrders;

	/**
	 * @param isOrder whether videos or images are ordered
	 * @param isTraced whether a Retry finds the orders in n8n's database, too
	 */
	constructor(
		context: IExecuteFunctions,
		isOrder: boolean,
		private readonly isTraced: boolean,
	) {
		this.execution = new ExecutionOrders(context, isOrder);
		const { origin, run } = this.execution;
		const use = {
			...{ node: nodeIdOf(context), execution: context.getExecutionId(), time: clock.now() },
		};
		if (isOrder) this.process = new ProcessOrders(origin, run, use);
	}

	/** What is known of these orders, and of others that may be the same; without those of other runs. */
	find(orders: readonly Order[]): Entry[] {
		// The last of equal entries wins: that of the execution, whose items are the same.
		const known = merged([...(this.process?.find(orders) ?? []), ...this.execution.find()]).filter(
			(entry) => !this.execution.isOfOtherRun(entry),
		);
		// So limits count what only the process knew, and n8n may store it this time.
		if (this.process) this.keepFound(known);
		return known;
	}

	/**
	 * Keeps with the execution what the process knows. An order that another Retry is sending may be refused yet, and is
	 * then nobody's: where n8n's database has it until then, this execution keeps nothing of it.
	 */
	keepFound(entries: readonly Entry[]): void {
		const certain = entries.filter(({ isUnderWay }) => !(isUnderWay && this.isTraced));
		this.execution.keep(certain.map((entry) => ({ ...entry, isUnderWay: undefined })));
	}

	keep(entries: readonly Entry[]): void {
		this.execution.keep(entries);
		this.process?.keep(entries);
	}

	/** Keeps orders that are being sent, so that another Retry at the same moment leaves them alone. */
	keepUnderWay(entries: readonly Entry[]): void {
		this.execution.keep(entries);
		this.process?.keep(entries.map((entry) => ({ ...entry, isUnderWay: true })));
	}

	remove(orders: readonly Order[]): void {
		this.execution.remove(orders);
		this.process?.remove(orders);
	}

	/** What limits count of all orders of the execution and its Retries, except these. */
	totalExcept(ids: ReadonlySet<string> = new Set()): Total {
		const others = (this.process?.orders ?? []).filter(
			(order) => !this.execution.has(order) && !ids.has(order.id),
		);
		return addTotals(
			this.execution.totalExcept(({ id }) => ids.has(id)),
			totalOf(others),
		);
	}

	/** Orders of the execution and its Retries that belong to no other run, except these. */
	othersThan(ids: ReadonlySet<string>): Entry[] {
		const isOther = (order: Order) => !ids.has(order.id) && !this.execution.isOfOtherRun(order);
		return this.process?.all(isOther) ?? [];
	}
}
