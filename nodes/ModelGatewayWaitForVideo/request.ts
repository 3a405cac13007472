import { startWait, type PollerState } from '../shared/gateway/jobs/poller';
import { textAt, withoutUndefined } from '../shared/gateway/json';
import { limits } from '../shared/gateway/protocol/limits';
import { isCalledByMcpClient } from '../shared/n8n/agent/tool';
import type { FileOutput } from '../shared/n8n/files/fileOutput';
import type { ItemRun } from '../shared/n8n/items/work';
import type { ItemParameters } from '../shared/n8n/parameters/itemParameters';
import { jobKindOf, type JobKindHint } from '../shared/n8n/parameters/jobId';
import { file, fileName, jobId, pollInterval, timeout } from './fields';

/** What the user wants of one item. */
export interface WaitRequest extends JobKindHint {
	id: string;
	output: FileOutput;
	/** The `request_id` of the incoming item, which is that of the order where the create leads here. */
	inputRequestId?: string;
	/** Of the file. */
	fileName: string;
	/** Milliseconds; undefined: as recommended for the kind of job. */
	pollInterval?: number;
	/** Milliseconds. */
	timeout: number;
}

/** Reports the job before it reads anything else, so that every error of the node names it. */
export function waitRequest(
	parameters: ItemParameters,
	{ reportJob }: Pick<ItemRun, 'reportJob'>,
): WaitRequest {
	const id = jobId.read(parameters);
	const told = jobKindOf(parameters, id);
	if (id !== '') reportJob({ kind: told.kind, id });
	const { context, item, options } = parameters;
	const inputRequestId = textAt(context.getInputData()[item]?.json, 'request_id');
	return {
		id,
		...told,
		output: file.read(parameters),
		fileName: fileName.read(options) ?? id,
		...withoutUndefined({ inputRequestId, pollInterval: pollInterval.read(options) }),
		timeout: timeout.read(options) ?? defaultTimeout(context),
	};
}

/** Milliseconds: clients of tools give up after a minute, in which the last poll has to be answered, too. */
const mcpClientTimeout = 40_000;

const defaultTimeout = (context: ItemParameters['context']) =>
	isCalledByMcpClient(context) ? mcpClientTimeout : limits.waitMinutes * 60_000;

/** The wait for its job, before the first pass. @param now milliseconds since 1970, when its timeout begins to run */
export function newPoller(
	{ id, kind, guess, pollInterval, timeout }: WaitRequest,
	now: number,
): PollerState {
	return startWait({ id, ...(kind && { kind }) }, { now, guess, pollInterval, timeout });
}
