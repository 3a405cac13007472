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
import { readErrorObject, requestIdOf, type ErrorObject } from '../errors/errorObject';
import { jobFailureReason } from '../errors/jobFailure';
import { isWebPage } from '../errors/textReason';
import { asText, excerpt, isObject, textAt, withoutUndefined, type JsonObject } from '../json';
import { findLink } from '../links';
import { notFoundWords } from '../protocol/errorCodes';
import {
	isFinal,
	isPollState,
	jobIdFields,
	phaseOf,
	type JobKind,
	type Phase,
} from '../protocol/jobs';

// ── Created jobs ("Endpoints" 1 and 11) ─────────────────────────────────────────────────────────

interface CreatedJob {
	id: string;
	/** The service's fields, with the id also in the field where later nodes look for it. */
	fields: ResponseFields;
}

/** Where the ID of a job may be, by its kind. The last paths may hold the ID of something else. */
export const idPaths = {
	task: [...jobIdFields.task, 'id'],
	video: [...jobIdFields.video, 'data.id', 'output.id'],
} as const satisfies Record<JobKind, readonly string[]>;

export function createdTask(response: ServiceResponse): CreatedJob {
	const created = createdJob(response, idPaths.task, 'task_id');
	const hasUsualId = textAt(created.fields, 'output.task_id', 'task_id') !== undefined;
	const { id, fields } = created;
	return hasUsualId ? created : { id, fields: withOwnFields(fields, { task_id: id }) };
}

export function createdVideo(response: ServiceResponse): CreatedJob {
	const { id, fields } = createdJob(response, idPaths.video, 'id');
	return { id, fields: videoFields(fields, id) };
}

/**
 * The fields of a video job, with its id in the field where later nodes look for it. A `task_id`, which some services
 * add to a video job, gets another name: later nodes would take the job for a task and poll the wrong endpoint.
 */
export function videoFields({ output, ...fields }: ResponseFields, id: string): ResponseFields {
	const task_id = undefined;
	const inner = isObject(output) ? withOwnFields(output, { task_id }) : output;
	return withOwnFields({ ...fields, ...withoutUndefined({ output: inner }) }, { task_id, id });
}

function createdJob(
	response: ServiceResponse,
	paths: readonly string[],
	idName: string,
): CreatedJob {
	if (isObject(response.json)) {
		const id = textAt(response.json, ...paths);
		if (id === undefined) throw new UnusableResponse('names no job');
		return { id, fields: bodyFields(response) };
	}
	// The job was accepted and will be charged, so its id is used even when the rest of the body is broken.
	const idPattern = new RegExp(`"${idName}"\\s*:\\s*(?:"([^"\\\\]+)"|(-?\\d+)(?=[\\s,}]))`);
	const [, text, number] = idPattern.exec(response.text) ?? [];
	const id = isWebPage(response) ? undefined : asText(text ?? number);
	if (id === undefined) throw new UnusableResponse(describeBody(response));
	const requestId = requestIdOf(response.headers);
	return { id, fields: { [idName]: id, ...(requestId && { request_id: requestId }) } };
}

// ── Jobs that are polled ("Endpoints" 2 and 12) ─────────────────────────────────────────────────

/** The result of one poll. */
export interface JobStatus {
	/** As the service spells it. */
	status: string;
	/** Undefined for an unknown state, which counts as not finished. */
	phase: Phase | undefined;
	/** Percent. */
	progress?: number;
	/** Link to the file, which is fetched without the key. */
	link?: string;
	/** Set when the link carried the key. */
	linkCarriesKey?: true;
	/** Set when the job failed. */
	failure?: ErrorObject;
	fields: ResponseFields;
}

/** Where the status of a job may be, apart from `status`, which may be about the call. */
const jobStatusPaths = [
	...['task_status', 'output.task_status', 'output.status', 'data.task_status', 'data.status'],
	...['data.output.task_status', 'data.output.status', 'data.task.status', 'result.task_status'],
	...['result.status', 'task.status', 'job.status', 'video.status', 'output.state', 'data.state'],
	...['data.task.state', 'result.state', 'task.state', 'job.state', 'state'],
];

export function jobStatus(response: ServiceResponse): JobStatus {
	const fields = bodyFields(response);
	const status = statusIn(fields);
	if (status === undefined) {
		const problem = `names no status: ${excerpt(response.text, 120)}`;
		// Some services say with a 2xx that there is no such job.
		const error = readErrorObject(fields);
		const isUnknown = error && notFoundWords.test(JSON.stringify(error));
		throw new UnusableResponse(problem, undefined, isUnknown ? error : undefined);
	}
	const phase = phaseOf(status);
	const progress = progressOf(fields);
	const link = findLink(fields, response.url);
	return {
		status: excerpt(status, 100),
		phase,
		...withoutUndefined({ progress, link }),
		...(link !== undefined && linkCarriedKey(link, response) && { linkCarriesKey: true }),
		...(phase === 'failed' && { failure: jobFailureReason(fields) }),
		fields,
	};
}

/**
 * The status of a job in a response, as the service spells it. Some gateways add a status of the call itself, such as
 * "success", to that of the job; then the job's own decides, even if it is unknown.
 */
export function statusIn(fields: JsonObject): string | undefined {
	const status = textAt(fields, 'status');
	const ofJob = jobStatusPaths.flatMap((path) => textAt(fields, path) ?? []).filter(isNoHttpStatus);
	if (status !== undefined && isAboutJob(status)) return status;
	return ofJob.find((text) => phaseOf(text) !== undefined) ?? ofJob[0] ?? status;
}

const isNoHttpStatus = (text: string) => !/^[1-5]\d\d$/.test(text);

/** Whether a `status` is surely that of the job: "success" and "error" may also be about the call. */
function isAboutJob(status: string): boolean {
	const phase = phaseOf(status);
	return isPollState(status) || (phase !== undefined && !isFinal(phase));
}

function progressOf(fields: JsonObject): number | undefined {
	const progress = textAt(fields, 'progress', 'output.progress', 'data.progress');
	const percent = Number.parseFloat(progress ?? '');
	return Number.isFinite(percent) ? percent : undefined;
}

// ── The file of a finished job ("Endpoints" 13) ──────────────────────────────────────────────────

/** Where the file of a video job is. */
export interface VideoContent {
	source: FileSource;
	/** Set when its link carried the key. */
	linkCarriesKey?: true;
	fields: ResponseFields;
}

/**
 * The specification does not show this response, so a JSON field, a plain text, a redirect and the file itself are
 * all accepted.
 */
export function videoContent(response: ServiceResponse): VideoContent {
	const { isFile, location, url, text, json } = response;
	const link = isFile ? url : findLink(location ?? json ?? text.trim(), url);
	if (link === undefined)
		throw new UnusableResponse(`has no link to the video: ${describeBody(response)}`);
	const key = linkCarriedKey(link, response) && ({ linkCarriesKey: true } as const);
	if (isFile)
		return { source: { url, authenticated: true }, ...key, fields: withRequestIds({}, response) };
	return {
		source: { url: link, authenticated: false, mayNeedKey: true },
		...key,
		fields: withRequestIds(isObject(json) ? json : { url: link }, response),
	};
}
