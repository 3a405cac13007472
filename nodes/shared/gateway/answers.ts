import { asText, defined, excerpt, isObject, textAt, valueAt, type JsonObject } from './json';
import { findLink } from './links';
import { phaseOf, type Phase } from './protocol';
import { jobFailureReason, requestIdOf, type ServiceError } from './serviceErrors';
import { Unusable, type Answer } from './transport';

/** The fields of an answer as they came, with the request id of the head where the body has none. */
export interface Fields extends JsonObject {
	request_id?: string;
}

/** @throws Unusable when the body is no JSON object */
function fieldsOf(answer: Answer): Fields {
	const { json, requestId } = answer;
	if (!isObject(json)) throw new Unusable(complaint(answer));
	return { ...json, ...defined({ request_id: asText(json.request_id) ?? requestId }) };
}

/** What is wrong with a body that should have been JSON; continues "the answer …". */
export function complaint({ text, headers, json, broken }: Answer): string {
	if (broken !== undefined) return `broke off: ${broken}`;
	if (text.trim() === '') return 'is empty';
	if (json !== undefined) return `has an unexpected form: ${excerpt(text, 120)}`;
	return isPage({ text, headers })
		? 'is a web page instead of JSON'
		: `is not JSON: ${excerpt(text, 120)}`;
}

function isPage({ text, headers }: Pick<Answer, 'text' | 'headers'>): boolean {
	return /html/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(text);
}

// ── Created jobs ("Endpoints" 1 and 11) ─────────────────────────────────────────────────────────

export interface CreatedJob {
	id: string;
	/** The service's fields; the id also stands where later nodes look for it. */
	fields: Fields;
}

const taskIdPaths = ['output.task_id', 'task_id', 'data.task_id', 'data.output.task_id', 'id'];
const videoIdPaths = ['id', 'video_id', 'data.id', 'data.video_id', 'output.id'];

export function createdTask(answer: Answer): CreatedJob {
	const created = createdJob(answer, taskIdPaths, 'task_id');
	const isUsual = textAt(created.fields, 'output.task_id', 'task_id') !== undefined;
	return isUsual ? created : { ...created, fields: { task_id: created.id, ...created.fields } };
}

export function createdVideo(answer: Answer): CreatedJob {
	const { id, fields } = createdJob(answer, videoIdPaths, 'id');
	return { id, fields: videoFields(fields, id) };
}

/**
 * The fields of a video job, with its id where later nodes look for it: they would take a `task_id`, which
 * some services give a video too, for a task to be asked for elsewhere.
 */
export function videoFields({ output, ...fields }: Fields, id: string): Fields {
	const task_id = undefined;
	const inner = isObject(output) ? defined({ ...output, task_id }) : output;
	return defined({ ...fields, task_id, output: inner, id });
}

function createdJob(answer: Answer, idPaths: string[], idName: string): CreatedJob {
	if (isObject(answer.json)) {
		const id = textAt(answer.json, ...idPaths);
		if (id === undefined) throw new Unusable('names no job');
		return { id, fields: fieldsOf(answer) };
	}
	// The job is accepted and will be paid for: an id that came whole is kept, though the rest is lost.
	const id = isPage(answer)
		? undefined
		: asText(new RegExp(`"${idName}"\\s*:\\s*"([^"\\\\]+)"`).exec(answer.text)?.[1]);
	if (id === undefined) throw new Unusable(complaint(answer));
	const requestId = requestIdOf(answer.headers);
	return { id, fields: { [idName]: id, ...(requestId && { request_id: requestId }) } };
}

// ── Jobs that are polled ("Endpoints" 2 and 12) ─────────────────────────────────────────────────

/** What one poll saw. */
export interface JobSight {
	/** In the service's words. */
	status: string;
	/** Undefined for a state nobody has named yet: it is waited for. */
	phase: Phase | undefined;
	/** Percent. */
	progress?: number;
	/** Link to the file; it needs no key. */
	link?: string;
	/** Set when the job failed. */
	failure?: ServiceError;
	fields: Fields;
}

const statusPaths = [
	...['status', 'task_status', 'output.task_status', 'output.status', 'data.status', 'state'],
];

export function jobSight(answer: Answer): JobSight {
	const fields = fieldsOf(answer);
	const status = statusIn(fields);
	if (status === undefined) throw new Unusable(`names no status: ${excerpt(answer.text, 120)}`);
	const phase = phaseOf(status);
	const progress = progressOf(fields);
	const link = findLink(fields, answer.url);
	return {
		status: excerpt(status, 100),
		phase,
		...defined({ progress, link }),
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

/** Where a finished video can be fetched. */
export interface VideoSource {
	url: string;
	/** True only when the gateway itself serves the file; a link must be fetched without the key. */
	authenticated: boolean;
}

/** The form of this answer is not shown: a JSON field, a text, a redirect and the file itself are taken. */
export function videoContent(answer: Answer): { source: VideoSource; fields: Fields } {
	const { isFile, location, url, text, json, requestId } = answer;
	const withId = (fields: Fields): Fields => ({
		...fields,
		...(requestId !== undefined && { request_id: requestId }),
	});
	if (isFile) return { source: { url, authenticated: true }, fields: withId({}) };
	const link = findLink(location ?? json ?? text.trim(), url);
	if (link === undefined) throw new Unusable(`has no link to the video: ${complaint(answer)}`);
	return {
		source: { url: link, authenticated: false },
		fields: withId(isObject(json) ? json : { url: link }),
	};
}

// ── Models ("Endpoints" 7) ──────────────────────────────────────────────────────────────────────

export interface Model extends JsonObject {
	id: string;
}

export function modelList(answer: Answer): Model[] {
	const list = [
		answer.json,
		...['data', 'models', 'data.data'].map((path) => valueAt(answer.json, path)),
	];
	const entries = list.find(Array.isArray) as unknown[] | undefined;
	if (entries === undefined) throw new Unusable(complaint(answer));
	return entries.flatMap((entry) => {
		const fields = isObject(entry) ? entry : {};
		const id = asText(typeof entry === 'string' ? entry : (fields.id ?? fields.model));
		return id === undefined ? [] : [{ ...fields, id }];
	});
}

// ── Messages ("Endpoints" 5) ────────────────────────────────────────────────────────────────────

export interface TextMessage {
	text: string;
	fields: Fields;
}

/** The form of this answer is not shown: parts of text, a plain text and a chat completion are taken. */
export function textMessage(answer: Answer): TextMessage {
	const fields = fieldsOf(answer);
	const content =
		fields.content ??
		valueAt(fields, 'message.content') ??
		valueAt(fields, 'choices.0.message.content');
	const parts = Array.isArray(content)
		? content
		: [content ?? fields.completion ?? fields.output_text];
	const texts = parts.map((part) => (isObject(part) ? part.text : part));
	if (!Array.isArray(content) && typeof texts[0] !== 'string')
		throw new Unusable(complaint(answer));
	return { text: texts.filter((text) => typeof text === 'string').join(''), fields };
}
