import { isObject, parseJson, type JsonObject } from '../json';
import { maxReadText, maxReadValues } from '../protocol/bounds';
import { words } from '../words';

/** One text, number or truth value of an answer. */
export interface Value {
	value: string | number | boolean;
	/** The {@link plainName} of all around it, from the outermost, and its own, without positions in lists. */
	path: readonly string[];
	/** The last of these; empty where the answer is nothing else. */
	name: string;
	/** The path as the service spells it. */
	names: readonly string[];
	siblings: JsonObject;
	/** Whether it is an entry of a list itself. */
	isEntry: boolean;
	isWithinList: boolean;
	/** Whether it is in a list with others. */
	isOneOfMany: boolean;
}

/** One form for `task_id`, `taskId`, `TaskID` and `task-id`. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_ ]+/g, '');

/** @param names separated by spaces */
export const plainNames = (...names: string[]): ReadonlySet<string> =>
	new Set(names.flatMap(words).map(plainName));

/** All entries that an answer has under one path. A vector, which is a list of numbers, is one entry. */
export interface List {
	/** As the service spells it, without positions in lists. */
	path: readonly string[];
	entries: unknown[];
	/** See {@link isUsual}. */
	isUsual: boolean;
	isWithinList: boolean;
}

/** A list, object or value that is still to be walked. */
interface Place extends Omit<Value, 'value'> {
	value: unknown;
	/** Whether it was written as JSON in a text. Such a text is opened once. */
	isOpened: boolean;
}

/** An answer as flat lists, the least nested first. Each fact is a rule over them. */
export interface Answer {
	values: readonly Value[];
	lists: readonly List[];
	/** Whether nothing was left out. */
	isWhole: boolean;
}

/** Services give what was ordered, or what is around it, under these. */
const usualName =
	/^(?:data|outputs?|results?|response|resp|body|payload|predictions?|artifacts|generations?|candidates|choices|message|content|parts|items|list|float|images?(?:urls?|uris?|links?|base64|b64|list)?|urls?|embeddings?|vectors?|values|models?)$/;

/** Whether a place may be that of what was ordered. */
export const isUsual = (path: readonly string[]): boolean =>
	path.every((name) => usualName.test(name));

/** Reads an answer once, within bounds. @param body parsed */
export function read(body: unknown, maxValues = maxReadValues): Answer {
	const start = { path: [], names: [], name: '', siblings: {}, isOpened: false };
	const of = { isEntry: false, isWithinList: false, isOneOfMany: false };
	const places: Place[] = [{ ...start, ...of, value: body }];
	const values: Value[] = [];
	const lists = new Map<string, List>();
	const left = { places: maxValues - 1, text: maxReadText };
	// The inner places are added at the end, so that all of one level come before the next.
	for (let at = 0; at < places.length; at++) {
		const place = places[at];
		const { value } = place;
		if (Array.isArray(value) && !place.isEntry) addList(lists, place, value);
		const inner = placesIn(place, left);
		left.places -= inner.length;
		for (const each of inner) places.push(each);
		const isValue =
			typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
		if (isValue && inner.length === 0) values.push(place as Value);
	}
	return { values, lists: [...lists.values()], isWhole: left.places > 0 };
}

function addList(lists: Map<string, List>, place: Place, value: unknown[]): void {
	const { names: path, isWithinList } = place;
	const key = path.join('.');
	const list = lists.get(key) ?? { path, entries: [], isUsual: isUsual(place.path), isWithinList };
	lists.set(key, list);
	// There may be millions of entries.
	for (const entry of isVector(value) ? [value] : value) list.entries.push(entry);
}

/** Vectors are long: their numbers are not read as values. */
const isVector = (value: unknown[]) => value.length > 1 && typeof value[0] === 'number';

/** The places directly within a place. @param left how much may still be read */
function placesIn(place: Place, left: { places: number; text: number }): Place[] {
	const { value, path } = place;
	if (left.places <= 0) return [];
	if (Array.isArray(value)) {
		if (isVector(value)) return [];
		const isOneOfMany = place.isOneOfMany || value.length > 1;
		return value.slice(0, left.places).map((entry: unknown) => ({
			...place,
			value: entry,
			isEntry: true,
			isOneOfMany,
			isWithinList: true,
		}));
	}
	if (isObject(value)) {
		const names = Object.keys(value).slice(0, left.places);
		return names.map((given) => {
			const name = plainName(given);
			const own = { path: [...path, name], names: [...place.names, given], name, siblings: value };
			return { ...place, ...own, isEntry: false, value: value[given] };
		});
	}
	if (typeof value !== 'string' || place.isOpened || value.length > left.text) return [];
	if (!/^\s*(?:\{.*\}|\[.*\])\s*$/s.test(value)) return [];
	left.text -= value.length;
	return placesIn({ ...place, value: parseJson(value), isOpened: true }, left);
}

export type Rule = (value: Value) => boolean;

export function firstBy(values: readonly Value[], rules: readonly Rule[]): Value | undefined {
	for (const rule of rules) {
		const found = values.find(rule);
		if (found) return found;
	}
	return undefined;
}

/** A value at exactly one of these dotted paths, in any spelling of their names. */
export function at(...paths: string[]): Rule {
	const plain = new Set(paths.map(plainPath));
	return ({ path }) => plain.has(path.join('.'));
}

const plainPath = (path: string) => path.split('.').map(plainName).join('.');

/** A value with one of these names, in any spelling, wherever it stands. */
export function named(...names: string[]): Rule {
	const plain = plainNames(...names);
	return ({ name }) => plain.has(name);
}
