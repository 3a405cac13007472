import { JsonBounds } from './jsonBounds';
import { oneLine } from './oneLine';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param path dotted, such as `output.task_id` */
export function valueAt(value: unknown, path: string): unknown {
	let current = value;
	for (const key of path.split('.')) {
		if (typeof current !== 'object' || current === null) return undefined;
		current = Object.hasOwn(current, key) ? (current as JsonObject)[key] : undefined;
	}
	return current;
}

/** A text or a number, trimmed; undefined for everything else and for blank text. */
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

/**
 * {@link parseJson} for the text of a service: see {@link repaired}.
 * @param isBounded whether the text was checked as it arrived; to check a large one takes as long as to parse it
 */
export function parseResponse(text: string, isBounded = false): unknown {
	const value = isBounded ? parsed(text) : parseJson(text);
	const isRight = value !== undefined && !longNumber.test(text);
	return isRight || text.length > maxRepaired ? value : parseJson(repaired(text));
}

/** Characters: only documents are repaired, and no files. */
const maxRepaired = 1_000_000;

/** The beginning of a whole number that JavaScript may round. */
const longNumber = /[[:,]\s*-?\d{16}/;

/**
 * Texts, whole numbers that may be long, values of Python and JavaScript, and a comma behind the last entry. A text
 * without an end is taken whole: to look for the next one within it again and again would be slow.
 */
const partOfJson =
	/"[^"\\]*(?:\\[^]?[^"\\]*)*(?:"|$)|(?<![\d.eE+-])-?\d{16,1000}(?![\d.eE])|-?\b(?:NaN|Infinity|None|undefined)\b|\b(?:True|False)\b|,(?=\s*[\]}])/g;

/** Any other part but a text or a number becomes null. */
const inJson: Partial<Record<string, string>> = { ',': '', True: 'true', False: 'false' };

/**
 * Corrects mistakes of some servers, such as `NaN`, a comma too many, or line breaks in texts: the answer may be about
 * something that is paid for. A whole number that JavaScript would round is an ID, and becomes a text with all digits.
 */
function repaired(text: string): string {
	if (!/^\s*[[{]/.test(text)) return '';
	return text.replace(partOfJson, (part) => {
		if (part.startsWith('"'))
			return part.replace(/\p{Cc}/gu, (given) => JSON.stringify(given).slice(1, -1));
		if (/\d/.test(part)) return Number.isSafeInteger(Number(part)) ? part : `"${part}"`;
		return inJson[part] ?? 'null';
	});
}

/** At most `length` characters, and no half of one such as an emoji. */
export const beginningOf = (text: string, length: number): string =>
	text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** A text for a message: {@link oneLine}, cut to `length` characters. */
export function excerpt(text: string, length = 300): string {
	// Only the beginning is processed: the text may have megabytes.
	const line = oneLine(beginningOf(text.trimStart(), 10 * length)).trim();
	return line.length > length ? `${beginningOf(line, length)}…` : line;
}

export function describeValue(value: unknown): string {
	if (value === undefined || value === null) return 'empty';
	if (Number.isNaN(value)) return 'not a number';
	if (typeof value === 'string') return JSON.stringify(excerpt(value, 80));
	if (typeof value !== 'object') return String(value);
	return Array.isArray(value) ? 'a list' : 'an object';
}

/** The value as it survives JSON; undefined when part of it does not, or would become null. */
export function toJson(value: unknown): unknown {
	try {
		return parseJson(JSON.stringify(value, refuseNull));
	} catch {
		return undefined;
	}
}

/**
 * JSON text; empty for undefined. Half of a character, such as of an emoji that was cut, becomes U+FFFD: UTF-8 does not
 * have it, and many programs refuse its escape.
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

export function withoutUndefined<T extends object>(object: T): Partial<T> {
	const entries = Object.entries(object).filter(([, value]) => value !== undefined);
	return Object.fromEntries(entries) as Partial<T>;
}

/** Removes the list or text at this path. */
export function without(object: JsonObject, [name, ...deeper]: readonly string[]): JsonObject {
	const { [name]: value, ...others } = object;
	return isObject(value) ? { ...others, [name]: without(value, deeper) } : others;
}

/** Replaces texts, or removes those for which `replace` gives none. Only what changes is copied: a response may be large. */
export function withTexts<T>(value: T, replace: (text: string) => string | undefined): T;
export function withTexts(value: unknown, replace: (text: string) => string | undefined): unknown {
	if (typeof value === 'string') return replace(value);
	if (typeof value !== 'object' || value === null) return value;
	const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
	const changed = parts.map((part) => withTexts(part, replace));
	if (changed.every((part, at) => part !== undefined && part === parts[at])) return value;
	if (Array.isArray(value)) return changed.filter((part) => part !== undefined);
	const names = Object.keys(value);
	return withoutUndefined(Object.fromEntries(names.map((name, at) => [name, changed[at]])));
}

/** The fields of the second win; objects in both are merged in the same way. */
export function merged(object: JsonObject, more: JsonObject): JsonObject {
	const entries = Object.entries(more).map(([name, value]) => {
		const own = Object.hasOwn(object, name) ? object[name] : undefined;
		return [name, isObject(own) && isObject(value) ? merged(own, value) : value] as const;
	});
	return { ...object, ...Object.fromEntries(entries) };
}
