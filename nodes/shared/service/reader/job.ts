import { asText, textAt } from '../json';
import { asLink } from '../links';
import { isFinal, isPollState, phaseOf, type JobKind } from '../protocol/jobs';
import { at, firstBy, named, plainName, type Answer, type Rule, type Value } from './values';

/** Parts of an answer that are about something else than its job. */
const isBesides: Rule = ({ path }) => path.slice(0, -1).some((name) => besides.test(name));
const besides =
	/^(?:error|usage|request|input|prompts?|user|account|billing|moderation|webhooks?|callbacks?|links|steps?|stages?|subtasks?|children|history|logs?|events?|queue|audio|image|thumbnail)$/;

// ── The ID ("Endpoints" 1 and 11) ────────────────────────────────────────────────────────────────

/** The places of each kind's ID in the specification, also within the `data` around a whole answer of some gateways. */
const shownIds = {
	task: [at('output.task_id'), at('task_id'), at('data.task_id'), at('data.output.task_id')],
	video: [at('id'), at('video_id'), at('data.video_id')],
	// The `id` of a content may be that of the file ("Endpoints" 13).
	content: [at('video_id'), at('data.video_id')],
} as const satisfies Record<JobKind | 'content', readonly Rule[]>;

/** The places of other services: under a name of its own, or as the ID of a part that can only be the job. */
const usualIds: readonly Rule[] = [
	named('task_id'),
	named('video_id'),
	named('job_id'),
	named('generation_id', 'prediction_id', 'operation_id'),
	({ name, path }) => name === 'id' && path.slice(0, -1).every((part) => jobParts.test(part)),
	({ name, value }) => name === 'name' && /(?:^|\/)operations\/./.test(String(value)),
];
const jobParts =
	/^(?:data|output|outputs|result|results|response|resp|body|task|tasks|job|jobs|video|videos|movie|generation|generations)$/;

/** An ID of anything, by the last word of its name: `paid` and `valid` are none. */
const idWords = [/(?:^|[_-])(?:uu|gu)?id$/i, /[a-z\d](?:Id|ID|Uuid|UUID)$/];
/** Names that end like that of a job, and are those of something else. */
const otherIds =
	/(?:request|trace|log|span|user|account|customer|client|tenant|org|organization|project|workspace|team|group|session|model|file|asset|media|image|prompt|message|event|webhook|callback|key|app|product|template|voice)id$/;
const isIdName: Rule = ({ name, names }) =>
	idWords.some((word) => word.test(names.at(-1) ?? '')) && !otherIds.test(name);

const mayBeId: Rule = ({ value, isOneOfMany }) => asText(value) !== undefined && !isOneOfMany;

/** The ID of the job that an answer is about: in the place of its kind, in that of the other, or the only one there is. */
export function jobIdIn(answer: Answer, kind: JobKind): string | undefined {
	const values = answer.values.filter((value) => mayBeId(value) && !isBesides(value));
	const ofVideo = kind === 'video' ? [at('data.id'), at('output.id')] : [];
	const shown = firstBy(values, [...shownIds[kind], ...ofVideo, ...usualIds]);
	return asText((shown ?? onlyOne(values.filter(isIdName)))?.value);
}

function onlyOne(values: Value[]): Value | undefined {
	const different = new Set(values.map(({ value }) => asText(value)));
	return different.size === 1 ? values[0] : undefined;
}

/** The ID that an answer gives where the specification shows it, so that it is surely the job's. */
export function shownIdIn(answer: Answer, source: JobKind | 'content'): string | undefined {
	return asText(firstBy(answer.values.filter(mayBeId), shownIds[source])?.value);
}

/** All IDs of an answer that may be that of its job. */
export const jobIdsIn = (answer: Answer): string[] =>
	answer.values
		.filter((value) => isIdName(value) || usualIds.some((rule) => rule(value)))
		.flatMap(({ value }) => asText(value) ?? []);

/**
 * The ID in a body that broke off, or is no JSON for another reason. The job was accepted and will be charged, so its ID
 * is used whatever is wrong with the rest.
 */
export function jobIdInText(text: string, kind: JobKind): string | undefined {
	const names = [...(kind === 'video' ? ['id', 'video_?id'] : []), 'task_?id', 'job_?id'];
	const ids = names.map((name) => {
		const pattern = new RegExp(`"${name}"\\s*:\\s*(?:"([^"\\\\]+)"|(-?\\d+)(?=[\\s,}]))`, 'i');
		const [, quoted, number] = pattern.exec(text) ?? [];
		return asText(quoted ?? number);
	});
	return ids.find((id) => id !== undefined);
}

// ── The state and the progress ("Endpoints" 2 and 12) ────────────────────────────────────────────

/** From a name that only a job has to one that may be about anything. */
const stateNames = ['task_status', 'job_status', 'video_status', 'status', 'task_state', 'state'];

/**
 * The state of a job as the service spells it. Some gateways add a status of the call itself, such as "success", to that
 * of the job; then the job's own decides, even if it is unknown.
 */
