import {
	asText,
	excerpt,
	isObject,
	parseJson,
	textAt,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { requestIdHeader } from '../protocol/endpoints';
import { phaseOf } from '../protocol/jobs';
import { reasonInMarkup } from './textReason';

export { readReason } from './textReason';

/** The fields of the error object, tolerant of the shapes that gateways and proxies send instead. */
export interface ErrorObject {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** Like `textAt`, but short enough for the middle of a message, whatever a response holds. */
function shortTextAt(value: unknown, ...paths: string[]): string | undefined {
	const text = textAt(value, ...paths);
	return text && excerpt(text, 100);
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

/** The error object of a body ("Resources", error object); undefined when there is none. */
export const readErrorObject = (body: unknown): ErrorObject | undefined => read(body, 0);

/** Maximum levels of objects, lists and JSON texts within each other that are searched for a reason. */
const maxLevels = 6;
/** Maximum number of entries of a list that are searched, and of reasons that a message shows. */
const [maxEntries, maxReasons] = [20, 3];

/** The fields of an object by their {@link plainName}. */
type Fields = ReadonlyMap<string, unknown>;

/** Services spell `error_msg` in many ways. */
const plainName = (name: string) => name.toLowerCase().replaceAll('_', '');

/** Names of fields that say why, and in a job may also be about the call or the progress. */
const remarkNames = [
	...['message', 'msg', 'status_message', 'status_msg', 'task_status_msg', 'detail', 'reason'],
].map(plainName);
/** Names of fields that only something that failed has. */
const causeNames = [
	...['error', 'errors', 'error_description', 'error_message', 'error_msg', 'err_msg', 'fail_msg'],
	...['fail_reason', 'failed_reason', 'failure_reason', 'fail_message', 'failure_message'],
].map(plainName);
/** From the general to the particular. The fields may be texts, or objects and lists of them. */
const messageNames = [
	...['title', ...remarkNames, 'fault_string', 'description', 'exception', 'details'],
	...causeNames,
].map(plainName);
const codeNames = ['code', 'error_code', 'err_code'].map(plainName);
/** Names of objects that may have the error object in them. */
const wrapperNames = [
	...['fault', 'base_resp', 'response', 'response_metadata', 'result', 'output', 'data'],
].map(plainName);

function read(value: unknown, level: number): ErrorObject | undefined {
	if (typeof value === 'string') return readText(value.trim(), level);
	if (level > maxLevels) return undefined;
	if (Array.isArray(value)) return readList(value, level);
	return isObject(value)
		? (readFields(fieldsOf(value), level) ?? readByName(value, level))
		: undefined;
}

/** A text, which may be the JSON or the page that the service received itself. */
function readText(text: string, level: number): ErrorObject | undefined {
	const inner = /^[[{]/.test(text) ? read(parseJson(text), level + 1) : undefined;
	if (inner?.message !== undefined) return inner;
	const isPage = /^<(?:!doctype|html|\?xml)/i.test(text);
	const message = (isPage && reasonInMarkup(text)) || text;
	return message === '' ? undefined : { message };
}

function readList(values: unknown[], level: number): ErrorObject | undefined {
	const found = values.slice(0, maxEntries).flatMap((value) => {
		const error = read(value, level + 1);
		return error ? { ...error, message: joined([placeIn(value), error.message]) } : [];
	});
	const first = found.find(({ code }) => code !== undefined) ?? found[0];
	return first && { ...first, message: listed(found.map(({ message }) => message)) };
}

/** Where in the request the wrong value is, as web frameworks name it beside the reason. */
function placeIn(value: unknown): string | undefined {
	const places = ['loc', 'field', 'property', 'path', 'source.pointer'].map((path) => {
		const place = valueAt(value, path);
		return Array.isArray(place) ? place.slice(0, maxEntries).join('.') : asText(place);
	});
	const place = places.find((text) => text);
	return place && excerpt(place, 100);
}

function readFields(fields: Fields, level: number): ErrorObject | undefined {
	const { error: own, ...others } = Object.fromEntries(fields);
	const inner = read(own, level + 1);
	const headline = inner?.message;
	if (headline !== undefined && typeof own !== 'string') return inner;
	const reasons = [...messageNames, 'metadata.raw'].flatMap(
		(path) => read(valueAt(others, path), level + 1) ?? [],
	);
	const messages = reasons.flatMap(({ message }) => message ?? []);
	// One word beside a reason, such as `access_denied`, is a code.
	const isCode = headline && /^[\w.-]+$/.test(headline) && messages.length > 0;
	const error: ErrorObject = withoutUndefined({
		...reasons.find(({ code }) => code !== undefined),
		...withoutUndefined({
			code: codeIn(fields, level) ?? (isCode ? excerpt(headline, 100) : undefined),
			type: shortTextIn(fields, 'type', plainName('error_type')),
			param: shortTextIn(fields, 'param'),
		}),
		...inner,
		message: joined(isCode ? messages : [headline, ...messages]),
	});
	const whole = error.message === undefined ? { ...error, ...readWrapped(fields, level) } : error;
	return whole.message === undefined && whole.code === undefined ? undefined : whole;
}

/** The error object in another object, unless that says that all is well. */
function readWrapped(fields: Fields, level: number): ErrorObject | undefined {
	return wrapperNames
		.map((name) => fields.get(name))
		.map((value) => (isObject(value) ? readFields(fieldsOf(value), level + 1) : undefined))
		.find((error) => error?.message !== undefined && error.code !== '0');
}

/** Reasons by the names of the fields of the request, such as `{"prompt": ["is too long"]}`. */
function readByName(object: JsonObject, level: number): ErrorObject | undefined {
	const reasons = Object.entries(object)
		.slice(0, maxEntries)
		// At the top, a text may be any field of the response.
		.filter(([, value]) => isText(valueAt(value, '0')) || (level > 0 && isText(value)))
		.flatMap(([name, value]) => {
			const message = read(value, level + 1)?.message;
			return message === undefined ? [] : (joined([excerpt(name, 100), message]) ?? []);
		});
	return reasons.length === 0 ? undefined : { message: listed(reasons) };
}

const isText = (value: unknown) => typeof value === 'string';

const fieldsOf = (object: JsonObject): Fields =>
	new Map(Object.entries(object).map(([name, value]) => [plainName(name), value]));

function shortTextIn(fields: Fields, ...names: string[]): string | undefined {
	const text = names.map((name) => asText(fields.get(name))).find((found) => found !== undefined);
	return text && excerpt(text, 100);
}

function codeIn(fields: Fields, level: number): string | undefined {
	const code = shortTextIn(fields, ...codeNames);
	// At the top, these may be the status of the call, or of the job.
	if (code !== undefined || level === 0) return code;
	const status = shortTextIn(fields, 'status') ?? '';
	return (
		shortTextIn(fields, plainName('status_code')) ?? (status.includes('_') ? status : undefined)
	);
}

/** The general reason, then the particular one. */
function joined(texts: Array<string | undefined>): string | undefined {
	let all: string | undefined;
	for (const text of texts) {
		if (!text || all?.includes(text)) continue;
		all = all === undefined || text.includes(all) ? text : `${all.replace(/[.:]$/, '')}: ${text}`;
	}
	return all;
}

/** Several reasons of equal weight. */
function listed(texts: Array<string | undefined>): string | undefined {
	const different = [...new Set(texts.filter((text) => text !== undefined))];
	const more = different.length > maxReasons ? '; …' : '';
	return different.length === 0 ? undefined : different.slice(0, maxReasons).join('; ') + more;
}

/** "What the service does", billing rule 3: from the headers, or else from the body. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	return (
		shortTextAt(headers, requestIdHeader) ?? shortTextAt(body, 'request_id', 'error.request_id')
	);
}

// ── Failed jobs ──────────────────────────────────────────────────────────────────────────────────

/** Where the fields of a job may be, besides the response itself. */
const jobPaths = ['output', 'data', 'result', 'task', 'data.output', 'data.task', 'data.data'];
const jobNames = new Set([...causeNames, ...remarkNames, ...codeNames]);

/** Why a job failed. The specification does not show the fields of its `error`, so every likely form is read. */
export function jobFailureReason(job: unknown): ErrorObject {
	const places = [job, ...jobPaths.map((path) => valueAt(job, path))].flatMap((place) =>
		isObject(place) ? [failureFieldsOf(place)] : [],
	);
	// A remark of the response itself may be about the call.
	const withCause = places.filter((place) => causeNames.some((name) => place.get(name)));
	const found = [...withCause, ...places.reverse()].map((place) => readFields(place, 0));
	const reason = found.find((error) => error?.message !== undefined) ?? found.find(Boolean);
	if (reason) return reason;
	const error = valueAt(job, 'error');
	const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0);
	return isEmpty ? {} : { message: excerpt(JSON.stringify(error)) };
}

/** The fields that may say why a job failed, without those that only repeat its state, or that the call succeeded. */
const failureFieldsOf = (place: JsonObject): Fields =>
	new Map(
		[...fieldsOf(place)].filter(([name, value]) => {
			const text = asText(value) ?? '';
			const isState = phaseOf(text) !== undefined || /^(?:ok|0|2\d\d)$/i.test(text);
			return jobNames.has(name) && (causeNames.includes(name) || !isState);
		}),
	);
