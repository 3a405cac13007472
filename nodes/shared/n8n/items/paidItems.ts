import { alreadySentError, sentBeforeStop, unreadableError } from './ambiguousRequests';
import { hashOf } from './identity';
import type { CheckedItem } from './item';
import { receiptOf, Receipts } from './receipts';
import type { RunState } from './runState';

/** Prevents that the next try pays again for what this one has paid for. */
export class PaidItems {
	private readonly receipts: Receipts;
	private items: CheckedItem[] = [];

	constructor(private readonly run: RunState) {
		this.receipts = new Receipts(run.context);
	}

	/** Restores what earlier tries have paid for, before anything is sent. */
	async recall(items: CheckedItem[]): Promise<void> {
		this.items = items;
		// To the end, also after Stop: an item that was not recalled would lose its receipt.
		for (const item of items) {
			await this.run.turns.next();
			item.identity = hashOf(this.run.identityOf(item));
			this.recallItem(item);
		}
		// The listener is never removed: n8n may not have stored the results of a node when it is stopped later.
		if (this.run.cost === 'job') {
			this.run.stop?.addEventListener('abort', () => this.saveForRetry(), { once: true });
		}
	}

	/** Deletes the receipts of a run without failures; after any other, keeps what is paid for. */
	async settle(): Promise<void> {
		const { failures, isStopped, cost, turns } = this.run;
		if (failures.length === 0 && !isStopped) {
			this.receipts.clear(this.items);
			return;
		}
		for (const item of this.items) {
			await turns.next();
			const receipt = receiptOf(item);
			if (receipt) this.receipts.keep(item, receipt);
		}
		if (isStopped && cost === 'job') this.saveForRetry();
	}

	private recallItem(item: CheckedItem): void {
		if (!this.receipts.isReadable) return this.run.fail(item, unreadableError(item.order?.key));
		const receipt = this.receipts.find(item);
		if (receipt === undefined) return;
		if ('lost' in receipt) {
			const { lost } = receipt;
			const { idempotencyKey: key } = item;
			// Under another key, or none, the gateway would not recognise it.
			if (key !== undefined && key === lost.idempotencyKey) item.lost = lost;
			else if (!this.run.work.resendsLost?.(item.request)) {
				this.run.fail(item, alreadySentError(lost, item.order?.key));
			}
			return;
		}
		if ('parts' in receipt) {
			item.parts = receipt.parts;
			return;
		}
		for (const hint of receipt.hints) this.run.hint(item, hint);
		item.job = receipt.job ?? item.job;
		item.result = receipt.result;
		item.outcome = receipt.outputs;
	}

	/** Saves what is known about each item at Stop; the outcome of requests in flight is unknown. */
	private saveForRetry(): void {
		for (const item of this.items) {
			const { abortController, idempotencyKey } = item;
			const lost = abortController && { lost: { ...sentBeforeStop, idempotencyKey } };
			this.receipts.saveForRetry(item, receiptOf(item) ?? lost);
		}
	}
}
