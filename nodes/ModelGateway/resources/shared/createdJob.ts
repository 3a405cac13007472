import type { IDataObject } from 'n8n-workflow';
import type { ResponseFields } from '../../../shared/gateway/client/response';
import { jobFailureReason } from '../../../shared/gateway/errors/errorObject';
import { jobName } from '../../../shared/gateway/errors/jobSummary';
import { statusIn } from '../../../shared/gateway/jobs/responses';
import { excerpt } from '../../../shared/gateway/json';
import { phaseOf, type JobKind } from '../../../shared/gateway/protocol/jobs';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';

/**
 * The output of a Create. The response may already say that the job has failed ("States and transitions"). Wait for
 * Video reports that with its first poll; a hint reports it to users who do not wait.
 */
export function createdJobOutput(
	{ kind, id, fields }: { kind: JobKind; id: string; fields: ResponseFields },
	{ reportJob, hint }: Pick<ItemRun, 'reportJob' | 'hint'>,
): ItemOutput[] {
	const status = statusIn(fields);
	const hasFailed = status !== undefined && phaseOf(status) === 'failed';
	reportJob({ kind, id, ...(hasFailed && { status: excerpt(status, 100) }) });
	if (hasFailed) {
		const { message = 'the service gave no reason' } = jobFailureReason(fields);
		hint(`${jobName({ kind, id })} was created, and has failed already: ${excerpt(message)}.`);
	}
	return [{ json: fields as IDataObject }];
}
