/** Reading responses whose shape is not guaranteed: the readers take `unknown` and never throw. */

import { endOfText, JsonBounds, quote } from './jsonBounds';
import { oneLine } from './oneLine';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a dotted path such as `output.task_id`; undefined when the path ends early. */
export function valueAt(value: unknown, path: string): unknown {
	let current = value;
	for (const key of path.split('.')) {
		if (typeof current !== 'object' || current === null) return undefined;
		current = Object.hasOwn(current, key) ? (current as JsonObject)[key] : undefined;
	}
	return current;
}

/** A text or a number as text, trimmed; undefined for everything else and for blank text. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	return (typeof value === 'string' && value.trim()) || undefined;
}

/** The first of these paths that holds a text. */
export function textAt(value: unknown, ...paths: string[]): string | undefined {
	for (const path of paths) {
		const text = asText(valueAt(value, path));
		if (text !== undefined) return text;
	}
	return undefined;
}

/** An index of a list, given as a number or as digits. */
export function asIndex(value: unknown): number | undefined {
	const text = asText(value) ?? '';
	return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Undefined when the text is not JSON, or has more in it than readers can handle: see {@link JsonBounds}. */
export function parseJson(text: string): unknown {
	return /^\s*[[{]/.test(text) && !new JsonBounds().accepts(text) ? undefined : parsed(text);
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** Like {@link parseJson}, for what a service has written: see {@link repaired}. */
export function parseWritten(text: string): unknown {
	const value = parseJson(text);
	return value === undefined ? parseJson(repaired(text)) : value;
}

/**
 * Texts, and what only looks like JSON: values of Python and JavaScript, and a comma behind the last entry. A text that
 * does not end is taken to the end: looking for the next one within it again and again would be slow.
 */
const partOfJson =
	/"[^"\\]*(?:\\[^]?[^"\\]*)*(?:"|$)|-?\b(?:NaN|Infinity|None|undefined)\b|\b(?:True|False)\b|,(?=\s*[\]}])/g;
/** In characters: only documents are repaired, and no files. */
const maxRepaired = 1_000_000;

/**
 * JSON as some servers write it by mistake: with `NaN` or `None`, a comma too many, or line breaks within texts. The
 * answer may be about something that is paid for.
 */
function repaired(text: string): string {
	if (text.length > maxRepaired || !/^\s*[[{]/.test(text)) return '';
	return text.replace(partOfJson, (part) => {
		if (part.startsWith('"'))
			return part.replace(/\p{Cc}/gu, (given) => JSON.stringify(given).slice(1, -1));
		if (part === ',') return '';
		return /^(?:True|False)$/.test(part) ? part.toLowerCase() : 'null';
	});
}

/**
 * Like {@link parseWritten}, for responses of the service: a whole number that JavaScript would round is an ID, and
 * becomes a text with all its digits.
 * @param isBounded whether the text was checked as it arrived: of a large one, that takes as long as parsing it
 */
export function parseResponse(text: string, isBounded = false): unknown {
	let json = text;
	let value = isBounded ? parsed(text) : parseJson(text);
	if (value === undefined) value = parseJson((json = repaired(text)));
	if (value === undefined || !longNumber.test(json)) return value;
	const marked = withLongNumbersAsTexts(json);
	return marked === json ? value : (JSON.parse(marked) as unknown);
}

/** Digits of a whole number that JavaScript may round, and that may be an ID. */
const [minLongDigits, maxLongDigits] = [16, 1_000];
const longNumber = /[[:,]\s*-?\d{16}/;
/** A response with more of such numbers is no list of IDs, and it would take long to change them all. */
const maxLongNumbers = 10_000;

/** @param json valid JSON */
function withLongNumbersAsTexts(json: string): string {
	const parts: string[] = [];
	let copied = 0;
	for (let at = 0; at < json.length; at++) {
		if (json.charCodeAt(at) === quote) at = endOfText(json, at + 1);
		if (!isDigit(json.charCodeAt(at))) continue;
		let start = at;
		while (isDigit(json.charCodeAt(at))) at++;
		if (at - start < minLongDigits || at - start > maxLongDigits) continue;
		if (json[start - 1] === '-') start--;
		// The digits of a fraction or an exponent, or those before one.
		if (/[.eE+]/.test(json[start - 1] ?? '') || /[.eE]/.test(json[at] ?? '')) continue;
		const number = json.slice(start, at);
		if (Number.isSafeInteger(Number(number))) continue;
		if (parts.push(json.slice(copied, start), `"${number}"`) > 2 * maxLongNumbers) return json;
		copied = at;
	}
	return copied === 0 ? json : [...parts, json.slice(copied)].join('');
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/** The beginning of a text, of at most `length` characters, and no half of one such as an emoji. */
export const beginningOf = (text: string, length: number): string =>
	text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** A text cut to `length` characters, as {@link oneLine}, for messages. */
export function excerpt(text: string, length = 300): string {
	// Only the beginning is processed: the text may have megabytes.
	const line = oneLine(beginningOf(text.trimStart(), 10 * length)).trim();
	return line.length > length ? `${beginningOf(line, length)}…` : line;
}

/** A short description of a value, for messages. */
export function describeValue(value: unknown): string {
	if (value === undefined || value === null) return 'empty';
	if (Number.isNaN(value)) return 'not a number';
	if (typeof value === 'string') return JSON.stringify(excerpt(value, 80));
	if (typeof value !== 'object') return String(value);
	return Array.isArray(value) ? 'a list' : 'an object';
}

/** The value as it survives JSON; undefined when JSON would turn part of it into null, or cannot represent it. */
export function toJson(value: unknown): unknown {
	try {
		return parseJson(JSON.stringify(value, refuseNull));
	} catch {
		return undefined;
	}
}

/**
 * The value as JSON text, which is empty for what JSON does not have. Half of a character, such as of an emoji that was
 * cut, becomes U+FFFD: no UTF-8 has it, and many programs refuse its escape.
 */
export function jsonTextOf(value: unknown): string {
	// JSON.stringify returns undefined for undefined, whatever its type says.
	const text = (JSON.stringify(value) as string | undefined) ?? '';
	if (!text.includes('\\ud')) return text;
	return text.replace(/\\(?:ud[\da-f]{3}|.)/g, (escape) => (escape.length > 2 ? '\ufffd' : escape));
}

/** Throws for what JSON would turn into null: NaN, an invalid date, and undefined in a list. */
function refuseNull(this: JsonObject, name: string, value: unknown): unknown {
	const isNotFinite = typeof value === 'number' && !Number.isFinite(value);
	const becomesNull =
		value === null ? this[name] !== null : value === undefined && Array.isArray(this);
	if (isNotFinite || becomesNull) throw new RangeError('no JSON');
	return value;
}

/** The object without its undefined fields, so that what the user did not set is not sent. */
export function withoutUndefined<T extends object>(object: T): Partial<T> {
	const entries = Object.entries(object).filter(([, value]) => value !== undefined);
	return Object.fromEntries(entries) as Partial<T>;
}

/** The object without the list or text at this path. */
export function without(object: JsonObject, [name, ...deeper]: readonly string[]): JsonObject {
	const { [name]: value, ...others } = object;
	return isObject(value) ? { ...others, [name]: without(value, deeper) } : others;
}

/** Both objects in one. The fields of the second win; objects in both are merged in the same way. */
export function merged(object: JsonObject, more: JsonObject): JsonObject {
	const entries = Object.entries(more).map(([name, value]) => {
		const own = Object.hasOwn(object, name) ? object[name] : undefined;
		return [name, isObject(own) && isObject(value) ? merged(own, value) : value] as const;
	});
	return { ...object, ...Object.fromEntries(entries) };
}
