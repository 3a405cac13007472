import type { IDataObject, INode, INodeExecutionData, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { joinFirst } from './badInput';
import { describeStatus, type JobSummary } from '../../gateway/errors/jobSummary';
import { excerpt } from '../../gateway/json';
import { recordOf, type ErrorRecord } from './errorRecord';
import { isTool } from '../agent/tool';

/** A job and the item it belongs to. */
export interface ItemJob extends JobSummary {
	item: number;
}

/** What goes on in place of an item that failed: the error output takes just these two fields. */
export function errorItem(error: unknown, item: number, node: INode): INodeExecutionData {
	const { message, ...rest } = recordOf(error);
	// Keys that are undefined would show as empty columns.
	const details = JSON.parse(JSON.stringify({ message, ...rest })) as IDataObject;
	const failed: INodeExecutionData = { json: { error: message, details }, pairedItem: { item } };
	// Older versions (2.30 does, 2.34 does not) know an item with details as failed by this alone. It must not be
	// copied along, or its message takes the place of the details.
	if (node.onError === 'continueErrorOutput') {
		Object.defineProperty(failed, 'error', { value: { message } });
	}
	return failed;
}

export interface NodeFailure {
	error: unknown;
	/** Undefined when it is no single item's. */
	item?: number;
	/** What else went wrong, each in one line. */
	others: string[];
	/** Every job that was made or waited for, so that none is lost with the run. */
	jobs: ItemJob[];
	/** Whether the next try takes these jobs over. */
	jobsAreKept: boolean;
}

/**
 * The error that n8n shows. NodeApiError would replace message and description by advice that is wrong
 * for this service, and drops the request id: both are set here, and the whole record is kept as data.
 */
export function nodeError(node: INode, failure: NodeFailure): NodeApiError {
	const { error, item, others, jobs, jobsAreKept } = failure;
	const record = recordOf(error);
	const isForModel = isTool(node);
	// A model that reads of a job twice may take it for two.
	const listed = isForModel ? jobs.filter(({ id }) => id !== record.job?.id) : jobs;
	const advice = [record.advice, factsOf(record), alsoList(others), jobList(listed, jobsAreKept)]
		.filter((part) => part !== '')
		.join(' ');
	const description = isForModel ? withoutErrorNames(advice) : advice;
	const title = item === undefined ? record.message : `Item ${item}: ${record.message}`;
	// Of the error of a tool, n8n hands on the message alone: what to do, and the job, have to be in it.
	const message = isForModel ? `${withoutErrorNames(record.message)}. ${description}` : title;

	const data = JSON.parse(JSON.stringify({ ...record, jobs })) as JsonObject;
	const shown = new NodeApiError(node, data, {
		message,
		description,
		itemIndex: item,
	});
	// NodeApiError looks for a status in every field it finds.
	shown.httpCode = record.status === 0 ? null : String(record.status);
	// Words such as ENOTFOUND in a message make it put its own in its place.
	shown.message = message;
	shown.description = description;
	shown.messages = record.raw_body ? [record.raw_body] : [];
	shown.context.data = data;
	return shown;
}

/**
 * To make the error of a tool a text, n8n puts words of its own, such as an advice to try again, in the place
 * of one that names an error of the network.
 */
function withoutErrorNames(text: string): string {
	return text.replace(/\b(?:E[A-Z]{4,}|EAI_[A-Z]+|getaddrinfo)\b/g, 'network error');
}

/** The error of a node that only serves another one: the editor names both, and leads from one to the other. */
export function subNodeError(node: INode, error: unknown): NodeApiError {
	const shown = nodeError(node, { error, others: [], jobs: [], jobsAreKept: false });
	shown.functionality = 'configuration-node';
	return shown;
}

function factsOf({
	status,
	code,
	type,
	param,
	request_id,
	billed,
	retry_can_help,
}: ErrorRecord): string {
	if (status === 0) return request_id ? `(Request id ${request_id}.)` : '';
	const facts = [
		`HTTP ${status}`,
		code && `code ${code}`,
		type && `type ${type}`,
		param && `param ${param}`,
		request_id && `request id ${request_id}`,
		`billed: ${billed}`,
		`a retry ${retry_can_help ? 'can' : 'cannot'} help`,
	];
	return `(${facts.filter(Boolean).join(', ')}.)`;
}

function alsoList(others: string[]): string {
	return others.length === 0 ? '' : `Also: ${joinFirst(others.map((other) => excerpt(other)))}.`;
}

/** All of them, however many: they are paid for. */
function jobList(jobs: ItemJob[], areKept: boolean): string {
	if (jobs.length === 0) return '';
	const list = jobs.map((job) => `item ${job.item}: ${job.id} (${describeStatus(job)})`).join('; ');
	return areKept
		? `Jobs already created, which a retry does not create again: ${list}.`
		: `Jobs that can be waited for again by id: ${list}.`;
}
