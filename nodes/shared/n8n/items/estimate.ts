import type { GatewayError } from '../../service/errors/gatewayError';
import { sumOf, type Estimate, type PriceList } from '../../service/prices';
import type { Amount } from '../../service/protocol/amount';
import type { OrderOptions } from '../parameters/orderOptions';
import type { Scope } from '../parameters/itemParameters';
import type { Item } from './item';
import type { ItemOutput, ItemWork } from './work';

/** The estimated cost of an order. Reports a problem where a limit on cost is set and there is no price. */
export function estimatedCostOf(
	amount: Amount,
	{ limits }: OrderOptions,
	options: Scope,
	prices?: PriceList,
): number | undefined {
	const estimate = prices?.estimateOrder(amount);
	if (estimate && 'cost' in estimate) return estimate.cost;
	const problem = estimate ? withoutPrice(estimate.problem) : noPrices;
	for (const { of, field } of limits)
		if (of === 'cost') options.report(field, problem, 'unsendable');
	return undefined;
}

const noPrices = 'needs prices: add them to the credential, in Prices (JSON) under Advanced';

const withoutPrice = (problem: string) =>
	`cannot be kept. Prices (JSON) of the credential: ${problem}`;

/** Says why an output has no `estimated_cost`. */
export const noEstimate = (problem: string) =>
	`There is no estimated cost. Prices (JSON) of the credential: ${problem}.`;

/**
 * Adds `estimated_cost` to the outputs of an item. The order counts once, and tokens on each output that has a `usage`, so
 * that the sum over all outputs is correct. Images that came count, even if one was not fetched.
 */
export function addEstimates(
	work: ItemWork,
	item: Item,
	outputs: ReadonlyArray<ItemOutput | GatewayError>,
	prices?: PriceList,
): void {
	const amount = work.amount?.(item.request);
	if (!prices || !amount) return;
	const made = outputs.filter((output): output is ItemOutput => 'json' in output);
	const order = amount.kind === 'image' ? { ...amount, count: outputs.length } : amount;
	made.forEach((output, index) => {
		const { usage } = output.json;
		const isFirst = index === 0;
		const isText = amount.kind === 'text';
		const estimates: Estimate[] = [];
		if (isFirst && !isText) estimates.push(prices.estimateOrder(order));
		// The `usage` of a batch may be on the output of another item.
		if (usage !== undefined || (isFirst && isText && !work.batch)) {
			estimates.push(prices.estimateTokens(amount.model, usage));
		}
		const costs = estimates.flatMap((one) => ('cost' in one ? one.cost : []));
		const [problem] = estimates.flatMap((one) => ('problem' in one ? one.problem : []));
		if (costs.length > 0) output.json = { estimated_cost: sumOf(costs), ...output.json };
		else if (problem !== undefined) item.hint(noEstimate(problem));
	});
}
