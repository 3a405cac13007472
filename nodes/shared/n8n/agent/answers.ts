import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { statusIn } from '../../gateway/jobs/responses';
import { asText, withoutUndefined } from '../../gateway/json';
import { findLink } from '../../gateway/links';
import { phaseOf, type Phase } from '../../gateway/protocol/jobs';
import { limits } from '../../gateway/protocol/limits';

// What the model of an AI agent gets to know when it calls a node as a tool: the JSON of its items.

/** An output, without its pairing. */
export type Output = Pick<INodeExecutionData, 'json' | 'binary'>;

/**
 * An output as the model of an agent needs it: with what it has to know to go on, and without files.
 * @param linkTo a link to a file of n8n that anybody can open; undefined where this n8n signs none
 */
export function toolResult(
	{ json, binary }: Output,
	job: JobSummary | undefined,
	linkTo: (file: IBinaryData) => string | undefined,
): Output {
	const [file] = Object.values(binary ?? {});
	if (file) {
		const url = linkTo(file);
		// What the service gave in its place is no link that the user can open.
		return answer(
			{ ...json, url: undefined },
			{ id: job?.id, status: job?.status, url },
			adviceOnFile(file, url),
		);
	}
	if (job) {
		const { id, status = statusIn(json) } = job;
		const phase = status === undefined ? undefined : phaseOf(status);
		// A job under way may have links too, such as one to ask for its status.
		const isUnderWay = phase === 'queued' || phase === 'running';
		const url = isUnderWay ? undefined : (asText(json.url) ?? findLink(json, undefined));
		return answer(json, { id, status, url }, adviceOnJob(id, phase, url));
	}
	const url = asText(json.url);
	return url === undefined ? { json } : answer(json, { url }, adviceOnPicture);
}

/** A tool that gives nothing at all seems broken to the model. */
export const emptyToolResult: Output = {
	json: { count: 0, next_step: 'Nothing was found. Ask for less, such as without a filter.' },
};

/** What matters comes first, and under the same names whatever the service calls it. */
function answer(json: IDataObject, known: IDataObject, next_step: string): Output {
	const first = withoutUndefined({ ...known, next_step });
	return { json: { ...first, ...withoutUndefined(json), ...first } };
}

const adviceOnPicture = `Show it to the user as a Markdown image, with the link in url. The link may stop working after ${limits.imageUrlMinutes} minutes, so show it at once.`;
const videoLinkLife = `Anybody can open it; it stops working after ${limits.resultUrlHours} hours.`;

function adviceOnJob(id: string, phase: Phase | undefined, url: string | undefined): string {
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
		return `The ${what} was made and is kept by n8n, but there is no link to it: this n8n signs no links to its files (N8N_DEFAULT_BINARY_DATA_MODE=filesystem lets it). Tell the user; making it again would cost again and give no link either.`;
	}
	return what === 'video'
		? `The video is finished. Give the user the link in url. ${videoLinkLife}`
		: 'Show it to the user as a Markdown image, with the link in url.';
}
