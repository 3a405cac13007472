import { asText, beginningOf, excerpt, textAt, valueAt, withoutUndefined } from '../json';
import { maxMarkupLength, maxReasonLength } from '../protocol/bounds';
import { requestIdHeader } from '../protocol/endpoints';
import { phaseOf } from '../protocol/jobs';
import { reasonInMarkup, withoutStack } from './page';
import { named, plainName, plainNames, type Answer, type Rule, type Value } from './values';

/** The error object ("Resources"), or what other gateways and proxies send instead. */
export interface ErrorObject {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** Names of fields that only something that failed has. */
const causes = plainNames(`
		error errors error_description error_message error_msg err_msg fail_msg fail_reason failed_reason
		failure_reason fail_message failure_message failure reasons fault_string rai_media_filtered_reasons
	`);
/** Names of fields that say why, and in a job may also be about the call or its progress. */
const remarks = plainNames(`
		title message msg status_message status_msg task_status_msg detail reason description exception details
		raw ret_msg result_msg return_msg
	`);
const codes = plainNames('code', 'error_code', 'err_code', 'fail_code', 'failure_code');
const wrappers = plainNames(
	'fault header base_resp response response_metadata result output data task job content_filter generate_video_response',
);
/** It may have the reason of the provider in it. */
const inner = plainName('metadata');

export const saysWhy = (name: string): boolean => causes.has(name) || remarks.has(name);

/** How many reasons are compared with each other, and how many of equal weight are shown. */
const [maxCompared, maxShown] = [30, 3];

interface Part extends Value {
	around: string;
	/** The names within the reason, its own last. */
	within: readonly string[];
}

/** Why a request failed; undefined when an answer gives no reason. */
export function reasonIn({ values }: Answer): ErrorObject | undefined {
	const texts = values.filter(({ path, value }) => path.length === 0 && typeof value === 'string');
	if (texts.length > 0) return { message: listed(texts.map(textOf)) };
	const parts = values.map(asPart);
	const reason = firstReason(parts);
	if (reason?.message !== undefined) return reason;
	// It says that all is well.
	if (reason === undefined && parts.some(isOfReason)) return undefined;
	const byField = reasonByField(values);
	return reason || byField ? { ...reason, ...byField } : undefined;
}

/** Why a job failed. The specification does not show the fields of its `error`, so every likely form is read. */
export function jobReasonIn({ values }: Answer): ErrorObject {
	// A text that only repeats the state, or says that the call succeeded, is no reason.
	const parts = values.map(asPart).filter((part) => !(isCause(part) ? isHarmless : isState)(part));
	// A remark of the answer itself may be about the call: causes come first, then what is furthest inside.
	const ofCause = firstReason(
		parts.filter(({ name, within }) => codes.has(name) || within.some((each) => causes.has(each))),
	);
	if (ofCause?.message !== undefined) return ofCause;
	const reason = firstReason([...parts].reverse(), true) ?? ofCause;
	return reason ?? reasonByField(values.filter(({ path }) => path[0] === 'error')) ?? {};
}

const isCause = ({ within }: Part) => causes.has(within[0]);

const isState = ({ value }: Value) =>
	phaseOf(beginOf(value)) !== undefined || /^(?:ok|0|2\d\d)$/i.test(beginOf(value));

/** Some services always send these, and say that all is well. */
const harmless = /^(?:0|200|false|null|none|no errors?|ok|success(?:ful)?)?$/i;
const isHarmless = ({ value }: Value) => harmless.test(beginOf(value));

const beginOf = (value: Value['value']) => String(value).slice(0, 100).trim();

export const hasError = ({ values }: Answer): boolean =>
	values.some((value) => value.path.some((name) => causes.has(name)) && !isHarmless(value));

const isWithin = (name: string) => saysWhy(name) || name === inner;

function asPart(value: Value): Part {
	const { path } = value;
	let length = path.length - 1;
	while (length > 0 && isWithin(path[length - 1])) length--;
	return { ...value, around: path.slice(0, length).join('.'), within: path.slice(length) };
}

/** The least nested reason, or the one of the first part. */
function firstReason(parts: Part[], inOrder = false): ErrorObject | undefined {
	const places = [...new Set(parts.filter(isOfReason).map(({ around }) => around))];
	const ordered = inOrder ? places : places.sort((one, other) => depthOf(one) - depthOf(other));
	const found = ordered
		.filter((around) => around.split('.').every((name) => name === '' || wrappers.has(name)))
		.map((around) => reasonOf(parts.filter((part) => part.around === around)))
		// A code that says that all is well, beside words such as "success".
		.filter(({ code }) => code !== '0');
	const [first] = found;
	const withMessage = found.find(({ message }) => message !== undefined);
	// The code may be further outside than the message.
	return first?.code === undefined ? (withMessage ?? first) : { ...first, ...withMessage };
}

const depthOf = (around: string) => (around === '' ? 0 : around.split('.').length);

const isMessage = ({ value, name, within }: Part) =>
	typeof value === 'string' && value.trim() !== '' && saysWhy(name) && within.every(isWithin);
/** An error may be nothing but a number. */
const isCode: Rule = ({ name, value }) =>
	codes.has(name) || (name === 'error' && typeof value === 'number');
const isOfReason = (part: Part) => isMessage(part) || isCode(part);

function reasonOf(parts: Part[]): ErrorObject {
	// An error object says all; what is beside it repeats it, or is about the call.
	const ofError = parts.filter(
		({ within, isEntry }) => within[0] === 'error' && (within.length > 1 || isEntry),
	);
	const own = ofError.some(isMessage) ? ofError : parts;
	const messages = own.filter(isMessage).slice(0, maxCompared);
	// One word beside a reason, such as `access_denied`, is a code.
	const word = messages.find(({ within, value }) => isCodeWord(within, String(value)));
	const shown = word && messages.length > 1 ? messages.filter((part) => part !== word) : messages;
	const code = shortIn(own, isCode) ?? statusCode(own);
	return withoutUndefined({
		message: sentenceOf(shown),
		code: code ?? (shown === messages ? undefined : excerpt(String(word?.value), 100)),
		type: shortIn(own, named('type', 'error_type')),
		param: shortIn(own, named('param')),
	});
}

const isCodeWord = (within: readonly string[], text: string) =>
	within.length === 1 && within[0] === 'error' && /^[\w.-]+$/.test(text);

/** Within an error, a status is a code; beside it, it is that of the call or of the job. */
function statusCode(parts: Part[]): string | undefined {
	const inside = parts.filter(({ within, around }) => within.length > 1 || around !== '');
	const status = shortIn(inside, named('status')) ?? '';
	return shortIn(inside, named('status_code')) ?? (status.includes('_') ? status : undefined);
}

/** Short enough for the middle of a message. */
function shortIn(parts: Part[], rule: Rule): string | undefined {
	const texts = parts.filter(rule).map(({ value }) => asText(value));
	const text = texts.find((found) => found !== undefined);
	return text && excerpt(text, 100);
}

/** The general reason, then the particular one; those of one list beside each other. */
function sentenceOf(messages: Part[]): string | undefined {
	const byPlace = new Map<string, string[]>();
	const ranked = [...messages].sort((one, other) => rankOf(one) - rankOf(other));
	for (const part of ranked) {
		const { path, around, within, isOneOfMany } = part;
		const place = isOneOfMany ? `${around} ${within[0]}` : path.join('.');
		byPlace.set(place, [...(byPlace.get(place) ?? []), placed(part, textOf(part))]);
	}
	return joined([...byPlace.values()].map(listed));
}

/** A title before its details, and the reason before what is within it. */
const rankOf = ({ within, name }: Part) =>
	100 * within.length + (name === 'title' ? 0 : causes.has(name) && within.length > 1 ? 2 : 1);

/** A text as it is, or the reason on the page that it holds. */
function textOf({ value }: Value): string {
	const text = String(value).slice(0, maxMarkupLength).trim();
	const isPage = /^<(?:!doctype|html|\?xml)/i.test(text);
	return beginningOf(withoutStack((isPage && reasonInMarkup(text)) || text), maxReasonLength);
}

/** With where in the request the wrong value is, as web frameworks name it beside the reason. */
function placed({ siblings, isEntry }: Part, text: string): string {
	if (isEntry) return text;
	const places = ['loc', 'field', 'property', 'path', 'source.pointer'].map((path) => {
		const place = valueAt(siblings, path);
		return Array.isArray(place) ? place.slice(0, 20).join('.') : asText(place);
	});
	const place = places.find((found) => found);
	return place && !text.includes(place) ? `${excerpt(place, 100)}: ${text}` : text;
}

function listed(texts: string[]): string {
	const different = [...new Set(texts)];
	return different.slice(0, maxShown).join('; ') + (different.length > maxShown ? '; …' : '');
}

function joined(texts: string[]): string | undefined {
	let all: string | undefined;
	for (const text of texts) {
		if (all?.includes(text)) continue;
		const isLonger = all === undefined || text.includes(all);
		all = isLonger ? text : beginningOf(`${all?.replace(/[.:]$/, '')}: ${text}`, maxReasonLength);
	}
	return all;
}

/** Reasons by the names of the fields of the request, such as `{"prompt": ["is too long"]}`. */
function reasonByField(values: readonly Value[]): ErrorObject | undefined {
	const reasons = values
		.filter(({ value }) => typeof value === 'string' && value.trim() !== '')
		// At the top, a text may be any field of the answer.
		.filter(({ isEntry, path }) => isEntry || path.length > 1)
		.filter(({ name }) => !codes.has(name) && !['type', 'param', 'status'].includes(name))
		.slice(0, maxCompared)
		.map(
			({ name, value }) => `${excerpt(name, 100)}: ${beginningOf(String(value), maxReasonLength)}`,
		);
	return reasons.length === 0 ? undefined : { message: listed(reasons) };
}

/** "What the service does", billing rule 3. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	const id = textAt(headers, requestIdHeader) ?? textAt(body, 'request_id', 'error.request_id');
	return id && excerpt(id, 100);
}
