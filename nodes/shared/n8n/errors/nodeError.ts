import type { IDataObject, INode, INodeExecutionData, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { describeStatus, jobName, shownId, type JobSummary } from '../../service/errors/jobSummary';
import { excerpt } from '../../service/json';
import { isTool } from '../agent/tool';
import { asHtml, withoutTags } from '../display/plainText';
import { sentences } from './advice';
import { joinFirst } from './badInput';
import { chargeOf, recordOf, withMediaLabels, type ErrorRecord } from './errorRecord';
import { toolErrorText } from './toolError';

/**
 * The output in place of a failed item. n8n's error output keeps only these two fields.
 * @param item the failed item, with its job: an error of n8n itself does not know the job
 */
export function errorItem(
	error: unknown,
	{ index, job }: { index: number; job?: JobSummary },
	node: INode,
): INodeExecutionData {
	const record = recordOf(error);
	// An agent's model has no use for the details, which quote others without marking that as data.
	if (isTool(node)) {
		const facts = [...factsOf(record), job && !record.job ? `${jobName(job)}.` : ''];
		return { json: { error: toolErrorText(error, record, facts) }, pairedItem: { item: index } };
	}
	const { message, ...rest } = record;
	// Undefined values would show as empty columns.
	const details = JSON.parse(JSON.stringify({ message, job, ...rest })) as IDataObject;
	const failedItem: INodeExecutionData = {
		json: { error: message, details },
		pairedItem: { item: index },
	};
	// Older versions of n8n (2.30, but not 2.34) recognise a failed item with details by `error` only. If n8n could copy it,
	// its message would replace the details.
	if (node.onError === 'continueErrorOutput') {
		Object.defineProperty(failedItem, 'error', { value: { message } });
	}
	return failedItem;
}

interface NodeFailure {
	error: unknown;
	/** Undefined when the failure belongs to no single item. */
	item?: number;
	itemCount?: number;
	others?: string[];
	/** Every job created or waited for. One of an earlier try may belong to no item. */
	jobs?: Array<JobSummary & { item?: number }>;
	/** Whether the next try reuses these jobs. */
	jobsAreKept?: boolean;
	/** Whether items that have not failed would be delivered if the node went on. */
	deliversOthers?: boolean;
	/** Whether the node serves another one, such as an agent. */
	isOfSubNode?: true;
}

/**
 * The error that n8n shows. NodeApiError would replace message and description with advice that is wrong for this
 * service, and drop the request ID. So both are set here, and the whole record is kept as data.
 */
export function nodeError(node: INode, failure: NodeFailure): NodeApiError {
	const { error, jobs = [] } = failure;
	const record = recordOf(error);
	const { message, description } = textsOf(node, failure, record);
	const { raw_body, ...shown } = record;
	// The raw body may have a megabyte, and needs no copy.
	const plain = JSON.parse(JSON.stringify({ ...shown, jobs })) as JsonObject;
	const data: JsonObject = raw_body === undefined ? plain : { ...plain, raw_body };
	const apiError = new NodeApiError(node, data, { message, description });
	// NodeApiError may have used any field as the status.
	apiError.httpCode = record.status === 0 ? null : String(record.status);
	// NodeApiError replaces a message that has a word such as ENOTFOUND.
	apiError.message = message;
	apiError.description = description;
	apiError.messages = raw_body ? [raw_body] : [];
	apiError.context.data = data;
	return apiError;
}

function textsOf(node: INode, failure: NodeFailure, record: ErrorRecord) {
	const { error, item, itemCount, others = [], deliversOthers, isOfSubNode } = failure;
	const facts = [
		...factsOf(record),
		others.length > 0 && `Also: ${joinFirst(others.map((other) => excerpt(other)))}.`,
		describeJobs(failure, record),
	];
	if (isTool(node)) {
		const text = toolErrorText(error, record, facts);
		return { message: withoutTags(text), description: asHtml(text) };
	}
	const isNamed = item !== undefined && itemCount !== 1;
	const title = isNamed ? `Item ${item}: ${record.message}` : record.message;
	const description = sentences([
		// n8n shows only the description in a streamed chat.
		isOfSubNode && `${record.message}.`,
		chargeOf(record),
		record.advice,
		...facts,
		deliversOthers && onErrorAdvice,
	]);
	return { message: withoutTags(title), description: asHtml(description) };
}

/** The error of a sub-node: the editor then names the parent node too, and links the two. */
export function subNodeError(node: INode, error: unknown): NodeApiError {
	const apiError = nodeError(node, { error, isOfSubNode: true });
	apiError.functionality = 'configuration-node';
	return apiError;
}

/** Status, code and type are in the details that n8n shows below. */
function factsOf({ message, param, request_id }: ErrorRecord) {
	const field = param && withMediaLabels(param);
	return [
		field && !message.includes(field) && `Field: ${field}.`,
		request_id && `(Request ID ${request_id})`,
	];
}

const onErrorAdvice =
	'To get the other items all the same, set On Error to Continue in the settings of this node, save, and press Retry with currently saved workflow.';

/** All jobs, even many, since each is charged; without one that the message names, which would seem to be two. */
function describeJobs(
	{ jobs = [], jobsAreKept, itemCount }: NodeFailure,
	{ job, message }: ErrorRecord,
): string | undefined {
	const isNamed = job && message.includes(shownId(job.id));
	const listed = jobs
		.filter(({ id }) => !isNamed || id !== job.id)
		.map((each) => {
			const only = itemCount === 1 ? '' : `item ${each.item}: `;
			const name = each.item === undefined ? 'of an earlier try: ' : only;
			return `${name}${shownId(each.id)} (${describeStatus(each)})`;
		});
	const heading = jobsAreKept
		? 'Jobs already created, which a retry does not create again'
		: 'Jobs that Wait for Video collects by ID, unless they failed';
	return listed.length === 0 ? undefined : `${heading}: ${listed.join('; ')}.`;
}
