import { GatewayError } from '../../gateway/errors/gatewayError';
import { alreadySentError, orderedBeforeStop } from './ambiguousRequests';
import { failureOf, outputsOf, type CheckedItem } from './item';
import { Receipts, type Receipt, type SentItem } from './receipts';
import type { RunState } from './runState';

/** Keeps what one try has paid for from being paid again by the next. */
export class PaidItems {
	private readonly receipts: Receipts;
	private items: CheckedItem[] = [];

	constructor(private readonly run: RunState) {
		this.receipts = new Receipts(run.context);
	}

	/** Takes over what earlier tries have paid for, before anything is sent. */
	recall(items: CheckedItem[]): void {
		this.items = items;
		for (const item of items) this.recallItem(item);
		// Stays when the node has ended: of a stopped execution, n8n may have stored nothing.
		if (this.run.cost === 'job') {
			this.run.stop?.addEventListener('abort', () => this.saveForRetry(), { once: true });
		}
	}

	/** Forgets the receipts of a run in which all went well; of any other, keeps what is paid for. */
	settle(): void {
		const { failures, isStopped, cost } = this.run;
		if (failures.length === 0 && !isStopped) {
			this.receipts.clear(this.items.map((item) => this.sentItem(item)));
			return;
		}
		for (const item of this.items) {
			const receipt = this.receiptOf(item);
			if (receipt) this.receipts.keep(this.sentItem(item), receipt);
		}
		if (isStopped && cost === 'job') this.saveForRetry();
	}

	private recallItem(item: CheckedItem): void {
		const receipt = this.receipts.find(this.sentItem(item));
		if (receipt === undefined) return;
		if ('lost' in receipt) {
			const isResent = this.run.work.resendsLost?.(item.request) ?? false;
			if (!isResent) this.run.fail(item, alreadySentError(receipt.lost));
			return;
		}
		for (const hint of receipt.hints) this.run.hint(item, hint);
		item.job = receipt.job ?? item.job;
		item.result = receipt.result;
		item.outcome = receipt.outputs;
	}

	/** What of an order is known for now; those under way are in doubt. */
	private saveForRetry(): void {
		for (const item of this.items) {
			const lost = item.underWay && { lost: orderedBeforeStop };
			this.receipts.saveForRetry(this.sentItem(item), this.receiptOf(item) ?? lost);
		}
	}

	/** For the next try; undefined for what is surely not paid for. */
	private receiptOf(item: CheckedItem): Receipt | undefined {
		const { result, job, hints } = item;
		if (result !== undefined) return { result, outputs: outputsOf(item), job, hints };
		// The service may have done, and billed, what the error hides.
		const error = failureOf(item)?.error;
		const isInDoubt = error instanceof GatewayError && error.failure.billed !== 'no';
		return isInDoubt ? { lost: error.failure } : undefined;
	}

	private sentItem({ index, request }: CheckedItem): SentItem {
		return { item: index, identity: this.run.work.identity?.(request) ?? request };
	}
}
