import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';
import { GatewayError, stopped, type Failure } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { isRunByAgent, isTool } from '../agent/tool';
import { toolResult } from '../agent/toolResult';
import { showHint } from '../display/hints';
import { messageOf } from '../errors/errorRecord';
import { errorItem, nodeError } from '../errors/nodeError';
import { signedLinkOf } from '../files/publicLink';
import { describeSpan } from './span';
import { isFailure, type Item } from './item';
import { withInput } from './output';
import type { RunState } from './runState';

/**
 * Returns the outputs of all items, each paired with its item.
 * @param otherJobs jobs that earlier tries have created and that belong to none of the items
 * @throws the error of the node, when it fails
 */
export async function settle(
	run: RunState,
	otherJobs: readonly JobSummary[] = [],
): Promise<INodeExecutionData[]> {
	describeSpan(run);
	const { context } = run;
	if (run.isStopped) {
		logJobs(run);
		throw errorOfNode(run, stoppedError(run), otherJobs);
	}
	if (run.isFailing) {
		const [cause] = run.failures;
		const error = errorOfNode(run, cause, otherJobs);
		// An older agent does not show a tool's error to its model, which may then create the job again.
		if (!isRunByAgent(context)) throw error;
		return [{ json: { error: error.message }, pairedItem: { item: cause.item } }];
	}
	showHints(run);
	const outputs: INodeExecutionData[] = [];
	for (const item of run.items) {
		await run.yielder.yieldIfDue();
		for (const output of item.outcome ?? []) {
			if (isFailure(output)) {
				outputs.push(errorItem(output.error, item, context.getNode()));
				continue;
			}
			const given = isTool(context.getNode())
				? toolResult(output, item.job, (file) => signedLinkOf(file, context))
				: output;
			const whole = item.includesInput ? withInput(given, item.index, run) : given;
			outputs.push({ ...whole, pairedItem: { item: item.index } });
		}
	}
	return outputs;
}

/** Shows each hint once, even if it is about many items: the editor could not show thousands. */
function showHints({ context, items: all, notes }: RunState): void {
	const items = new Map<string, number[]>();
	for (const { index, hints } of all) {
		for (const hint of hints) addIndex(items, hint, index);
	}
	for (const [hint, indices] of items) {
		showHint(context, all.length === 1 ? hint : `Item${namesOf(indices)}: ${hint}`);
	}
	for (const note of notes) showHint(context, note);
}

function addIndex(byText: Map<string, number[]>, text: string, index: number): void {
	const indices = byText.get(text);
	if (indices) indices.push(index);
	else byText.set(text, [index]);
}

const maxNamed = 10;

/** Continues the word "item" with their numbers, or with the first of them. */
function namesOf(indices: number[]): string {
	if (indices.length === 1) return ` ${indices[0]}`;
	const more = indices.length - maxNamed;
	return `s ${indices.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const errorOf = ({ outcome }: Item): unknown => outcome?.find(isFailure)?.error;

/** Requests that may have been accepted come first. */
function stoppedError({ items }: RunState): { error: GatewayError; item?: number } {
	const accepted = items.flatMap((item) => {
		const error = errorOf(item);
		return error instanceof GatewayError && mayHaveBeenAccepted(error.failure)
			? [{ item: item.index, error }]
			: [];
	});
	const [first, ...others] = accepted;
	if (first === undefined) return { error: stopped() };
	if (others.length === 0) return first;
	const { orderAdvice = '' } = first.error.failure;
	const text = `The same applies to items ${others.map(({ item }) => item).join(', ')}.`;
	return { ...first, error: first.error.with({ orderAdvice: `${orderAdvice} ${text}`.trim() }) };
}

/** True after a lost response or a stopped wait, but not after a failed job. */
function mayHaveBeenAccepted({ billed, reach, isStopped }: Failure): boolean {
	return billed === 'unknown' && (reach !== 'none' || isStopped === true);
}

/** n8n does not store the error of a stopped node. */
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
	const itemsByMessage = new Map([[messageOf(error), [] as number[]]]);
	for (const failure of failures)
		if (failure.item !== item) addIndex(itemsByMessage, messageOf(failure.error), failure.item);
	const others = [...itemsByMessage].flatMap(([text, indices], rank) =>
		indices.length > 0 ? `item${namesOf(indices)}: ${rank === 0 ? 'the same' : text}` : [],
	);
	const failed = new Set(failures.map((failure) => failure.item));
	const isAlone = items.every(({ index }) => failed.has(index));
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
