import { isObject, parseJson } from '../json';
import { maxFoundImages, maxReadEntries, maxReadValues } from '../protocol/bounds';
import { plainName } from './values';

/** What an answer has under one path: the entries of a list, or one value. */
interface Place {
	/** The names that lead to it, as the service spells them; positions in lists are left out. */
	path: readonly string[];
	entries: readonly unknown[];
	isList: boolean;
	/** Whether all names are such that what was ordered may be under them. */
	isUsual: boolean;
	/** Whether it has parts of the entries of a list. */
	isWithinList: boolean;
	/** Whether it was written as JSON in a text. Such a text is opened once. */
	isOpened: boolean;
}

/** Names under which services give what was ordered, or what is around it. */
const usualName =
	/^(?:data|outputs?|results?|response|resp|body|payload|predictions?|artifacts|generations?|candidates|choices|message|content|parts|items|list|float|images?(?:urls?|uris?|links?|base64|b64|list)?|urls?|embeddings?|vectors?|values|models?)$/;

/** Names of parts that are about something else than what was ordered. */
const otherName =
	/^(?:error|usage|request|inputs?|prompts?|user|account|billing|moderation|webhooks?|callbacks?|metadata|meta|logs?|thumbnails?|previews?)$/;

/** What comes first where an answer has several of these. */
const firstNames = ['data', 'images', 'embeddings', 'models', 'output', 'results'];
const orderOf = (name: string) => firstNames.indexOf(name) + 1 || firstNames.length + 1;

/**
 * The places of an answer: lists under usual names, single values under them, then all others; of each kind the least
 * nested first. What is beyond {@link maxReadValues} places and {@link maxReadEntries} fields is not looked at.
 */
export function placesIn(answer: unknown): Place[] {
	const start = { path: [], isUsual: true, isWithinList: false, isOpened: false };
	const places = [placeOf(start, [answer])];
	let room = maxReadEntries;
	for (let at = 0; at < places.length; at++) {
		const place = places[at];
		const within = new Map<string, unknown[]>();
		for (const entry of place.entries.slice(0, maxFoundImages).filter(isObject)) {
			const names = Object.keys(entry).slice(0, Math.max(room, 0));
			room -= names.length;
			for (const name of names) {
				if (typeof entry[name] !== 'string' && typeof entry[name] !== 'object') continue;
				const values = within.get(name);
				if (values) values.push(entry[name]);
				else within.set(name, [entry[name]]);
			}
		}
		const names = [...within.keys()].filter((name) => !otherName.test(plainName(name)));
		names.sort((one, other) => orderOf(one) - orderOf(other));
		for (const name of names.slice(0, maxReadValues - places.length)) {
			const isUsual = place.isUsual && usualName.test(plainName(name));
			const isWithinList = place.isWithinList || place.isList;
			const path = [...place.path, name];
			places.push(placeOf({ ...place, path, isUsual, isWithinList }, within.get(name) ?? []));
		}
	}
	const kindOf = ({ isUsual, isList }: Place) => (isUsual ? 0 : 2) + (isList ? 0 : 1);
	return places.sort((one, other) => kindOf(one) - kindOf(other));
}

/** @param values those of all entries around it */
function placeOf(around: Omit<Place, 'entries' | 'isList'>, values: unknown[]): Place {
	const opened = values.map((value) => (around.isOpened ? value : openedJson(value)));
	const isOpened = around.isOpened || opened.some((value, at) => value !== values[at]);
	const entries = opened.flatMap((value) => (isVector(value) ? [value] : value));
	return { ...around, isOpened, isList: opened.some(Array.isArray), entries };
}

/** Vectors are long: a list of numbers stays one value. */
const isVector = (value: unknown): boolean => Array.isArray(value) && typeof value[0] === 'number';

/** The value of a text that is JSON, and any other value as it is. */
function openedJson(value: unknown): unknown {
	const isJson = typeof value === 'string' && /^\s{0,9}[[{]/.test(value);
	return isJson ? (parseJson(value) ?? value) : value;
}
