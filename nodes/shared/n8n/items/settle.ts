import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';
import type { JobSummary } from '../../service/errors/jobSummary';
import { textAt, withoutUndefined } from '../../service/json';
import type { Recipient } from '../agent/recipient';
import { isTool } from '../agent/tool';
import { showHint } from '../display/hints';
import { messageOf } from '../errors/errorRecord';
import { errorItem, nodeError } from '../errors/nodeError';
import { stoppedError } from '../orders/messages';
import { isSkippedOutput } from '../parameters/skippedOutput';
import { isFailure, type EndedItem, type Item } from './item';
import type { RunState } from './runState';
import type { ItemOutput } from './work';

/**
 * Returns the outputs of all items, each paired with its item.
 * @param otherJobs jobs that earlier tries have created and that belong to none of the items
 * @throws the error of the node, when it fails
 */
export async function settle(
	run: RunState,
	ended: EndedItem[],
	{ recipient, otherJobs }: { recipient: Recipient; otherJobs: readonly JobSummary[] },
): Promise<INodeExecutionData[]> {
	const inOrder = [...ended].sort((one, other) => one.item.index - other.item.index);
	const failures = failuresOf(inOrder);
	if (run.isStopped) {
		logJobs(run);
		throw errorOfNode(run, stoppedError(failures), otherJobs);
	}
	if (run.isFailing) {
		const [cause] = run.failures;
		const error = errorOfNode(run, cause, otherJobs);
		return [{ ...recipient.failure(error), pairedItem: { item: cause.item } }];
	}
	showHints(run);
	const outputs: INodeExecutionData[] = [];
	for (const { item, outcome, ...facts } of inOrder) {
		await run.yielder.yieldIfDue();
		for (const output of outcome) {
			if (isFailure(output)) {
				outputs.push(errorItem(output.error, item, run.context.getNode()));
				continue;
			}
			const clear = facts.isCharged ? withoutSigns(output) : output;
			const given = recipient.output(clear, item.job);
			const whole = facts.includesInput ? withInput(given, item, run) : given;
			outputs.push({ ...whole, pairedItem: { item: item.index } });
		}
	}
	return outputs;
}

/** Shows each hint once, even if it is about many items: the editor could not show thousands. */
function showHints({ context, items: all, notes }: RunState): void {
	const items = new Map<string, number[]>();
	for (const { index, hints } of all) {
		for (const hint of hints) {
			const indices = items.get(hint);
			if (indices) indices.push(index);
			else items.set(hint, [index]);
		}
	}
	for (const [hint, indices] of items) {
		showHint(context, all.length === 1 ? hint : `${describeItems(indices)}: ${hint}`);
	}
	for (const note of notes) showHint(context, note);
}

/** Maximum number of items that a hint names. */
const maxNamed = 10;

function describeItems(indices: number[]): string {
	if (indices.length === 1) return `Item ${indices[0]}`;
	const more = indices.length - maxNamed;
	return `Items ${indices.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * The output of a request that was charged. With Retry On Fail, n8n takes an item with an `error` for a failure, and runs
 * the node again. Later nodes take some fields for a sign that nothing was ordered. Values of the service with such a
 * name are kept as `service_…`.
 */
function withoutSigns(output: ItemOutput): ItemOutput {
	const { json } = output;
	const { error = null } = json;
	const isFailureForN8n = error !== null && error !== false;
	const names = [
		...(isFailureForN8n ? ['error'] : []),
		...(isSkippedOutput(json) ? ['ordered'] : []),
	];
	return names.length === 0 ? output : { ...output, json: prefixed(json, names, 'service') };
}

/** The output, with the fields and files of the input. */
function withInput(output: ItemOutput, { index }: Item, { context, cost }: RunState): ItemOutput {
	if (isTool(context.getNode())) return output;
	const { json, binary } = context.getInputData()[index];
	const fields = prefixed(cost === 'job' ? withoutJob(json) : json, signs, 'input');
	const files = { ...binary, ...output.binary };
	return {
		json: { ...fields, ...output.json },
		...(Object.keys(files).length > 0 && { binary: files }),
	};
}

/** Fields that say that an item failed, or that nothing was ordered for it. They are true only of the earlier item. */
const signs = ['error', 'ordered', 'order_key', 'preview', 'reason', 'would'];

/** The same fields, some of them under another name: `<prefix>_<name>`. */
const prefixed = (json: IDataObject, names: string[], prefix: string): IDataObject =>
	Object.fromEntries(
		Object.entries(json).map(([name, value]) => [
			names.includes(name) ? `${prefix}_${name}` : name,
			value,
		]),
	);

/** The input without the job of an earlier create, which later nodes would take for the job of this create. */
function withoutJob(json: IDataObject): IDataObject {
	const output = textAt(json, 'output.task_id') === undefined ? json.output : undefined;
	return withoutUndefined({ ...json, task_id: undefined, output });
}

/** The first failure of each item that has one. */
const failuresOf = (ended: EndedItem[]): RunState['failures'] =>
	ended.flatMap(({ item, outcome }) => {
		const failure = outcome.find(isFailure);
		return failure ? [{ item: item.index, error: failure.error }] : [];
	});

/** Logs the jobs, because n8n does not store the error of a stopped node. */
function logJobs({ items, log }: RunState): void {
	// Several items may wait for the same job.
	const jobs = new Map<string, { item: number; job: JobSummary }>();
	for (const { index: item, job } of items) if (job) jobs.set(job.id, { item, job });
	for (const details of jobs.values()) log.write('node stopped', details);
}

/** The error of the node. It has the cause, the other failures, and every job. */
function errorOfNode(
	{ context, items, failures, cost, isStopped }: RunState,
	{ error, item }: { error: unknown; item?: number },
	otherJobs: readonly JobSummary[],
): NodeApiError {
	const message = messageOf(error);
	const failed = new Set(failures.map((failure) => failure.item));
	const isAlone = items.every(({ index }) => failed.has(index));
	const others = failures.flatMap((failure) => {
		const text = messageOf(failure.error);
		return text === message ? [] : `item ${failure.item}: ${text}`;
	});
	return nodeError(context.getNode(), {
		error,
		item,
		itemCount: items.length,
		others,
		jobs: [
			...items.flatMap(({ index, job }) => (job ? [{ item: index, ...job }] : [])),
			...otherJobs,
		],
		jobsAreKept: cost !== 'read',
		deliversOthers: !isAlone && !isStopped,
	});
}
