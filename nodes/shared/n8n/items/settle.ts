import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';
import { describeProgress } from '../../gateway/errors/jobSummary';
import type { Recipient } from '../agent/recipient';
import { recordOf } from '../errors/errorRecord';
import { outlookOf } from '../errors/jobList';
import { errorItem, nodeError } from '../errors/nodeError';
import { stoppedError } from './ambiguousRequests';
import { failureOf, isFailure } from './item';
import type { RunState } from './runState';

/** Returns the outputs of all items, each paired with its item. @throws the error of the node, when it fails */
export function settle(run: RunState, recipient: Recipient): INodeExecutionData[] {
	if (run.isStopped) {
		logJobs(run);
		throw errorOfNode(stoppedError(run.items), run);
	}
	if (run.isFailing) {
		const [cause] = run.failures;
		return [{ ...recipient.failure(errorOfNode(cause, run)), pairedItem: { item: cause.item } }];
	}
	const outputs = outputsOfAll(run, recipient);
	if (outputs.length > 0) return outputs;
	return recipient.noOutput.map((output) => ({ ...output, pairedItem: { item: 0 } }));
}

function outputsOfAll({ items, context }: RunState, recipient: Recipient): INodeExecutionData[] {
	return items.flatMap(({ index: item, job, outcome = [] }) =>
		outcome.map((output) =>
			isFailure(output)
				? errorItem(output.error, item, context.getNode())
				: { ...recipient.output(output, job), pairedItem: { item } },
		),
	);
}

/** Logs the jobs, because n8n does not store the error of a stopped node. */
function logJobs({ items, context }: RunState): void {
	const jobs = items.flatMap(({ job }) => (job ? [describeProgress(job)] : []));
	if (jobs.length > 0) context.logger.info(`Stopped. ${jobs.join('. ')}`);
}

/** The error of the node: the cause, the other failures, and every job. */
function errorOfNode(
	{ error, item }: { error: unknown; item?: number },
	{ context, items, failures, cost }: RunState,
): NodeApiError {
	const { message } = recordOf(error);
	const others = failures
		.map((failure) => ({ item: failure.item, message: recordOf(failure.error).message }))
		.filter((other) => other.message !== message);
	return nodeError(context.getNode(), {
		error,
		item,
		others: others.map((other) => `item ${other.item}: ${other.message}`),
		jobs: items.flatMap((entry) => {
			const { index, job } = entry;
			return job ? [{ item: index, ...job, outlook: outlookOf(job, failureOf(entry)?.error) }] : [];
		}),
		jobsAreKept: cost !== 'read',
	});
}
