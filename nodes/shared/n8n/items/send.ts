import { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { GatewayError } from '../../gateway/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import { batchesOf } from './batches';
import type { CheckedItem } from './item';
import type { RunState } from './runState';

/**
 * Sends side by side what has no outcome yet, and delivers what came. What has a result already is only delivered.
 * Nothing more is sent once the node is about to fail or was stopped.
 * @param parallel requests in flight at most
 */
export async function sendAll(
	items: CheckedItem[],
	run: RunState,
	{ gateway, parallel }: { gateway: N8nGateway; parallel: number },
): Promise<void> {
	const limit = new AdaptiveLimit(parallel);
	const due = items.filter(({ outcome }) => outcome === undefined);
	await Promise.all(
		batchesOf(due, run.work.batch).map((batch) =>
			limit.run(async () => {
				if (!run.isFailing && !run.isStopped) await sendBatch(batch, run, gateway);
			}),
		),
	);
}

async function sendBatch(batch: CheckedItem[], run: RunState, gateway: N8nGateway): Promise<void> {
	// A signal of its own: Node warns when many listen to the same one.
	const underWay = new AbortController();
	const ownGateway = gateway.withSignal(underWay.signal);
	for (const item of batch) item.underWay = underWay;
	const unsent = batch.filter(({ result }) => result === undefined);
	if (unsent.length > 0) await perform(unsent, run, ownGateway);
	await Promise.all(batch.map(async (item) => await deliver(item, run, ownGateway)));
	for (const item of batch) item.underWay = undefined;
}

async function perform(batch: CheckedItem[], run: RunState, gateway: N8nGateway): Promise<void> {
	const { work } = run;
	const requests = batch.map(({ request }) => request);
	const itemRun = run.itemRun(batch[0], gateway);
	try {
		const results = work.batch
			? await work.batch.perform(requests, itemRun)
			: [await work.perform(requests[0], itemRun)];
		batch.forEach((item, place) => {
			const result = results[place];
			if (result instanceof GatewayError) run.fail(item, result);
			else item.result = result;
		});
	} catch (error) {
		for (const item of batch) run.fail(item, error);
	}
}

async function deliver(item: CheckedItem, run: RunState, gateway: N8nGateway): Promise<void> {
	const { result, request } = item;
	if (result === undefined) return;
	try {
		const outputs = await run.work.deliver(result, request, run.itemRun(item, gateway));
		item.outcome = outputs.map((output) =>
			output instanceof GatewayError ? run.failure(item, output) : output,
		);
	} catch (error) {
		run.fail(item, error);
	}
}
