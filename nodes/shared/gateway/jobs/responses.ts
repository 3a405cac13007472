import type { FileSource } from '../client/fileRequest';
import {
	describeBody,
	bodyFields,
	isWebPage,
	UnusableResponse,
	type ServiceResponse,
	type ResponseFields,
} from '../client/response';
import { jobFailureReason, requestIdOf, type ErrorObject } from '../errors/errorObject';
import { asText, withoutUndefined, excerpt, isObject, textAt, type JsonObject } from '../json';
import { findLink } from '../links';
import { phaseOf, type Phase } from '../protocol/jobs';

// ── Created jobs ("Endpoints" 1 and 11) ─────────────────────────────────────────────────────────

export interface CreatedJob {
	id: string;
	/** The service's fields; the id also stands where later nodes look for it. */
	fields: ResponseFields;
}

const taskIdPaths = ['output.task_id', 'task_id', 'data.task_id', 'data.output.task_id', 'id'];
const videoIdPaths = ['id', 'video_id', 'data.id', 'data.video_id', 'output.id'];

export function createdTask(answer: ServiceResponse): CreatedJob {
	const created = createdJob(answer, taskIdPaths, 'task_id');
	const isUsual = textAt(created.fields, 'output.task_id', 'task_id') !== undefined;
	return isUsual ? created : { ...created, fields: { task_id: created.id, ...created.fields } };
}

export function createdVideo(answer: ServiceResponse): CreatedJob {
	const { id, fields } = createdJob(answer, videoIdPaths, 'id');
	return { id, fields: videoFields(fields, id) };
}

/**
 * The fields of a video job, with its id where later nodes look for it: they would take a `task_id`, which
 * some services give a video too, for a task to be asked for elsewhere.
 */
export function videoFields({ output, ...fields }: ResponseFields, id: string): ResponseFields {
	const task_id = undefined;
	const inner = isObject(output) ? withoutUndefined({ ...output, task_id }) : output;
	return withoutUndefined({ ...fields, task_id, output: inner, id });
}

function createdJob(answer: ServiceResponse, idPaths: string[], idName: string): CreatedJob {
	if (isObject(answer.json)) {
		const id = textAt(answer.json, ...idPaths);
		if (id === undefined) throw new UnusableResponse('names no job');
		return { id, fields: bodyFields(answer) };
	}
	// The job is accepted and will be paid for: an id that came whole is kept, though the rest is lost.
	const id = isWebPage(answer)
		? undefined
		: asText(new RegExp(`"${idName}"\\s*:\\s*"([^"\\\\]+)"`).exec(answer.text)?.[1]);
	if (id === undefined) throw new UnusableResponse(describeBody(answer));
	const requestId = requestIdOf(answer.headers);
	return { id, fields: { [idName]: id, ...(requestId && { request_id: requestId }) } };
}

// ── Jobs that are polled ("Endpoints" 2 and 12) ─────────────────────────────────────────────────

/** What one poll saw. */
export interface JobStatus {
	/** In the service's words. */
	status: string;
	/** Undefined for a state nobody has named yet: it is waited for. */
	phase: Phase | undefined;
	/** Percent. */
	progress?: number;
	/** Link to the file; it needs no key. */
	link?: string;
	/** Set when the job failed. */
	failure?: ErrorObject;
	fields: ResponseFields;
}

const statusPaths = [
	...['status', 'task_status', 'output.task_status', 'output.status', 'data.status', 'state'],
];

export function jobStatus(answer: ServiceResponse): JobStatus {
	const fields = bodyFields(answer);
	const status = statusIn(fields);
	if (status === undefined)
		throw new UnusableResponse(`names no status: ${excerpt(answer.text, 120)}`);
	const phase = phaseOf(status);
	const progress = progressOf(fields);
	const link = findLink(fields, answer.url);
	return {
		status: excerpt(status, 100),
		phase,
		...withoutUndefined({ progress, link }),
		...(phase === 'failed' && { failure: jobFailureReason(fields) }),
		fields,
	};
}

/** The status of a job in an answer, in the service's words. */
export function statusIn(fields: JsonObject): string | undefined {
	const said = statusPaths.flatMap((path) => textAt(fields, path) ?? []);
	// Some gateways put a status of the call beside the one of the job.
	return said.find((text) => phaseOf(text) !== undefined) ?? said[0];
}

function progressOf(fields: JsonObject): number | undefined {
	const said = textAt(fields, 'progress', 'output.progress', 'data.progress');
	const percent = Number.parseFloat(said ?? '');
	return Number.isFinite(percent) ? percent : undefined;
}

// ── The file of a finished job ("Endpoints" 13) ──────────────────────────────────────────────────

/** Where the file of a video job is. */
export interface VideoContent {
	source: FileSource;
	fields: ResponseFields;
}

/** The form of this answer is not shown: a JSON field, a text, a redirect and the file itself are taken. */
export function videoContent(answer: ServiceResponse): VideoContent {
	const { isFile, location, url, text, json, requestId } = answer;
	const withId = (fields: ResponseFields): ResponseFields => ({
		...fields,
		...(requestId !== undefined && { request_id: requestId }),
	});
	if (isFile) return { source: { url, authenticated: true }, fields: withId({}) };
	const link = findLink(location ?? json ?? text.trim(), url);
	if (link === undefined)
		throw new UnusableResponse(`has no link to the video: ${describeBody(answer)}`);
	return {
		source: { url: link, authenticated: false },
		fields: withId(isObject(json) ? json : { url: link }),
	};
}
