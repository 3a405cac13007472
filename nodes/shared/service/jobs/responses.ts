import type { FileSource } from '../client/fileRequest';
import {
	bodyFields,
	linkCarriedKey,
	describeBody,
	UnusableResponse,
	withOwnFields,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { asText, excerpt, isObject, valueAt, withoutUndefined } from '../json';
import { notFoundWords } from '../protocol/errorCodes';
import { goesOnWords, isFinal, phaseOf, type JobKind, type Phase } from '../protocol/jobs';
import { jobIdIn, jobIdInText } from '../reader/jobId';
import { progressIn, stateIn, sureEndIn } from '../reader/jobState';
import { videoIn, withoutVideos } from '../reader/videoLink';
import { isWebPage } from '../reader/page';
import { hasError, jobReasonIn, reasonIn, type ErrorObject } from '../reader/reason';
import { read } from '../reader/values';

// ── Created jobs ("Endpoints" 1 and 11) ─────────────────────────────────────────────────────────

interface CreatedJob {
	id: string;
	/** With the ID also where later nodes look for it. */
	fields: ResponseFields;
}

export function createdTask(response: ServiceResponse): CreatedJob {
	const created = createdJob(response, 'task');
	const { id, fields } = created;
	// Wait for Video takes the first of these fields, even an empty one.
	const hasUsualId = asText(valueAt(fields, 'output.task_id') ?? fields.task_id) === id;
	if (hasUsualId) return created;
	return { id, fields: withOwnFields(withoutInnerTaskId(fields), { task_id: id }) };
}

export function createdVideo(response: ServiceResponse): CreatedJob {
	const { id, fields } = createdJob(response, 'video');
	return { id, fields: videoFields(fields, id) };
}

/**
 * With the ID where later nodes look for it. A `task_id` gets another name: later nodes would take the job for a task,
 * and poll the wrong endpoint.
 */
export const videoFields = (fields: ResponseFields, id: string): ResponseFields =>
	withOwnFields(withoutInnerTaskId(fields), { task_id: undefined, id });

const withoutInnerTaskId = ({ output, ...fields }: ResponseFields): ResponseFields => {
	const inner = isObject(output) ? withOwnFields(output, { task_id: undefined }) : output;
	return { ...fields, ...withoutUndefined({ output: inner }) };
};

/** The headers that name what a request has created (RFC 9110, 10.2.2 and 8.7), and that of some services. */
const addressHeaders = ['location', 'content-location', 'operation-location'];

function createdJob(response: ServiceResponse, kind: JobKind): CreatedJob {
	const { json, text, headers, broken } = response;
	const links = addressHeaders.flatMap((name) => headers[name] ?? []);
	if (typeof json === 'object' && json !== null) {
		const fields = bodyFields(response);
		const id = jobIdIn(read(json), kind, links);
		if (id === undefined) throw new UnusableResponse('names no job');
		return { id, fields };
	}
	const said = isWebPage(response) ? '' : text;
	// An ID that broke off may look whole.
	const whole = broken === undefined ? (json ?? said.trim()) : '';
	const id = jobIdInText(said, kind) ?? jobIdIn(read(whole), kind, links);
	if (id === undefined) throw new UnusableResponse(describeBody(response));
	const idName = kind === 'task' ? 'task_id' : 'id';
	return { id, fields: withRequestIds({ [idName]: id }, response) };
}

// ── Jobs that are polled ("Endpoints" 2 and 12) ─────────────────────────────────────────────────

export interface JobStatus {
	/** As the service spells it. */
	status: string;
	/** Undefined for an unknown state, which counts as not finished. */
	phase: Phase | undefined;
	/** Percent. */
	progress?: number;
	link?: string;
	linkCarriesKey?: true;
	/** Why the job failed, or has finished without a link. */
	failure?: ErrorObject;
	fields: ResponseFields;
	/** The whole body. */
	text: string;
}

export function jobStatus(response: ServiceResponse): JobStatus {
	const fields = bodyFields(response);
	const answer = read(fields);
	const { link, isFile = false } = videoIn(answer, response.url) ?? {};
	const progress = progressIn(answer);
	// Some services say so in no other way, or in a word of their own.
	const hasEnded = isFile && (progress ?? 100) >= 100;
	const given = stateIn(answer);
	const isUnknown = phaseOf(given ?? '') === undefined;
	const sureEnd = isUnknown && sureEndIn(answer, { state: given, hasLink: link !== undefined });
	const status = (sureEnd || given) ?? (hasEnded ? 'done' : undefined);
	if (status === undefined) {
		const problem = `names no status: ${excerpt(response.text, 120)}`;
		// Some services say with a 2xx that there is no such job.
		const error = reasonIn(answer);
		const isJobUnknown = error && notFoundWords.test(JSON.stringify(error));
		throw new UnusableResponse(problem, { error: isJobUnknown ? error : undefined });
	}
	const isOver = hasEnded && !goesOnWords.test(status);
	const phase = phaseOf(status) ?? (isOver ? 'succeeded' : undefined);
	const hasFailed =
		phase === 'failed' || (phase === 'succeeded' && link === undefined && hasError(answer));
	return {
		status: excerpt(status, 100),
		phase,
		...withoutUndefined({ progress, link }),
		...(link !== undefined && linkCarriedKey(link, response) && { linkCarriesKey: true }),
		...(hasFailed && { failure: jobReasonIn(answer) }),
		fields: withoutVideos(fields),
		text: response.text,
	};
}

// ── The file of a finished job ("Endpoints" 13) ──────────────────────────────────────────────────

export interface VideoContent {
	source: FileSource;
	linkCarriesKey?: true;
	fields: ResponseFields;
}

/** The specification does not show this response: JSON, a plain text, a redirect and the file itself are accepted. */
export function videoContent(response: ServiceResponse): VideoContent {
	const { isFile, location, url, text, json } = response;
	const answer = read(location ?? json ?? text.trim());
	const link = isFile ? url : videoIn(answer, url)?.link;
	if (link === undefined) {
		const problem = `has no link to the video: ${describeBody(response)}`;
		const phase = phaseOf(stateIn(answer) ?? '');
		const goesOn = response.status === 202 || (phase !== undefined && !isFinal(phase));
		throw new UnusableResponse(problem, { refusal: goesOn ? 'jobNotFinished' : undefined });
	}
	const key = linkCarriedKey(link, response) && ({ linkCarriesKey: true } as const);
	if (isFile)
		return { source: { url, authenticated: true }, ...key, fields: withRequestIds({}, response) };
	return {
		source: { url: link, authenticated: false, mayNeedKey: true },
		...key,
		fields: withRequestIds(withoutVideos(isObject(json) ? json : { url: link }), response),
	};
}
