import type { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { GatewayError } from '../../gateway/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import { addEstimates } from './estimate';
import type { CheckedItem } from './item';
import type { ItemOrders } from './orders';
import type { RunState } from './runState';
import type { Batching } from './work';

/**
 * Sends the items that have no outcome yet in parallel, and delivers their results; an item that already has its
 * result is only delivered. Nothing more is sent once the node is about to fail or was stopped.
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
		await run.turns.next();
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
	// A separate signal for each batch, because Node warns when one has many listeners.
	const abort = new AbortController();
	const batchGateway = gateway.withSignal(abort.signal);
	for (const item of batch) item.abortController = abort;
	const unsent = batch.filter(({ result }) => result === undefined);
	if (unsent.length > 0) await perform(run, unsent, batchGateway);
	for (const item of unsent) orders?.learn(item);
	await Promise.all(batch.map(async (item) => await deliver(run, item, batchGateway)));
	// With the files that were fetched.
	for (const item of unsent) orders?.learn(item);
	for (const item of batch) {
		item.abortController = undefined;
		// Of thousands, most end long before the node does.
		item.request = undefined;
	}
}

async function perform(run: RunState, batch: CheckedItem[], gateway: N8nGateway): Promise<void> {
	const { work } = run;
	const requests = batch.map(({ request }) => request);
	const itemRun = run.itemRun(batch[0], gateway.withIdempotency(batch[0].idempotency ?? {}));
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
	if (result === undefined) return;
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

/** Batches of one key that are kept open for smaller items: to look through all of them would take ever longer. */
const maxOpen = 20;

/** Groups items into requests: one item each, unless the work sends several at once. */
export class Batches<Request, Item extends { request: Request }> {
	readonly all: Item[][] = [];
	private readonly open = new Map<string, Array<{ items: Item[]; room: number }>>();

	constructor(private readonly batch: Batching<Request, unknown> | undefined) {}

	add(item: Item): void {
		const { request } = item;
		if (!this.batch) {
			this.all.push([item]);
			return;
		}
		const key = JSON.stringify(this.batch.key(request));
		const size = this.batch.size(request);
		const candidates = (this.open.get(key) ?? []).filter(({ room }) => room > 0);
		let target = candidates.find(({ room }) => room >= size);
		if (!target) {
			target = { items: [], room: this.batch.maxSize(request) };
			candidates.push(target);
			this.all.push(target.items);
		}
		target.items.push(item);
		target.room -= size;
		this.open.set(key, candidates.slice(-maxOpen));
	}
}
