import { DryRun } from '../../service/client/dryRun';
import { withoutUndefined, type JsonObject } from '../../service/json';
import { sumOf, type PriceList } from '../../service/prices';
import type { Amount } from '../../service/protocol/amount';
import type { N8nGateway } from '../client/gateway';
import { joinFirst } from '../errors/badInput';
import { counted } from '../orders/messages';
import { previewOutput } from '../parameters/skippedOutput';
import { noEstimate } from './estimate';
import { failureForecast, type Forecast, type Item } from './item';
import type { RunState } from './runState';
import type { ItemWork } from './work';

/** Gives each previewed item its output: its forecast, and the request as it would be sent. */
export async function previewAll(run: RunState<ItemWork>, gateway: N8nGateway): Promise<void> {
	const items = run.items.filter(isPreviewed);
	for (const item of items) {
		await run.yielder.yieldIfDue();
		const request = await dryRequest(run, item, gateway);
		const ordered = request && { estimated_cost: item.estimate, request };
		const shown = previewOutput({ ...item.forecast, ...ordered, media: item.media });
		item.outcome = [{ json: { ...withoutUndefined(shown) } }];
	}
	if (items.length > 0) run.notes.add(summaryOf(run, items, gateway.connection.prices));
}

type Previewed = Item & { forecast: Forecast };
const isPreviewed = (item: Item): item is Previewed => item.forecast !== undefined;

/** The gateway throws the request that the operation sends. Any other error becomes the forecast. */
async function dryRequest(
	run: RunState<ItemWork>,
	item: Previewed,
	gateway: N8nGateway,
): Promise<JsonObject | undefined> {
	const { forecast, wish } = item;
	if (forecast.would !== 'order') return undefined;
	const { idempotencyKey } = wish;
	try {
		const dry = gateway.with({ isDry: true, idempotency: { idempotencyKey } });
		await run.work.perform?.(item.request, run.itemRun(item, dry));
	} catch (error) {
		if (error instanceof DryRun) return error.request;
		item.forecast = failureForecast(error);
		return undefined;
	}
	throw new Error('A preview was answered');
}

function summaryOf({ context, work }: RunState, items: Previewed[], prices?: PriceList): string {
	const those = (would: Forecast['would']) =>
		items.filter(({ forecast }) => forecast.would === would);
	const [ordered, failing] = [those('order'), those('fail')];
	const amounts = ordered.flatMap((item) => {
		const amount = work.amount?.(item.request);
		const estimate = amount && prices?.estimateOrder(amount);
		if (estimate && 'problem' in estimate) item.hint(noEstimate(estimate.problem));
		return amount ?? [];
	});
	const numberOf = (of: Amount['kind']) =>
		amounts.reduce((sum, { kind, count = 1 }) => sum + (kind === of ? count : 0), 0);
	// NaN where the length of one is not known.
	const seconds = amounts.reduce(
		(sum, { kind, count = 1, seconds = NaN }) => sum + (kind === 'video' ? count * seconds : 0),
		0,
	);
	const inAll = Number.isNaN(seconds) ? '' : ` (${seconds} seconds in all)`;
	const countOf = (count: number, what: string, then = '') =>
		count > 0 ? [`${counted(count, what)}${then}`] : [];
	const made = [
		...countOf(numberOf('video'), 'video', inAll),
		...countOf(numberOf('image'), 'image'),
	].join(' and ');
	const said = [
		`${made || 'Nothing'} would be ordered`,
		...countOf(those('reuse').length, 'result', ' would be reused'),
		...countOf(those('skip').length, 'item', ' skipped'),
		...countOf(failing.length, 'item', ' would fail'),
	];
	const isBlocked = failing.length > 0 && !context.continueOnFail();
	const reasons = failing.map(
		({ index, forecast }) => `item ${index}: ${forecast.reason.replace(/\.$/, '')}`,
	);
	const unpriced = ordered.filter(({ estimate }) => estimate === undefined).length;
	const have = unpriced === 1 ? 'has' : 'have';
	const [without = ''] = countOf(unpriced, 'order', ` that ${have} no price`);
	const cost = sumOf(ordered.flatMap((item) => item.estimate ?? []));
	return [
		'Preview: nothing was ordered, and nothing charged.',
		isBlocked
			? `${counted(failing.length, 'item')} would fail, so this node would order nothing.`
			: `${said.join(', ')}.`,
		...(failing.length > 0 ? [`Why: ${joinFirst(reasons)}.`] : []),
		...(isBlocked || made === ''
			? []
			: [
					...(prices ? [`Estimated cost: ${cost}${without && `, without ${without}`}.`] : []),
					'To order, turn off Preview (Order Nothing).',
				]),
	].join(' ');
}