export function stateIn(answer: Answer): string | undefined {
	const values = answer.values.filter((value) => !value.isOneOfMany && !isBesides(value));
	const [status] = wordsOf(values.filter(at('status')));
	if (status !== undefined && isAboutJob(status)) return status;
	const states = stateNames
		.flatMap((name) => values.filter(named(name)))
		.filter((value) => !at('status')(value));
	const ofJob = wordsOf(states.filter(isWithinJob)).filter((word) => !/^[1-5]\d\d$/.test(word));
	const own = ofJob.find((word) => phaseOf(word) !== undefined) ?? ofJob[0] ?? status;
	// A part of another name may be a step of the job, so it counts only where there is nothing else.
	return own ?? endIn(values.filter(isWithinJob)) ?? asText(onlyOne(states)?.value);
}

/** Whether all around a value can only be the job. */
const isWithinJob: Rule = ({ path }) =>
	path.slice(0, -1).every((name) => jobParts.test(name) || /^(?:status|state)$/.test(name));

const wordsOf = (values: Value[]): string[] => values.flatMap(({ value }) => asText(value) ?? []);

/** Whether a `status` is surely that of the job: "success" and "error" may also be about the call. */
function isAboutJob(status: string): boolean {
	const phase = phaseOf(status);
	return isPollState(status) || (phase !== undefined && !isFinal(phase));
}

/** Some services say only whether a job has ended. */
function endIn(values: Value[]): string | undefined {
	const end = values.find((each) => typeof each.value === 'boolean' && isEnd(each));
	if (end === undefined) return undefined;
	if (end.value === false) return 'running';
	return Object.keys(end.siblings).some((name) => plainName(name) === 'error') ? 'failed' : 'done';
}
const isEnd = named('done', 'is_done', 'completed', 'is_completed', 'finished', 'is_finished');

/** In percent. */
export function progressIn(answer: Answer): number | undefined {
	const values = answer.values.filter((value) => !value.isOneOfMany && !isBesides(value));
	const found = firstBy(values, [
		named('progress'),
		named('progress_percent', 'percentage', 'percent'),
	]);
	const percent = Number.parseFloat(asText(found?.value) ?? '');
	return Number.isFinite(percent) ? percent : undefined;
}

// ── The link to the video ("Endpoints" 2 and 13) ─────────────────────────────────────────────────

/**
 * Names of links to the file. The nodes do not declare them as `sensitiveOutputFields`: the link is what the user ordered,
 * and n8n (not yet in 2.40.7) redacts such fields for every user, permanently.
 */
const linkNames = ['result_url', 'video_url', 'url', 'download_url', 'content_url', 'output_url'];
const isLikelyLink: Rule = ({ name }) =>
	/ur[il]|link|^(?:data|video|content|output|result|file|src|href)$/.test(name);
const isNotOfVideo: Rule = ({ path }) =>
	path.some((name) =>
		/thumb|cover|poster|image|preview|frame|callback|webhook|audio|voice|input|prompt|status|poll|cancel|self|doc/.test(
			name,
		),
	);
/** A text with a space may be a sentence that begins with a link. */
const isOneWord: Rule = ({ value }) => !/\s/.test(String(value).trim());

/** Files beside the video, such as its first frame. */
const otherFile = /\.(?:png|jpe?g|webp|gif|avif|svg|json|txt|srt|vtt|mp3|wav)(?:[?#]|$)/i;
const isOfOtherFile = ({ value, siblings }: Value) =>
	otherFile.test(String(value)) ||
	/^(?:image|picture|audio|text|thumbnail|cover)/i.test(textAt(siblings, 'type', 'kind') ?? '');

/**
 * The link to the video: under a well-known name, then under a likely one, then under any other; of several, the least
 * nested. A link to another kind of file counts only where there is none besides. It may be a data URL with the video.
 * @param base resolves relative links
 */
export function videoLinkIn(answer: Answer, base: string | undefined): string | undefined {
	const texts = answer.values.filter(
		(value) => typeof value.value === 'string' && !isNotOfVideo(value),
	);
	const likely = texts.filter(isLikelyLink);
	const ranked = [
		...linkNames.flatMap((name) => texts.filter(named(name))),
		...likely.filter(isOneWord),
		...likely,
	].flatMap((value) => linkOf(value, base));
	const others = [...texts.filter(isOneWord), ...texts.filter(({ name }) => name === '')].flatMap(
		(value) => linkOf(value),
	);
	const all = [...ranked, ...others];
	return (all.find(({ isOther }) => !isOther) ?? all[0])?.link;
}

function linkOf(value: Value, base?: string): Array<{ link: string; isOther: boolean }> {
	const text = String(value.value).trim();
	const link = /^data:(?:video\/|application\/octet-stream)[^,]*,/i.test(text)
		? text
		: asLink(text, base);
	return link === undefined ? [] : [{ link, isOther: isOfOtherFile(value) }];
}
