import type { IDataObject } from 'n8n-workflow';
import type { AdaptiveLimit } from '../shared/service/client/adaptiveLimit';
import type { Clock } from '../shared/service/client/http';
import { linkTo } from '../shared/service/client/fileRequest';
import { withOwnFields } from '../shared/service/client/response';
import type { Failure } from '../shared/service/errors/gatewayError';
import type { FinishedJob, PollerState } from '../shared/service/jobs/pollerState';
import { jobSource } from '../shared/service/jobs/requests';
import { videoFields } from '../shared/service/jobs/responses';
import { JobWait } from '../shared/service/jobs/wait';
import { textAt, withoutUndefined } from '../shared/service/json';
import { shouldDownload } from '../shared/n8n/files/fileOutput';
import { severalVideosHint, storeVideo } from '../shared/n8n/files/video';
import type { ItemOutput, ItemRun } from '../shared/n8n/items/work';
import type { Forecast, WaitRequest } from './request';

/** The output of a job that still runs, for the model of an agent. `toolResult` adds what to do next. */
export function unfinishedOutput(
	{ message, lastPoll }: Failure,
	{ text, waited }: Forecast,
): ItemOutput {
	const json = withoutUndefined({
		message: `${message}${text && `. ${text}`}`,
		last_problem: lastPoll?.message,
		waited_seconds: waited,
	});
	return { json };
}

/** n8n stores it with the execution, so it must survive JSON. */
export interface Delivered {
	outputs: ItemOutput[];
	/** About the job or its file. */
	hint?: string;
}

/**
 * The outputs of a finished job, with its file if the user wants it.
 * @throws GatewayError when the file cannot be downloaded
 */
export async function outputsOf(
	{
		poller,
		finished: { source, fields },
		waitedSeconds: waited_seconds,
	}: { poller: PollerState; finished: FinishedJob; waitedSeconds?: number },
	{ id, output, fileName, inputRequestId, timeout }: WaitRequest,
	{
		downloads,
		clock,
		...run
	}: Pick<ItemRun, 'context' | 'gateway'> & { downloads: AdaptiveLimit; clock: Clock },
): Promise<Delivered> {
	const isTask = [undefined, id].includes(textAt(fields, 'task_id', 'output.task_id'));
	const named = isTask ? fields : videoFields(fields, id);
	// The same for both kinds of job, even if the service has other fields with these names.
	const own = { job_id: id, video_url: linkTo(source) };
	const ours = withoutUndefined({ waited_seconds, input_request_id: inputRequestId });
	const json = withOwnFields(named, { ...own, ...ours }) as IDataObject;
	const several = severalVideosHint(id, { fields, url: source.url });
	if (!shouldDownload(output, source, run.context)) return { outputs: [{ json }], hint: several };
	const { signal } = run.gateway.runtime;
	const wait = new JobWait(jobSource(run.gateway), poller, { clock, signal });
	const refresh = async () => await wait.freshSource();
	const request = { source, refresh, timeout, purpose: `download the video of job ${id}` };
	const target = { ...output, name: fileName };
	const video = await downloads.run(async () => await storeVideo(run, request, target));
	const hint = [several, video.hint].filter(Boolean).join(' ');
	return { outputs: [{ json, binary: video.binary }], ...(hint && { hint }) };
}
