import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { Call } from '../../../shared/service/client/gateway';
import type { ResponseFields } from '../../../shared/service/client/response';
import { failureReason } from '../../../shared/service/errors/jobErrors';
import { jobName } from '../../../shared/service/errors/jobSummary';
import { excerpt } from '../../../shared/service/json';
import type { Amount } from '../../../shared/service/protocol/amount';
import { phaseOf, type JobKind } from '../../../shared/service/protocol/jobs';
import { stateIn } from '../../../shared/service/reader/jobState';
import { jobReasonIn } from '../../../shared/service/reader/reason';
import { read } from '../../../shared/service/reader/values';
import { joinFirst } from '../../../shared/n8n/errors/badInput';
import { nodesAround } from '../../../shared/n8n/execution/engineContext';
import { jobOrdered, rememberOrdered } from '../../../shared/n8n/execution/orderedJobs';
import { isTool } from '../../../shared/n8n/agent/tool';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';

interface Create extends Call<{ id: string; fields: ResponseFields }> {
	kind: JobKind;
	amount: Amount;
}

/**
 * Creates a job, and gives the output. The response may already say that the job has failed ("States and transitions").
 * Wait for Video reports that with its first poll; a hint reports it to users who do not wait.
 * @throws GatewayError
 */
export async function createJob(
	{ kind, amount, ...call }: Create,
	{ context, gateway, sending, reportJob, hint, note }: ItemRun,
): Promise<ItemOutput[]> {
	const { id, fields } = await gateway.call({ ...call, ...sending });
	const answer = read(fields);
	const status = stateIn(answer);
	const hasFailed = status !== undefined && phaseOf(status) === 'failed';
	rememberOrdered(id, gateway.connection.baseUrl, { ...amount, kind });
	reportJob({ kind, id, ...(hasFailed && { status: excerpt(status, 100) }) });
	if (hasFailed) {
		const reason = failureReason(jobReasonIn(answer));
		hint(`${jobName({ kind, id })} was created, and has failed already: ${reason}.`);
	} else if (context.getMode() === 'manual' && !isTool(context.getNode())) {
		if (!isCollectedLater(context)) note(orderedHint);
		const earlier = jobOrdered(context, gateway.connection.baseUrl, id);
		if (earlier.length > 0) note(uncollectedHint(earlier));
	}
	return [{ json: fields as IDataObject }];
}

export const orderedHint =
	'Each job here is a video that was ordered. To get it, connect Wait for Video behind this node.';

/** Names what earlier runs ordered: after Stop, the editor shows nothing of them. */
export const uncollectedHint = (ids: string[]) =>
	`Earlier runs of this node ordered videos that nothing has collected: ${joinFirst(ids)}. Wait for Video gets each by its Job ID, at no cost.`;

/** Whether a node behind this one gets the video. Never fails: a hint must not end an order that was placed. */
function isCollectedLater(context: IExecuteFunctions): boolean {
	const later = nodesAround(context, context.getNode().name, 'getChildNodes') ?? [];
	return later.some(({ type, disabled, parameters = {} }) => {
		const { resource, operation } = parameters;
		const isOfVideos = resource === 'video' || resource === 'referenceVideo';
		const looksAtJob = type.endsWith('.modelGateway') && isOfVideos && operation !== 'create';
		return !disabled && (looksAtJob || type.endsWith('.modelGatewayWaitForVideo'));
	});
}
