import { DryRun } from '../../service/client/dryRun';
import { withoutUndefined, type JsonObject } from '../../service/json';
import { sumOf, type PriceList } from '../../service/prices';
import type { N8nGateway } from '../client/gateway';
import { previewOutput } from '../parameters/skippedOutput';
import { noEstimate } from './estimate';
import {
	failureForecast,
	type CheckedItem,
	type EndedItem,
	type Forecast,
	type PreviewedItem,
} from './item';
import { previewSummary } from './previewMessages';
import type { RunState } from './runState';

/**
 * Gives each previewed item its output: what would happen to it, and the request as it would be sent. The operation
 * builds the request as for an order, and the gateway throws it instead of sending it.
 */
export async function previewAll(
	run: RunState,
	items: PreviewedItem[],
	gateway: N8nGateway,
): Promise<EndedItem[]> {
	const dry = gateway.asDryRun();
	const all: Record<Forecast['would'], string[]> = { order: [], reuse: [], skip: [], fail: [] };
	const ordered: CheckedItem[] = [];
	const ended: EndedItem[] = [];
	for (const previewed of items) {
		await run.yielder.yieldIfDue();
		const { item, includesInput, forecast } = previewed;
		const shown = forecast.would === 'order' ? await withRequest(run, previewed, dry) : forecast;
		all[shown.would].push(`item ${item.index}: ${shown.reason}`);
		if (shown.would === 'order') ordered.push(previewed);
		const outcome = [{ json: { ...withoutUndefined(previewOutput(shown)) } }];
		ended.push({ item, includesInput, outcome });
	}
	if (items.length > 0) {
		run.notes.add(summaryOf(run, ordered, { all, prices: gateway.connection.prices }));
	}
	return ended;
}

async function withRequest(
	run: RunState,
	item: PreviewedItem,
	dry: N8nGateway,
): Promise<Forecast & { estimated_cost?: number; request?: JsonObject }> {
	const { forecast, idempotencyKey, request, cost: estimated_cost } = item;
	try {
		await run.work.perform(request, run.itemRun(item, dry.withIdempotency({ idempotencyKey })));
	} catch (error) {
		if (!(error instanceof DryRun)) return failureForecast(error);
		return { ...forecast, estimated_cost, request: error.request };
	}
	throw new Error('A preview was answered');
}

function summaryOf(
	{ context, work }: RunState,
	ordered: CheckedItem[],
	{ all, prices }: { all: Record<Forecast['would'], string[]>; prices?: PriceList },
): string {
	const amounts = ordered.flatMap(({ item, request }) => {
		const amount = work.amount?.(request);
		const estimate = amount && prices?.estimateOrder(amount);
		if (estimate && 'problem' in estimate) item.hint(noEstimate(estimate.problem));
		return amount ?? [];
	});
	const videos = amounts.filter((amount) => amount.kind === 'video');
	const images = amounts.filter((amount) => amount.kind === 'image');
	const areTimed = videos.every(({ seconds }) => seconds !== undefined);
	return previewSummary({
		videos: videos.length,
		...(areTimed && { seconds: videos.reduce((sum, { seconds = 0 }) => sum + seconds, 0) }),
		images: images.reduce((sum, { count = 1 }) => sum + count, 0),
		...(prices && {
			cost: sumOf(ordered.flatMap(({ cost }) => cost ?? [])),
			unpriced: ordered.filter(({ cost }) => cost === undefined).length,
		}),
		reused: all.reuse.length,
		skipped: all.skip.length,
		problems: all.fail,
		failsTogether: !context.continueOnFail(),
	});
}
