import { isTool, unreadableArguments } from '../agent/tool';
import type { N8nGateway } from '../client/gateway';
import { badInput, type Problem } from '../errors/badInput';
import { textsIn } from '../parameters/accidentalText';
import { ItemParameters } from '../parameters/itemParameters';
import { includeInputFieldsOption } from '../parameters/options';
import { orderLimits, previewField, readOrderOptions } from '../parameters/orderOptions';
import { estimatedCostOf } from './estimate';
import { failureForecast, type CheckedItem, type Step } from './item';
import type { RunState } from './runState';

/** One code unit of a character that has two. */
const halfCharacter = /\p{Cs}/u;
const halfCharacterHint =
	'A text has half a character, such as one that was cut off inside an emoji. It is sent as �.';

/**
 * Reads and checks the parameters of every item. An item with problems fails, and its error names all of them.
 * @returns no items after Stop
 */
export async function checkAll(run: RunState, gateway: N8nGateway): Promise<Step<CheckedItem>> {
	const step: Step<CheckedItem> = { items: [], previewed: [], ended: [] };
	const { baseUrl: gatewayUrl } = gateway.connection;
	const { isOrder } = run.work;
	for (const item of run.items) {
		await run.yielder.yieldIfDue();
		if (run.isStopped) return { ...step, items: [] };
		const parameters = new ItemParameters(run.context, item.index, { gatewayUrl, isOrder });
		const read: CheckedItem = { item, isPreview: false, request: undefined };
		try {
			refuseUnreadable(run, item.index);
			if (isOrder) read.isPreview = previewField.read(parameters) === true;
			read.request = await run.work.prepare(parameters, run.itemRun({ item }, gateway));
			if (parameters.passThrough) step.ended.push({ item, outcome: [parameters.passThrough] });
			else step.items.push(await checkItem(run, read, parameters, gateway));
		} catch (error) {
			reject(run, step, read, error);
		}
	}
	const problem = problemOfLimits(step.items);
	if (!problem) return step;
	for (const item of step.items) reject(run, step, item, badInput([problem], { paid: true }));
	return { ...step, items: [] };
}

/** Without its arguments, a tool would order what its fixed fields say, and not what the model meant. */
function refuseUnreadable({ context, cost }: RunState, index: number): void {
	const { json = {} } = isTool(context.getNode()) ? (context.getInputData()[index] ?? {}) : {};
	if (!Object.hasOwn(json, unreadableArguments)) return;
	const problem = { field: 'The arguments of the tool call', problem: 'must be a JSON object' };
	throw badInput([problem], { paid: cost !== 'read' });
}

/** Ends an item that cannot be sent. One that is only previewed does not fail. */
function reject(run: RunState, step: Step<CheckedItem>, read: CheckedItem, error: unknown): void {
	if (read.isPreview) step.previewed.push({ ...read, forecast: failureForecast(error) });
	else step.ended.push({ item: read.item, outcome: [run.fail(read.item, error)] });
}

/** A limit is about all orders of a run: expressions that give it several values would let through the largest. */
function problemOfLimits(items: CheckedItem[]): Problem | undefined {
	const options = items.flatMap(({ orderOptions }) => orderOptions ?? []);
	for (const [name, { property }] of Object.entries(orderLimits)) {
		const field = property.displayName;
		const values = [...new Set(options.map((option) => option[name as keyof typeof orderLimits]))];
		const shown = values.map((value) => value ?? 'none').join(', ');
		if (values.length > 1)
			return { field, problem: `must be the same for all items (it is ${shown})` };
	}
	return undefined;
}

async function checkItem(
	run: RunState,
	read: Pick<CheckedItem, 'item' | 'request' | 'isPreview'>,
	parameters: ItemParameters,
	{ connection: { prices } }: N8nGateway,
): Promise<CheckedItem> {
	const { item, request } = read;
	for (const check of parameters.checks) await check();
	const { options } = parameters;
	const includesInput = includeInputFieldsOption.read(options);
	const orderOptions = run.work.isOrder && readOrderOptions(options);
	const amount = orderOptions && run.work.amount?.(request);
	const cost = amount && estimatedCostOf(amount, orderOptions, { prices, options });
	const { problems, hints } = parameters;
	if (problems.length > 0) throw badInput(problems, { paid: run.cost !== 'read' });
	for (const hint of hints) item.hint(hint);
	const isCut = run.cost !== 'read' && textsIn(request).some((text) => halfCharacter.test(text));
	if (isCut) item.hint(halfCharacterHint);
	return { ...read, orderOptions, cost, includesInput };
}
