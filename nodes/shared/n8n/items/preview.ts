import type { IDataObject } from 'n8n-workflow';
import { DryRun } from '../../gateway/client/dryRun';
import { withoutUndefined, type JsonObject } from '../../gateway/json';
import { sumOf, type PriceList } from '../../gateway/prices';
import type { N8nGateway } from '../client/gateway';
import { recordOf } from '../errors/errorRecord';
import { previewSummary } from '../orders/messages';
import { previewOutput } from '../parameters/skippedOutput';
import { noEstimate } from './estimate';
import type { CheckedItem, Forecast, Item } from './item';
import type { RunState } from './runState';

/** The forecast for an item that would fail. */
export function failureForecast(error: unknown): Forecast {
	const { message, advice, job } = recordOf(error);
	return { would: 'fail', reason: message, advice, ...(job && { job_id: job.id }) };
}

/**
 * Gives each previewed item its output: what would happen to it, and the request as it would be sent. The operation
 * builds the request as for an order, and the gateway throws it instead of sending it.
 */
export async function previewAll(
	run: RunState,
	items: CheckedItem[],
	gateway: N8nGateway,
): Promise<void> {
	const dry = gateway.asDryRun();
	const { prices } = gateway.connection;
	for (const item of items) {
		const { forecast } = item;
		if (!forecast) continue;
		await run.yielder.yieldIfDue();
		const shown = forecast.would === 'order' ? await withRequest(run, item, dry) : forecast;
		if (prices && shown.would === 'order') hintAtMissingPrice(run, item, prices);
		item.outcome = [{ json: { ...withoutUndefined(previewOutput(shown)) } }];
	}
	const all = run.items.filter(({ isPreview }) => isPreview);
	if (all.length > 0) showSummary(run, all, prices !== undefined);
}

async function withRequest(
	run: RunState,
	item: CheckedItem,
	dry: N8nGateway,
): Promise<Forecast & { estimated_cost?: number; request?: JsonObject }> {
	const { forecast, idempotency = {}, request, cost: estimated_cost } = item;
	try {
		await run.work.perform(request, run.itemRun(item, dry.withIdempotency(idempotency)));
	} catch (error) {
		if (!(error instanceof DryRun)) return failureForecast(error);
		return { ...(forecast as Forecast), estimated_cost, request: error.request };
	}
	throw new Error('A preview was answered');
}

/** Says why an order has no estimated cost. */
function hintAtMissingPrice(run: RunState, item: CheckedItem, prices: PriceList): void {
	const amount = run.work.amount?.(item.request);
	const estimate = amount && prices.estimateOrder(amount);
	if (estimate && 'problem' in estimate) run.hint(item, noEstimate(estimate.problem));
}

function showSummary(
	{ context, work }: RunState,
	items: Array<Item & Partial<CheckedItem>>,
	hasPrices: boolean,
): void {
	const would = (what: Forecast['would']) =>
		items.filter(({ outcome }) => outcome?.some((output) => forecastIn(output) === what));
	const ordered = would('order');
	const amounts = ordered.flatMap(({ request }) => work.amount?.(request) ?? []);
	const videos = amounts.filter((amount) => amount.kind === 'video');
	const images = amounts.filter((amount) => amount.kind === 'image');
	const areTimed = videos.every(({ seconds }) => seconds !== undefined);
	const message = previewSummary({
		videos: videos.length,
		...(areTimed && { seconds: videos.reduce((sum, { seconds = 0 }) => sum + seconds, 0) }),
		images: images.reduce((sum, { count = 1 }) => sum + count, 0),
		...(hasPrices && {
			cost: sumOf(ordered.flatMap(({ cost }) => cost ?? [])),
			unpriced: ordered.filter(({ cost }) => cost === undefined).length,
		}),
		reused: would('reuse').length,
		skipped: would('skip').length,
		failing: would('fail').length,
		failsTogether: !context.continueOnFail(),
	});
	context.addExecutionHints({ message, location: 'outputPane' });
}

const forecastIn = (output: object): unknown =>
	'json' in output ? (output.json as IDataObject).would : undefined;
