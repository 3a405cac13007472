import type { IBinaryData, IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { findLink, statusIn } from '../gateway/answers';
import type { JobNote } from '../gateway/errors';
import { asText, defined } from '../gateway/json';
import { limits, phaseOf } from '../gateway/protocol';
import { signedLinkOf } from './files';
import type { ItemOutput } from './operation';

// What the model of an AI agent gets to know when it calls a node as a tool: the JSON of its items.

/**
 * Whether the node is the tool of an agent. Newer agents let the engine run their tools like any node, where
 * `isToolExecution()` says no: only the type that n8n makes of a node for agents tells it everywhere.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** An output as the model of an agent needs it: with what it has to know to go on, and without files. */
export function toolAnswer(
	{ json, binary }: ItemOutput,
	job: JobNote | undefined,
	context: IExecuteFunctions,
): ItemOutput {
	const [file] = Object.values(binary ?? {});
	const id = job?.id;
	const status = job ? (job.status ?? statusIn(json)) : undefined;
	const url = file
		? signedLinkOf(file, context)
		: (asText(json.url) ?? (job && findLink(json, undefined)));
	const known = defined({ id, status, url });
	const next_step = file
		? adviceOnFile(file, url)
		: job
			? adviceOnJob(job.id, status, url)
			: url && `Show it to the user as a Markdown image. ${pictureLinkLife}`;
	if (next_step === undefined) return { json };
	const rest = { ...json };
	if (file) delete rest.url;
	return { json: { ...known, next_step, ...rest, ...known } as IDataObject };
}

const pictureLinkLife = `The link may stop working after ${limits.imageUrlMinutes} minutes, so show it at once.`;
const videoLinkLife = `Anybody can open it; it stops working after ${limits.resultUrlHours} hours.`;

function adviceOnJob(id: string, status: string | undefined, url: string | undefined): string {
	const phase = status === undefined ? undefined : phaseOf(status);
	if (phase === 'failed') {
		return 'The video failed and will never be finished. Tell the user why. Create another one only when the user wants it: it costs again.';
	}
	if (url !== undefined)
		return `The video is finished. Give the user the link in url. ${videoLinkLife}`;
	const standing =
		phase === 'succeeded' ? 'The video is finished' : 'The video is not finished yet';
	return `${standing}. Call the tool that waits for a video with the job ID ${id}: it gives the link. Do not create the video again.`;
}

function adviceOnFile({ mimeType }: IBinaryData, url: string | undefined): string {
	const what = mimeType.startsWith('video/') ? 'video' : 'picture';
	if (url === undefined) {
		return `The ${what} was made and is kept by n8n, but there is no link to it: this n8n cannot sign links to its files. Tell the user; making it again would cost again and give no link either.`;
	}
	return what === 'video'
		? `The video is finished. Give the user the link in url. ${videoLinkLife}`
		: 'Show it to the user as a Markdown image, with the link in url.';
}
