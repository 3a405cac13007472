import type { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { GatewayError } from '../../service/errors/gatewayError';
import type { N8nGateway } from '../client/gateway';
import type { Ledger } from '../orders/ledger';
import { requestSentTwice } from '../orders/messages';
import { addEstimates } from './estimate';
import type { AnsweredItem, EndedItem, Outcome, PlannedItem, SentItem } from './item';
import { logDelivered, logOrder, logSent } from './orderLog';
import type { RunState } from './runState';
import type { Batching } from './work';

/**
 * Sends the items in parallel, and delivers their results. An item that already has a result is only delivered. Once
 * the node is about to fail or was stopped, nothing more is sent.
 */
export async function sendAll(
	run: RunState,
	items: PlannedItem[],
	{ gateway, limiter, ledger }: { gateway: N8nGateway; limiter: AdaptiveLimit; ledger?: Ledger },
): Promise<EndedItem[]> {
	const batches = new Batches<unknown, PlannedItem>(run.work.batch);
	for (const item of items) {
		await run.yielder.yieldIfDue();
		batches.add(item);
	}
	const ended: EndedItem[] = [];
	await limiter.forEach(batches.all, async (batch) => {
		if (run.isFailing || run.isStopped) return;
		// Each batch has its own signal, because Node.js warns when one signal has many listeners.
		const abort = new AbortController();
		run.inFlight.add(abort);
		ended.push(...(await sendBatch(run, batch, gateway.withSignal(abort.signal), ledger)));
		run.inFlight.delete(abort);
		// Most of thousands of items end long before the node does, so their memory is freed.
		for (const item of batch) item.request = undefined;
	});
	return ended;
}

async function sendBatch(
	run: RunState,
	batch: PlannedItem[],
	gateway: N8nGateway,
	ledger?: Ledger,
): Promise<EndedItem[]> {
	const answered = batch.filter(isAnswered);
	const unsent = batch.filter((item) => !isAnswered(item));
	const record = (sent: SentItem) =>
		ledger?.recordOutcome(sent.item.index, { ...sent.item, ...sent });
	for (const item of unsent) logOrder(run, 'order sent', item);
	const sent = unsent.length > 0 ? await perform(run, unsent, gateway) : [];
	for (const item of sent) {
		logSent(run, item);
		record(item);
	}
	const deliveries = [...answered, ...sent].map(async (sentItem): Promise<EndedItem> => {
		const { item, includesInput, result, error } = sentItem;
		if (result === undefined) return { item, outcome: [{ error }] };
		const outcome = await deliver(run, sentItem, gateway);
		// Again, because the result now has the files that were fetched.
		record(sentItem);
		logDelivered(run, sentItem, outcome);
		return { item, includesInput, outcome, isCharged: run.cost !== 'read' };
	});
	return await Promise.all(deliveries);
}

const isAnswered = (item: PlannedItem): item is AnsweredItem => 'result' in item;

async function perform(
	run: RunState,
	batch: PlannedItem[],
	gateway: N8nGateway,
): Promise<SentItem[]> {
	const { work } = run;
	const requests = batch.map(({ request }) => request);
	const [first] = batch;
	const sentTwice = () => first.item.hint(requestSentTwice);
	const itemRun = run.itemRun(first, gateway.withIdempotency({ ...first.idempotency, sentTwice }));
	try {
		const results = work.batch
			? await work.batch.perform(requests, itemRun)
			: [await work.perform(requests[0], itemRun)];
		return batch.map((planned, index) => {
			const result = results[index];
			if (!(result instanceof GatewayError)) return { ...planned, result };
			return { ...planned, ...run.fail(planned.item, result) };
		});
	} catch (error) {
		return batch.map((planned) => ({ ...planned, ...run.fail(planned.item, error) }));
	}
}

async function deliver(run: RunState, sent: AnsweredItem, gateway: N8nGateway): Promise<Outcome> {
	// What was made is fetched even for a node that fails: its Retry then needs no link, which may have expired.
	if (run.isFailing && run.cost === 'read') return [];
	const { work } = run;
	const { item, result, request } = sent;
	try {
		const outputs = await work.deliver(result, request, run.itemRun(sent, gateway));
		const { prices } = gateway.connection;
		const amount = work.amount?.(request);
		const isShared = work.batch !== undefined;
		if (prices && amount) addEstimates(outputs, item, { amount, prices, isShared });
		return outputs.map((output) =>
			output instanceof GatewayError ? run.fail(item, output) : output,
		);
	} catch (error) {
		return [run.fail(item, error)];
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
