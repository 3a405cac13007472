import { asText, type JsonObject } from '../json';
import type { JobKind } from '../protocol/jobs';
import { hasState, isAboutSomethingElse, jobParts, onlyOne, valuesOfJob } from './jobState';
import { mayBeAccepted } from './refusal';
import { at, firstBy, named, type Answer, type Rule } from './values';

/** In the specification ("Endpoints" 1 and 11), also within the `data` around a whole answer of some gateways. */
const shownIds = {
	task: [at('output.task_id'), at('task_id'), at('data.task_id'), at('data.output.task_id')],
	video: [at('id'), at('video_id'), at('data.video_id')],
	// The `id` of a content may be that of the file ("Endpoints" 13).
	content: [at('video_id'), at('data.video_id')],
} as const satisfies Record<JobKind | 'content', readonly Rule[]>;

/** In other services: under a name of its own, or as the ID of a part that can only be the job. */
const usualIds: readonly Rule[] = [
	named('task_id'),
	named('video_id'),
	named('job_id'),
	named('generation_id', 'prediction_id', 'operation_id'),
	named('task_no', 'task_number', 'task_key', 'job_no', 'job_number', 'job_key', 'tid'),
	({ name, path }) => name === 'id' && path.slice(0, -1).every((part) => jobParts.test(part)),
	({ name, value }) => name === 'name' && /(?:^|\/)operations\/./.test(String(value)),
];

/** An ID of anything, by the last word of its name: `paid` and `valid` are none. */
const idWords = [/(?:^|[_-])(?:uu|gu)?ids?$/i, /[a-z\d](?:Ids?|IDs?|Uuid|UUID)$/];
const otherIds =
	/(?:request|trace|log|span|user|account|customer|client|tenant|org|organization|project|workspace|team|group|session|model|file|asset|media|image|prompt|message|event|webhook|callback|key|app|product|template|voice)ids?$/;
const isIdName: Rule = ({ name, names }) =>
	idWords.some((word) => word.test(names.at(-1) ?? '')) && !otherIds.test(name);

const mayBeId: Rule = ({ value, isOneOfMany }) => asText(value) !== undefined && !isOneOfMany;

/**
 * The ID of the job that an answer is about: in a known place, or the only ID that it has.
 * @param links addresses in the head of the response
 */
export function jobIdIn(
	answer: Answer,
	kind: JobKind,
	links: readonly string[],
): string | undefined {
	const values = valuesOfJob(answer).filter(mayBeId);
	const ofVideo = kind === 'video' ? [at('data.id'), at('output.id')] : [];
	const shown = firstBy(values, [...shownIds[kind], ...ofVideo, ...usualIds]);
	const id = asText((shown ?? onlyOne(values.filter(isIdName)))?.value);
	if (id !== undefined || !mayBeAccepted(answer)) return id;
	const texts = answer.values.map(({ value }) => String(value));
	return asText(onlyOne(values.filter(isBareId))?.value) ?? idInAddresses([...links, ...texts]);
}

/** The ID itself in place of an object with it, as in `{ "result": "task_1" }`, or as the whole answer. */
const isBareId: Rule = ({ path, value }) =>
	path.every((part) => jobParts.test(part)) && looksLikeId(String(value));

/** A word of at least six characters with a digit or a telling beginning, but no size such as `1920x1080`. */
const looksLikeId = (text: string): boolean =>
	/^(?=.*\d|(?:task|job|video|vid|gen)[_-])(?!\d+x\d+$)\w[\w:-]{5,199}$/.test(text);

/** An address of a job, or of something about it. */
const jobAddress =
	/^(?:https?:\/)?\/\S*?\/?(?:videos|tasks|jobs|generations|predictions|operations)\/([^/?#\s]+)(?:\/(?:status|content|results?|cancel))?\/?(?:[?#]\S*)?$/i;

const maxAddress = 2_000;

/** The ID in addresses of a job, if they all name the same. A file's name is none: it has an extension. */
function idInAddresses(texts: readonly string[]): string | undefined {
	const ids = texts.flatMap((text) => {
		const [, id] = jobAddress.exec(text.slice(0, maxAddress).trim()) ?? [];
		return id !== undefined && looksLikeId(id) ? id : [];
	});
	return new Set(ids).size === 1 ? ids[0] : undefined;
}

/** The ID in the place of the specification, so that it is surely the job's. */
export function shownIdIn(answer: Answer, source: JobKind | 'content'): string | undefined {
	return asText(firstBy(answer.values.filter(mayBeId), shownIds[source])?.value);
}

/** Whether an answer says that it is a list, even if it has one entry. */
export const isList = ({ values }: Answer): boolean =>
	values.some((value) => value.value === 'list' && at('object')(value));

/** Jobs have an ID and a state. */
export function listedJobs(answer: Answer): Array<{ id: string; job: JsonObject }> {
	const isListed: Rule = isList(answer)
		? (value) => value.isWithinList
		: (value) => value.isOneOfMany;
	return answer.values
		.filter(isListed)
		.filter((value) => isListedId(value) && !isAboutSomethingElse(value))
		.filter(({ siblings }) => hasState(siblings))
		.map(({ value, siblings: job }) => ({ id: asText(value) ?? '', job }));
}
const isListedId = named('id', 'task_id', 'video_id', 'job_id');

/** All that may be the ID of the job. */
export const jobIdsIn = (answer: Answer): string[] =>
	answer.values
		.filter((value) => isIdName(value) || usualIds.some((rule) => rule(value)))
		.flatMap(({ value }) => asText(value) ?? []);

/** The ID in a body that broke off or is no JSON. The job may be charged, so its ID is used whatever the rest is. */
export function jobIdInText(text: string, kind: JobKind): string | undefined {
	const names = [...(kind === 'video' ? ['id', 'video_?id'] : []), 'task_?id', 'job_?id'];
	const ids = names.map((name) => {
		const pattern = new RegExp(`"${name}"\\s*:\\s*(?:"([^"\\\\]+)"|(-?\\d+)(?=[\\s,}]))`, 'i');
		const [, quoted, number] = pattern.exec(text) ?? [];
		return asText(quoted ?? number);
	});
	return ids.find((id) => id !== undefined);
}
