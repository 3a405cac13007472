import type { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { GatewayError } from '../../service/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import { requestSentTwice } from '../orders/messages';
import { addEstimates } from './estimate';
import type { Item, Outcome } from './item';
import { logDelivered, logOrder, logSent } from './orderLog';
import { performWithModels } from './otherModels';
import { withoutSigns } from './output';
import type { RunState } from './runState';
import type { Batching, ItemOutput, ItemWork } from './work';

type SendingRun = RunState<ItemWork>;

/**
 * Sends the items that are reads or have a decision in parallel, and delivers their results. An item that already has a
 * result is only delivered. Once the node is about to fail or was stopped, nothing more is sent.
 */
export async function sendAll(
	run: SendingRun,
	gateway: N8nGateway,
	limiter: AdaptiveLimit,
): Promise<void> {
	const batches = new Batches(run.work.batch);
	for (const item of run.open) {
		await run.yielder.yieldIfDue();
		if (run.cost === 'read' || item.decision) batches.add(item);
	}
	await limiter.forEach(batches.all, async (batch) => {
		if (run.isFailing || run.isStopped) return;
		await run.abortable(gateway, async (own) => await sendBatch(run, batch, own));
	});
}

async function sendBatch(run: SendingRun, batch: Item[], gateway: N8nGateway): Promise<void> {
	const { ledger } = run;
	const unsent = batch.filter(({ result }) => result === undefined);
	for (const item of unsent) logOrder(run, 'order sent', item);
	if (unsent.length > 0) await perform(run, unsent, gateway);
	for (const item of unsent) {
		logSent(run, item);
		ledger?.recordOutcome(item);
	}
	await Promise.all(
		batch.map(async (item) => {
			if (item.result === undefined) {
				item.outcome = [{ error: item.error }];
			} else {
				item.outcome = await deliver(run, item, gateway);
				// Again, because the result now has the files that were fetched.
				ledger?.recordOutcome(item);
				logDelivered(run, item);
			}
			// Frees memory: most of thousands of items end long before the node does.
			item.request = item.identity = item.result = item.others = undefined;
		}),
	);
}

async function perform(run: SendingRun, batch: Item[], gateway: N8nGateway): Promise<void> {
	const { work } = run;
	const requests = batch.map(({ request }) => request);
	const [first] = batch;
	const sentTwice = () => first.hint(requestSentTwice);
	const itemRun = () =>
		run.itemRun(first, gateway.with({ idempotency: { ...first.idempotency, sentTwice } }));
	try {
		const results = work.batch
			? await work.batch.perform(requests, itemRun())
			: await performWithModels(run, first, gateway.connection, async () => [
					await work.perform(first.request, itemRun()),
				]);
		for (const [index, item] of batch.entries()) {
			const result = results[index];
			if (result instanceof GatewayError) item.error = run.fail(item, result).error;
			else item.result = result;
		}
	} catch (error) {
		for (const item of batch) item.error = run.fail(item, error).error;
	}
}

async function deliver(run: SendingRun, item: Item, gateway: N8nGateway): Promise<Outcome> {
	const { work, cost } = run;
	const { request, result } = item;
	// A node that fails fetches what was made, too: by its Retry, the link may have expired.
	if (result === undefined || (run.isFailing && cost === 'read')) return [];
	try {
		const outputs = work.deliver
			? await work.deliver(result, request, run.itemRun(item, gateway))
			: (result as ItemOutput[]);
		addEstimates(work, item, outputs, gateway.connection.prices);
		const { model, others } = item;
		if (others) {
			for (const output of outputs) if ('json' in output) output.json = { model, ...output.json };
		}
		return outputs.map((output) => {
			if (output instanceof GatewayError) return run.fail(item, output);
			return cost === 'read' ? output : withoutSigns(output);
		});
	} catch (error) {
		return [run.fail(item, error)];
	}
}

/** Groups items into requests: one each, unless the work sends several at once. */
export class Batches {
	readonly all: Item[][] = [];
	/** The last batch of each key. `left`: the size that it can still take. */
	private readonly open = new Map<string, { items: Item[]; left: number }>();

	constructor(private readonly batch?: Batching<unknown, unknown>) {}

	add(item: Item): void {
		const { request, sending, parts } = item;
		// Parts that an earlier try kept belong to one item.
		if (!this.batch || parts.length > 0) {
			this.all.push([item]);
			return;
		}
		const key = JSON.stringify([this.batch.key(request), sending]);
		const size = this.batch.size(request);
		let last = this.open.get(key);
		if (!last || last.left < size) {
			last = { items: [], left: this.batch.maxSize(request) };
			this.open.set(key, last);
			this.all.push(last.items);
		}
		last.items.push(item);
		last.left -= size;
	}
}
