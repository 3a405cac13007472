import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { textAt, withoutUndefined } from '../../gateway/json';
import type { Recipient } from '../agent/recipient';
import { isTool } from '../agent/tool';
import { messageOf } from '../errors/errorRecord';
import { outlookOf } from '../errors/jobList';
import { errorItem, nodeError } from '../errors/nodeError';
import { stoppedError } from '../orders/messages';
import { isSkippedOutput } from '../parameters/skippedOutput';
import { failureOf, isFailure, type Item } from './item';
import type { RunState } from './runState';
import type { ItemOutput } from './work';

/** Returns the outputs of all items, each paired with its item. @throws the error of the node, when it fails */
export async function settle(run: RunState, recipient: Recipient): Promise<INodeExecutionData[]> {
	if (run.isStopped) {
		logJobs(run);
		throw errorOfNode(stoppedError(failuresOf(run)), run);
	}
	if (run.isFailing) {
		const [cause] = run.failures;
		return [{ ...recipient.failure(errorOfNode(cause, run)), pairedItem: { item: cause.item } }];
	}
	run.showHints();
	return await outputsOfAll(run, recipient);
}

async function outputsOfAll(run: RunState, recipient: Recipient): Promise<INodeExecutionData[]> {
	const outputs: INodeExecutionData[] = [];
	for (const item of run.items) {
		await run.yielder.yieldIfDue();
		const { index, job, result, outcome = [] } = item;
		const isCharged = run.cost !== 'read' && result !== undefined;
		for (const output of outcome) {
			if (isFailure(output)) {
				outputs.push(errorItem(output.error, item, run.context.getNode()));
				continue;
			}
			const clear = isCharged ? withoutSigns(output) : output;
			const whole = withInput(recipient.output(clear, job), item, run);
			outputs.push({ ...whole, pairedItem: { item: index } });
		}
	}
	return outputs;
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

/** The output, with the fields and files of the input where the user includes them. */
function withInput(
	output: ItemOutput,
	{ index, includesInput }: Item,
	{ context, cost }: RunState,
): ItemOutput {
	if (!includesInput || isTool(context.getNode())) return output;
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

const failuresOf = ({ items }: RunState) =>
	items.flatMap((item) => {
		const failure = failureOf(item);
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
	{ error, item }: { error: unknown; item?: number },
	{ context, items, failures, cost, otherJobs, isStopped }: RunState,
): NodeApiError {
	const message = messageOf(error);
	const failed = new Set(failures.map((failure) => failure.item));
	const isAlone = items.every(({ index }) => failed.has(index));
	const others = failures
		.map((failure) => ({ item: failure.item, message: messageOf(failure.error) }))
		.filter((other) => other.message !== message);
	return nodeError(context.getNode(), {
		error,
		item,
		itemCount: items.length,
		others: others.map((other) => `item ${other.item}: ${other.message}`),
		jobs: [
			...items.flatMap((entry) => {
				const { index, job } = entry;
				const outlook = job && outlookOf(job, failureOf(entry)?.error);
				return outlook ? [{ item: index, ...job, outlook }] : [];
			}),
			...otherJobs.map((job) => ({ ...job, outlook: outlookOf(job, undefined) })),
		],
		jobsAreKept: cost !== 'read',
		...(!isAlone && !isStopped && { deliversOthers: true }),
	});
}
