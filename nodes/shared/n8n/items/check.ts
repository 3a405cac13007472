import type { N8nGateway } from '../client/gateway';
import { badInput } from '../errors/badInput';
import { textsIn } from '../parameters/accidentalText';
import { ItemParameters } from '../parameters/itemParameters';
import { includeInputFieldsOption } from '../parameters/options';
import { previewOutput } from '../parameters/skippedOutput';
import { orderLimits, previewField, readOrderOptions } from '../parameters/orderOptions';
import { estimatedCostOf } from './estimate';
import type { CheckedItem, Item } from './item';
import { failureForecast } from './preview';
import type { RunState } from './runState';

/** One code unit of a character that has two. */
const halfCharacter = /\p{Cs}/u;

/**
 * Reads and checks the parameters of every item. An item with problems fails, and its error names all of them.
 * @returns the items that can be sent, without those that are passed through; none after Stop
 */
export async function checkAll(run: RunState, gateway: N8nGateway): Promise<CheckedItem[]> {
	const checked: CheckedItem[] = [];
	for (const item of run.items) {
		await run.yielder.yieldIfDue();
		if (run.isStopped) return [];
		try {
			const read = await readItem(run, item, gateway);
			if (read) checked.push(Object.assign(item, read));
		} catch (error) {
			if (item.isPreview) item.outcome = [{ json: { ...previewOutput(failureForecast(error)) } }];
			else run.fail(item, error);
		}
	}
	failOnOtherLimits(run, checked);
	return checked.filter(({ outcome }) => outcome === undefined);
}

/** A limit is about all orders of a run: expressions that give it several values would let through the largest. */
function failOnOtherLimits(run: RunState, items: CheckedItem[]): void {
	for (const { name, valueIn } of orderLimits) {
		const values = new Set(
			items.flatMap(({ orderOptions }) => (orderOptions ? valueIn(orderOptions) : [])),
		);
		if (values.size <= 1) continue;
		const shown = [...values].map((value) => value ?? 'none').join(', ');
		const problem = `must be the same for all items (it is ${shown})`;
		for (const item of items) {
			if (item.outcome !== undefined) continue;
			const error = badInput([{ field: name, problem }], { paid: true });
			if (item.isPreview) item.outcome = [{ json: { ...previewOutput(failureForecast(error)) } }];
			else run.fail(item, error);
		}
	}
}

async function readItem(
	run: RunState,
	item: Item,
	gateway: N8nGateway,
): Promise<Pick<CheckedItem, 'request' | 'orderOptions' | 'cost' | 'includesInput'> | undefined> {
	const { baseUrl: gatewayUrl, prices } = gateway.connection;
	const { isOrder } = run.work;
	const parameters = new ItemParameters(run.context, item.index, { gatewayUrl, isOrder });
	if (run.work.isOrder) item.isPreview = previewField.read(parameters) === true;
	const request = await run.work.prepare(parameters, run.itemRun(item, gateway));
	if (parameters.passThrough) {
		item.outcome = [parameters.passThrough];
		return undefined;
	}
	for (const check of parameters.checks) await check();
	const { options } = parameters;
	const includesInput = includeInputFieldsOption.read(options);
	const orderOptions = run.work.isOrder && readOrderOptions(options);
	const amount = orderOptions && run.work.amount?.(request);
	const cost = amount && estimatedCostOf(amount, orderOptions, { prices, options });
	const { problems, hints } = parameters;
	if (problems.length > 0) throw badInput(problems, { paid: run.cost !== 'read' });
	for (const hint of hints) run.hint(item, hint);
	const isCut = run.cost !== 'read' && textsIn(request).some((text) => halfCharacter.test(text));
	if (isCut)
		run.hint(
			item,
			'A text has half a character, such as one that was cut off inside an emoji. It is sent as �.',
		);
	return { request, orderOptions, cost, includesInput };
}
