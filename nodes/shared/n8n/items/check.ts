import { excerpt } from '../../service/json';
import { isTool, unreadableArguments } from '../agent/tool';
import type { N8nGateway } from '../client/gateway';
import { badInput, type Problem } from '../errors/badInput';
import { textsIn } from '../parameters/accidentalText';
import { ItemParameters } from '../parameters/itemParameters';
import { ifModelRefusesOption, mayHaveOtherModels } from '../parameters/otherModels';
import { includeInputFieldsOption, timeoutOption } from '../parameters/options';
import { previewField, readOrderOptions } from '../parameters/orderOptions';
import { estimatedCostOf } from './estimate';
import { failureForecast, type Item } from './item';
import type { RunState } from './runState';

const halfCharacter = /\p{Cs}/u;
const halfCharacterHint =
	'A text has half a character, such as one that was cut off inside an emoji. It is sent as �.';

/** Reads and checks the parameters of the items. The error of an item names all its problems. */
export async function checkAll(
	run: RunState,
	gateway: N8nGateway,
	unread = run.items,
): Promise<void> {
	for (const item of unread) {
		await run.yielder.yieldIfDue();
		if (run.isStopped) return;
		try {
			await checkItem(run, item, gateway);
		} catch (error) {
			reject(run, item, error);
		}
	}
	const items = run.open;
	const problem = problemOfLimits(items);
	if (!problem) return;
	for (const item of items) reject(run, item, badInput([problem], { paid: true }));
}

async function checkItem(run: RunState, item: Item, gateway: N8nGateway): Promise<void> {
	const { work } = run;
	const isPaid = run.cost !== 'read';
	refuseUnreadable(run, item.index);
	const { parameters, request, estimate } = await read(run, item, gateway);
	item.request = request;
	if (parameters.passThrough) {
		item.outcome = [parameters.passThrough];
		return;
	}
	const { options, problems, hints } = parameters;
	item.includesInput = includeInputFieldsOption.read(options);
	item.sending = { timeout: timeoutOption.read(options), resendsLost: item.options?.resendsLost };
	item.model = work.amount?.(request).model;
	item.cost = item.estimate = estimate;
	if (mayHaveOtherModels(work)) await readOtherModels(run, item, gateway, parameters);
	if (problems.length > 0) throw badInput(problems, { paid: isPaid });
	item.identity = work.identity?.(request) ?? request;
	for (const hint of hints) item.hint(hint);
	const isCut = isPaid && textsIn(request).some((text) => halfCharacter.test(text));
	if (isCut) item.hint(halfCharacterHint);
}

/** Reads the request of an item, for its own model or for another one. */
async function read(run: RunState, item: Item, gateway: N8nGateway, otherModel?: string) {
	const { work, context, cost } = run;
	const { isOrder } = work;
	const { baseUrl: gatewayUrl, prices } = gateway.connection;
	const parameters = new ItemParameters(context, item.index, {
		gatewayUrl,
		isOrder,
		isPaid: cost !== 'read',
		otherModel,
	});
	const isFirst = otherModel === undefined;
	if (isOrder && isFirst) item.isPreview = previewField.read(parameters) === true;
	const request = await work.prepare(parameters, run.itemRun(item, gateway));
	if (parameters.passThrough) return { parameters, request };
	for (const check of parameters.checks) await check();
	const { options } = parameters;
	if (isOrder && isFirst) item.options = readOrderOptions(options);
	const amount = work.amount?.(request);
	const estimate = item.options && amount && estimatedCostOf(amount, item.options, options, prices);
	return { parameters, request, estimate };
}

/** Reads the request for each other model of an item. Their problems are those of the item. */
async function readOtherModels(
	run: RunState,
	item: Item,
	gateway: N8nGateway,
	{ options, problems }: ItemParameters,
): Promise<void> {
	const models = ifModelRefusesOption.read(options).filter((model) => model !== item.model);
	if (models.length === 0) return;
	item.others = [];
	for (const model of models) {
		const { parameters, request, estimate } = await read(run, item, gateway, model);
		const own = parameters.problems.filter(({ field, problem }) =>
			problems.every((known) => known.field !== field || known.problem !== problem),
		);
		problems.push(
			...own.map((one) => ({ ...one, field: `With ${excerpt(model, 100)}: ${one.field}` })),
		);
		item.others.push({ model, request, estimate, hints: parameters.hints });
	}
	const estimates = [item.estimate, ...item.others.map(({ estimate }) => estimate)];
	const known = estimates.filter((estimate) => estimate !== undefined);
	item.cost = known.length === estimates.length ? Math.max(...known) : undefined;
}

/** Without its arguments, a tool would order what its fixed fields say, and not what the model meant. */
function refuseUnreadable({ context, cost }: RunState, index: number): void {
	const { json = {} } = context.getInputData()[index] ?? {};
	if (!isTool(context.getNode()) || !Object.hasOwn(json, unreadableArguments)) return;
	const problem = { field: 'The arguments of the tool call', problem: 'must be a JSON object' };
	throw badInput([problem], { paid: cost !== 'read' });
}

/** Ends an item that cannot be sent. A preview does not fail. */
function reject(run: RunState, item: Item, error: unknown): void {
	if (item.isPreview) item.forecast = failureForecast(error);
	else item.outcome = [run.fail(item, error)];
}

/** An expression may give a limit several values, of which the largest would count. */
function problemOfLimits(items: Item[]): Problem | undefined {
	const all = items.flatMap(({ options }) => options ?? []);
	const fields = new Set(all.flatMap(({ limits }) => limits.map(({ field }) => field)));
	for (const field of fields) {
		const bySubject = new Map<string | undefined, Set<string>>();
		for (const { subject, limits } of all) {
			const limit = limits.find((one) => one.field === field);
			const value = limit ? `${limit.max} in each ${limit.period}` : 'none';
			bySubject.set(subject, (bySubject.get(subject) ?? new Set()).add(value));
		}
		const several = [...bySubject.values()].find(({ size }) => size > 1);
		if (!several) continue;
		const shown = [...several].join(', ');
		return { field, problem: `must be the same for all items that it counts (it is ${shown})` };
	}
	return undefined;
}
