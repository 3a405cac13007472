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
import { maxMarkupLength, maxReasonCost, maxReasonLength } from '../protocol/bounds';
import { requestIdHeader } from '../protocol/endpoints';
import { causeNames, codeNames, messageNames, plainName, wrapperNames } from './reasonNames';
import { reasonInMarkup } from './textReason';

export { readReason } from './textReason';

/** The fields of the error object, tolerant of the shapes that gateways and proxies send instead. */
export interface ErrorObject {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** The error object of a body ("Resources", error object); undefined when there is none. */
export const readErrorObject = (body: unknown): ErrorObject | undefined =>
	new ErrorReader().read(body, 0);

/** "What the service does", billing rule 3: from the headers, or else from the body. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	const id = textAt(headers, requestIdHeader) ?? textAt(body, 'request_id', 'error.request_id');
	return id && excerpt(id, 100);
}

/** Maximum levels of objects, lists and JSON texts within each other that are searched for a reason. */
const maxLevels = 6;
/** Maximum number of entries of a list that are searched, and of reasons that a message shows. */
const [maxEntries, maxReasons] = [20, 3];

/** What it costs to look at an object or a list, and at a name or a text: as much time as comparing so many characters. */
const [objectCost, nameCost] = [5_000, 50];
/** What it costs to parse a character of a JSON text, or of a page. */
const parseCost = 10;

/** The fields of an object by their {@link plainName}. */
export type Fields = ReadonlyMap<string, unknown>;

/** Reads one error object. It looks at so many values, and no more, as {@link maxReasonCost} allows. */
export class ErrorReader {
	private budget = maxReasonCost;

	read(value: unknown, level: number): ErrorObject | undefined {
		if (typeof value === 'string') return this.readText(value, level);
		if (level > maxLevels) return undefined;
		if (Array.isArray(value)) return this.readList(value, level);
		if (!isObject(value)) return undefined;
		const fields = this.fieldsOf(value);
		return fields && (this.readFields(fields, level) ?? this.readByName(value, level));
	}

	/** Undefined when the budget is spent. */
	fieldsOf(object: JsonObject): Fields | undefined {
		const names = Object.keys(object);
		if (!this.spend(objectCost + nameCost * names.length)) return undefined;
		return new Map(names.map((name) => [plainName(name), object[name]]));
	}

	readFields(fields: Fields, level: number): ErrorObject | undefined {
		const inner = this.read(fields.get('error'), level + 1);
		const headline = inner?.message;
		if (headline !== undefined && typeof fields.get('error') !== 'string') return inner;
		const values = messageNames.map((name) => fields.get(name));
		const reasons = [...values, valueAt(fields.get('metadata'), 'raw')].flatMap(
			(value) => this.read(value, level + 1) ?? [],
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
			message: this.joined(isCode ? messages : [headline, ...messages]),
		});
		const whole =
			error.message === undefined ? { ...error, ...this.readWrapped(fields, level) } : error;
		return whole.message === undefined && whole.code === undefined ? undefined : whole;
	}

	/** A text, which may be the JSON or the page that the service received itself. */
	private readText(given: string, level: number): ErrorObject | undefined {
		if (!this.spend(nameCost)) return undefined;
		// A longer text is not parsed, so only its beginning counts.
		const text = given.slice(0, this.budget / parseCost).trim();
		const isJson = /^[[{]/.test(text) && this.spend(parseCost * text.length);
		const inner = isJson ? this.read(parseJson(text), level + 1) : undefined;
		if (inner?.message !== undefined) return inner;
		const isPage =
			/^<(?:!doctype|html|\?xml)/i.test(text) &&
			this.spend(parseCost * Math.min(text.length, maxMarkupLength));
		const message = (isPage && reasonInMarkup(text)) || text.slice(0, maxReasonLength);
		return message === '' ? undefined : { message };
	}

	private readList(values: unknown[], level: number): ErrorObject | undefined {
		if (!this.spend(objectCost)) return undefined;
		const found = values.slice(0, maxEntries).flatMap((value) => {
			const error = this.read(value, level + 1);
			return error ? { ...error, message: this.joined([placeIn(value), error.message]) } : [];
		});
		const first = found.find(({ code }) => code !== undefined) ?? found[0];
		return first && { ...first, message: listed(found.map(({ message }) => message)) };
	}

	/** The error object in another object, unless that says that all is well. */
	private readWrapped(fields: Fields, level: number): ErrorObject | undefined {
		for (const name of wrapperNames) {
			const value = fields.get(name);
			const inner = isObject(value) ? this.fieldsOf(value) : undefined;
			const error = inner && this.readFields(inner, level + 1);
			if (error?.message !== undefined && error.code !== '0') return error;
		}
		return undefined;
	}

	/** Reasons by the names of the fields of the request, such as `{"prompt": ["is too long"]}`. */
	private readByName(object: JsonObject, level: number): ErrorObject | undefined {
		const reasons = Object.keys(object)
			.slice(0, maxEntries)
			.map((name) => [name, object[name]] as const)
			// At the top, a text may be any field of the response.
			.filter(([, value]) => isText(valueAt(value, '0')) || (level > 0 && isText(value)))
			.flatMap(([name, value]) => {
				const message = this.read(value, level + 1)?.message;
				return message === undefined ? [] : (this.joined([excerpt(name, 100), message]) ?? []);
			});
		return reasons.length === 0 ? undefined : { message: listed(reasons) };
	}

	/** The general reason, then the particular one. */
	private joined(texts: Array<string | undefined>): string | undefined {
		let all: string | undefined;
		for (const text of texts) {
			if (!text) continue;
			// To search one text in another takes as long as the product of their lengths.
			if (all && !this.spend(all.length * text.length)) break;
			if (all?.includes(text)) continue;
			const longer = all === undefined || text.includes(all);
			all = longer ? text : `${all?.replace(/[.:]$/, '')}: ${text}`.slice(0, maxReasonLength);
		}
		return all;
	}

	private spend(cost: number): boolean {
		this.budget = Math.max(0, this.budget - cost);
		return this.budget > 0;
	}
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

const isText = (value: unknown) => typeof value === 'string';

/** Short enough for the middle of a message, whatever a response holds. */
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

/** Several reasons of equal weight. */
function listed(texts: Array<string | undefined>): string | undefined {
	const different = [...new Set(texts.filter((text) => text !== undefined))];
	const more = different.length > maxReasons ? '; …' : '';
	return different.length === 0 ? undefined : different.slice(0, maxReasons).join('; ') + more;
}

/** Whether one of these fields says why something failed. */
export const hasCause = (fields: Fields): boolean => causeNames.some((name) => fields.get(name));
