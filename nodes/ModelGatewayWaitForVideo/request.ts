import { namesJob } from '../shared/service/jobs/jobIdentity';
import type { Expectation, JobWork } from '../shared/service/jobs/expectation';
import { startWait, type PollerState } from '../shared/service/jobs/pollerState';
import { stateIn } from '../shared/service/reader/jobState';
import { read } from '../shared/service/reader/values';
import { excerpt, textAt, withoutUndefined } from '../shared/service/json';
import { jobKinds, type JobKind } from '../shared/service/protocol/jobs';
import { limits } from '../shared/service/protocol/limits';
import { orderedJob } from '../shared/n8n/execution/orderedJobs';
import { isCalledByMcpClient } from '../shared/n8n/agent/tool';
import type { FileOutput } from '../shared/n8n/files/fileOutput';
import type { ItemRun, Reading } from '../shared/n8n/items/work';
import type { ItemParameters } from '../shared/n8n/parameters/itemParameters';
import { jobKindOf, type JobKindHint } from '../shared/n8n/parameters/jobId';
import { file, fileName, jobId, jobKind, pollInterval, timeout } from './fields';

/** The parameters of one item. */
export interface WaitRequest extends JobKindHint {
	id: string;
	output: FileOutput;
	/** The `request_id` of the incoming item: that of the order, if the item comes from a Create. */
	inputRequestId?: string;
	/** The model that the incoming item names. */
	model?: string;
	/** Whether this process has ordered the job, or the incoming item comes from its creation or a later poll. */
	isCreated: boolean;
	fileName: string;
	/** Milliseconds; undefined: the recommended interval for the kind of job. */
	pollInterval?: number;
	/** Milliseconds. */
	timeout: number;
}

/** Reports the job before it reads anything else, so that every error of the node names it. */
function waitRequest(
	parameters: ItemParameters,
	{ reportJob }: Pick<ItemRun, 'reportJob'>,
): WaitRequest {
	const id = jobId.read(parameters);
	const shown = jobKindOf(parameters, id);
	const ordered = orderedJob(id, parameters.purpose.gatewayUrl);
	const report = (kind?: JobKind) => id !== '' && reportJob({ kind, id });
	report(ordered?.kind ?? shown.kind);
	// A field called `task_id` may hold any ID, so it says less than what the user has chosen.
	const kind = ordered?.kind ?? asJobKind(jobKind.read(parameters.options)) ?? shown.kind;
	report(kind);
	const kindHint = kind === undefined ? shown : { kind };
	const { context, item, options } = parameters;
	const { json = {} } = context.getInputData()[item] ?? {};
	const inputRequestId = textAt(json, 'request_id');
	const model = textAt(json, 'model');
	return {
		id,
		...kindHint,
		isCreated: ordered !== undefined || (namesJob(json, id) && stateIn(read(json)) !== undefined),
		output: file.read(parameters),
		fileName: fileName.read(options) ?? id,
		...withoutUndefined({
			inputRequestId,
			model: model && excerpt(model, 100),
			pollInterval: pollInterval.read(options),
		}),
		timeout: timeout.read(options) ?? defaultTimeout(context),
	};
}

const asJobKind = (text = ''): JobKind | undefined =>
	Object.hasOwn(jobKinds, text) ? (text as JobKind) : undefined;

/** Milliseconds. MCP clients wait for a minute, in which the response to the last poll must arrive, too. */
const mcpClientTimeout = 40_000;

const defaultTimeout = (context: ItemParameters['context']) =>
	isCalledByMcpClient(context) ? mcpClientTimeout : limits.waitMinutes * 60_000;

export const reading: Reading<WaitRequest> = {
	endpoint: jobKinds.task.endpoint,
	prepare: waitRequest,
};

/** @param now milliseconds since 1970, when the timeout begins to run */
export function newPoller(
	{ id, kind, guess, isCreated, pollInterval, timeout }: WaitRequest,
	now: number,
): PollerState {
	return startWait({ id, ...(kind && { kind }) }, { now, guess, isCreated, pollInterval, timeout });
}

/** Since when a job runs, and what was ordered. */
export interface JobStart extends JobWork {
	/** Milliseconds since 1970: when the job was created or, if that is unknown, when the wait began. */
	at: number;
	/** Whether `at` is its creation, so that the end of the job tells its length. */
	isCreation: boolean;
}

/** How long a job has run, and when it is expected. */
export interface Forecast extends Expectation {
	/** Seconds since its start. */
	waited: number;
}

/** The start of a job whose wait begins. @param now milliseconds since 1970 */
export function startOf(
	{ id, kind, model, isCreated }: WaitRequest,
	gatewayUrl: string,
	now: number,
): JobStart {
	const ordered = orderedJob(id, gatewayUrl);
	// Another process has ordered it, usually just before the wait.
	if (!ordered) return { kind, model, at: now, isCreation: isCreated };
	const { age, ...work } = ordered;
	return { ...work, at: now - age, isCreation: true };
}

/** Seconds since the start; undefined if an earlier version began the wait. @param now milliseconds since 1970 */
export const secondsSince = (start: JobStart | undefined, now: number): number | undefined =>
	start && Math.max(0, Math.round((now - start.at) / 1000));
