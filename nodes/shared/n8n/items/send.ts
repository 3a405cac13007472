import type { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { GatewayError } from '../../gateway/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import { addEstimates } from './estimate';
import type { CheckedItem } from './item';
import { requestSentTwice } from '../orders/messages';
import { OrderLog } from './orderLog';
import type { ItemOrders } from './orders';
import type { RunState } from './runState';
import type { Batching } from './work';

/**
 * Sends the items that have no outcome yet, in parallel, and delivers their results. An item that already has a result
 * is only delivered. Once the node is about to fail or was stopped, nothing more is sent.
 */
export async function sendAll(
	run: RunState,
	items: CheckedItem[],
	{
		gateway,
		limiter,
		orders,
	}: { gateway: N8nGateway; limiter: AdaptiveLimit; orders?: ItemOrders },
): Promise<void> {
	const { all: batches } = await batchesOf(run, items);
	await limiter.forEach(batches, async (batch) => {
		if (!run.isFailing && !run.isStopped) await sendBatch(run, batch, gateway, orders);
	});
}

async function batchesOf(
	run: RunState,
	items: CheckedItem[],
): Promise<Batches<unknown, CheckedItem>> {
	const batches = new Batches<unknown, CheckedItem>(run.work.batch);
	for (const item of items) {
		await run.yielder.yieldIfDue();
		if (item.outcome === undefined && !item.isPreview) batches.add(item);
	}
	return batches;
}

async function sendBatch(
	run: RunState,
	batch: CheckedItem[],
	gateway: N8nGateway,
	orders?: ItemOrders,
): Promise<void> {
	// Each batch has its own signal, because Node.js warns when one signal has many listeners.
	const abort = new AbortController();
	const batchGateway = gateway.withSignal(abort.signal);
	for (const item of batch) item.abortController = abort;
	const unsent = batch.filter(({ result }) => result === undefined);
	const log = new OrderLog(run);
	for (const item of unsent) log.sent(item);
	if (unsent.length > 0) await perform(run, unsent, batchGateway);
	for (const item of unsent) {
		log.ended(item);
		orders?.recordOutcome(item);
	}
	await Promise.all(batch.map(async (item) => await deliver(run, item, batchGateway)));
	// Again, because the result now has the files that were fetched.
	for (const item of unsent) orders?.recordOutcome(item);
	for (const item of batch) {
		log.delivered(item);
		item.abortController = undefined;
		// Most of thousands of items end long before the node does, so their memory is freed.
		item.request = undefined;
	}
}

async function perform(run: RunState, batch: CheckedItem[], gateway: N8nGateway): Promise<void> {
	const { work } = run;
	const requests = batch.map(({ request }) => request);
	const [item] = batch;
	const sentTwice = () => run.hint(item, requestSentTwice);
	const itemRun = run.itemRun(item, gateway.withIdempotency({ ...item.idempotency, sentTwice }));
	try {
		const results = work.batch
			? await work.batch.perform(requests, itemRun)
			: [await work.perform(requests[0], itemRun)];
		batch.forEach((item, index) => {
			const result = results[index];
			if (result instanceof GatewayError) run.fail(item, result);
			else item.result = result;
		});
	} catch (error) {
		for (const item of batch) run.fail(item, error);
	}
}

async function deliver(run: RunState, item: CheckedItem, gateway: N8nGateway): Promise<void> {
	const { result, request } = item;
	// What was made is fetched even for a node that fails: its Retry then needs no link, which may have expired.
	if (result === undefined || (run.isFailing && run.cost === 'read')) return;
	try {
		const itemRun = run.itemRun(item, gateway);
		const outputs = await run.work.deliver(result, request, itemRun);
		const { prices } = gateway.connection;
		const { amount, batch } = run.work;
		const isShared = batch !== undefined;
		if (prices && amount) addEstimates(outputs, amount(request), { ...itemRun, prices, isShared });
		item.outcome = outputs.map((output) =>
			output instanceof GatewayError ? run.recordFailure(item, output) : output,
		);
	} catch (error) {
		run.fail(item, error);
	}
}

/** Maximum number of batches per key that are kept open for more items, so that the search among them stays fast. */
const maxOpen = 20;

/** Groups items into requests: one item each, unless the work sends several at once. */
export class Batches<Request, Item extends { request: Request }> {
	readonly all: Item[][] = [];
	/** By key. `left`: the size that a batch can still take. */
	private readonly open = new Map<string, Array<{ items: Item[]; left: number }>>();

	constructor(private readonly batch: Batching<Request, unknown> | undefined) {}

	add(item: Item): void {
		const { request } = item;
		if (!this.batch) {
			this.all.push([item]);
			return;
		}
		const key = JSON.stringify(this.batch.key(request));
		const size = this.batch.size(request);
		const candidates = (this.open.get(key) ?? []).filter(({ left }) => left > 0);
		let target = candidates.find(({ left }) => left >= size);
		if (!target) {
			target = { items: [], left: this.batch.maxSize(request) };
			candidates.push(target);
			this.all.push(target.items);
		}
		target.items.push(item);
		target.left -= size;
		this.open.set(key, candidates.slice(-maxOpen));
	}
}
