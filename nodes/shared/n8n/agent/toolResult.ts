import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { JobSummary } from '../../service/errors/jobSummary';
import { stateIn } from '../../service/reader/jobState';
import { videoIn } from '../../service/reader/videoLink';
import { read } from '../../service/reader/values';
import { asText, withoutUndefined } from '../../service/json';
import { asLink } from '../../service/links';
import { isPollState, phaseOf, type Phase } from '../../service/protocol/jobs';
import { limits } from '../../service/protocol/limits';
import { dataNotice, idInSentence, noticeName } from './dataNotice';

type Output = Pick<INodeExecutionData, 'json' | 'binary'>;

/**
 * An output for the model of an agent, which sees only the JSON of an item: it says what to do next, and has no files.
 * @param linkTo gives a public link to a file of n8n, if this n8n can sign links
 */
export function toolResult(
	{ json, binary }: Output,
	job: JobSummary | undefined,
	linkTo: (file: IBinaryData) => string | undefined,
): Output {
	const [file] = Object.values(binary ?? {});
	if (file) {
		const url = linkTo(file);
		// The user cannot open the service's own URL.
		const link = json.video_url === undefined ? undefined : url;
		return withFacts(
			{ ...json, url: undefined, video_url: link },
			{ id: job?.id, status: job?.status, url },
			adviceOnFile(file, url),
		);
	}
	if (job) {
		const { id, status = stateIn(read(json)) } = job;
		const named = status === undefined ? undefined : phaseOf(status);
		// In the response to a create, a word such as "success" is about the call.
		const isOfCall =
			named === 'succeeded' && job.status === undefined && !isPollState(status ?? '');
		const phase = isOfCall ? undefined : named;
		// An unfinished job may have links too, such as one to poll its status.
		const isUnderWay = phase === 'queued' || phase === 'running';
		const url = isUnderWay ? undefined : (asLink(json.url) ?? videoIn(read(json))?.link);
		return withFacts(json, { id, status, url }, adviceOnJob(id, phase, url));
	}
	const url = asLink(json.url);
	return withFacts(json, { url }, url === undefined ? undefined : adviceOnImageLink);
}

/** Puts the important fields first, under names that the service cannot take. */
function withFacts(json: IDataObject, facts: IDataObject, next_step: string | undefined): Output {
	const own: IDataObject = withoutUndefined({ [noticeName]: dataNotice, ...facts, next_step });
	const taken = new Set([...Object.keys(own), 'next_step'].map(plainName));
	const others = Object.entries(withoutUndefined(json)).flatMap(([name, value]) => {
		if (!taken.has(plainName(name)) && !looksOwn(name)) return [[name, value] as const];
		const isSame = name in own && asText(value) === own[name];
		return isSame ? [] : [[`service_${name}`, value] as const];
	});
	return { json: { ...own, ...Object.fromEntries(others) } };
}

/** A name as a model reads it: `Next Step` is `next_step`. */
const plainName = (name: string) =>
	name
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]/gu, '');

/** Whether a model may take the name for ours: letters of another script look the same, and plurals may. */
const looksOwn = (name: string) =>
	!/^[\w.-]+$/.test(name) || /^(?:nextstep|datanotice)/.test(plainName(name));

const adviceOnImageLink = `Show it to the user as a Markdown image, with the link in url. The link may stop working after ${limits.imageUrlMinutes} minutes, so show it at once.`;
const videoLinkLife = `It usually works for ${limits.resultUrlHours} hours.`;

function adviceOnJob(id: string, phase: Phase | undefined, url: string | undefined): string {
	if (phase === 'failed') {
		return 'The video failed and will never be finished. Tell the user why. Create another one only when the user wants it: it costs again.';
	}
	if (url !== undefined)
		return `The video is finished. Give the user the link in url. ${videoLinkLife}`;
	const state = phase === 'succeeded' ? 'The video is finished' : 'The video is not finished yet';
	const named = idInSentence(id, 'in the field id');
	return `${state}. Call the tool that waits for a video with the job ID ${named}: it gives the link. Do not create the video again.`;
}

function adviceOnFile({ mimeType }: IBinaryData, url: string | undefined): string {
	const kind = ['video', 'image'].find((name) => mimeType.startsWith(`${name}/`)) ?? 'file';
	if (url === undefined) {
		return `The ${kind} was made and is kept by n8n, but there is no link to it: this n8n signs no links to its files (N8N_DEFAULT_BINARY_DATA_MODE=filesystem lets it). Tell the user; making it again would cost again and give no link either.`;
	}
	if (kind === 'image') return 'Show it to the user as a Markdown image, with the link in url.';
	return `The ${kind} is finished. Give the user the link in url. ${videoLinkLife}`;
}
