import type { IDataObject } from 'n8n-workflow';
import type { AdaptiveLimit } from '../shared/service/client/adaptiveLimit';
import type { FileSource } from '../shared/service/client/fileRequest';
import { withOwnFields } from '../shared/service/client/response';
import type { Failure } from '../shared/service/errors/gatewayError';
import type { FinishedJob } from '../shared/service/jobs/poller';
import { videoFields } from '../shared/service/jobs/responses';
import { textAt, withoutUndefined } from '../shared/service/json';
import { shouldDownload } from '../shared/n8n/files/fileOutput';
import { storeVideo } from '../shared/n8n/files/video';
import type { ItemOutput, ItemRun } from '../shared/n8n/items/work';
import type { WaitRequest } from './request';

/** The output of a job that still runs, for the model of an agent. `toolResult` adds what to do next. */
export function unfinishedOutput({ message, lastPoll }: Failure): ItemOutput {
	return { json: withoutUndefined({ message, last_problem: lastPoll?.message }) };
}

/** What a finished job gives. n8n stores it with the execution, so it must survive JSON. */
export interface Delivered {
	outputs: ItemOutput[];
	/** What the user should know about the file. */
	hint?: string;
}

/**
 * The outputs of a finished job, with its file if the user wants it.
 * @param refresh requests a new link to the file
 * @throws GatewayError when the file cannot be downloaded
 */
export async function outputsOf(
	{ source, fields }: FinishedJob,
	{ id, output, fileName, inputRequestId, timeout }: WaitRequest,
	{
		run,
		downloads,
		refresh,
	}: {
		run: ItemRun;
		downloads: AdaptiveLimit;
		refresh: () => Promise<FileSource>;
	},
): Promise<Delivered> {
	const isTask = [undefined, id].includes(textAt(fields, 'task_id', 'output.task_id'));
	const named = isTask ? fields : videoFields(fields, id);
	// The same for both kinds of job, even if the service has other fields with these names.
	const own = { job_id: id, video_url: source.url };
	const ofInput = withoutUndefined({ input_request_id: inputRequestId });
	const json = withOwnFields(named, { ...own, ...ofInput }) as IDataObject;
	if (!shouldDownload(output, source, run.context)) return { outputs: [{ json }] };
	const request = { source, refresh, timeout, purpose: `download the video of job ${id}` };
	const target = { ...output, name: fileName };
	const video = await downloads.run(async () => await storeVideo(run, request, target));
	return { outputs: [{ json, binary: video.binary }], hint: video.hint };
}
