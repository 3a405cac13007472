import type { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { GatewayError } from '../../gateway/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import { Batches } from './batches';
import type { CheckedItem } from './item';
import type { RunState } from './runState';

/**
 * Sends the items that have no outcome yet in parallel, and delivers their results; an item that already has its
 * result is only delivered. Nothing more is sent once the node is about to fail or was stopped.
 */
export async function sendAll(
	run: RunState,
	items: CheckedItem[],
	{ gateway, limiter }: { gateway: N8nGateway; limiter: AdaptiveLimit },
): Promise<void> {
	const { all: batches } = await batchesOf(run, items);
	await limiter.forEach(batches, async (batch) => {
		if (!run.isFailing && !run.isStopped) await sendBatch(run, batch, gateway);
	});
}

async function batchesOf(
	run: RunState,
	items: CheckedItem[],
): Promise<Batches<unknown, CheckedItem>> {
	const batches = new Batches<unknown, CheckedItem>(run.work.batch);
	for (const item of items) {
		await run.turns.next();
		if (item.outcome === undefined) batches.add(item);
	}
	return batches;
}

async function sendBatch(run: RunState, batch: CheckedItem[], gateway: N8nGateway): Promise<void> {
	// A separate signal for each batch, because Node warns when one has many listeners.
	const abort = new AbortController();
	const batchGateway = gateway.withSignal(abort.signal);
	for (const item of batch) item.abortController = abort;
	const unsent = batch.filter(({ result }) => result === undefined);
	if (unsent.length > 0) await perform(run, unsent, batchGateway);
	await Promise.all(batch.map(async (item) => await deliver(run, item, batchGateway)));
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
		const outputs = await run.work.deliver(result, request, run.itemRun(item, gateway));
		item.outcome = outputs.map((output) =>
			output instanceof GatewayError ? run.noteFailure(item, output) : output,
		);
	} catch (error) {
		run.fail(item, error);
	}
}
