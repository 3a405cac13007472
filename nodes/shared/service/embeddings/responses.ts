import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { asIndex, isObject, parseJson, valueAt, without, type JsonObject } from '../json';
import { named, read } from '../reader/values';

export interface EmbeddingList {
	/** In the order of the texts that were sent. */
	vectors: number[][];
	/** The service's fields about each vector. */
	entries: JsonObject[];
	/** The response without its vectors. */
	fields: ResponseFields;
}

/**
 * The vectors of a response ("Endpoints" 6), wherever it has them, as numbers or base64, whichever was requested.
 * @throws UnusableResponse unless there is one vector for each of `count` texts, all of the same length
 */
export function embeddingList(response: ServiceResponse, count: number): EmbeddingList {
	const { json } = response;
	const { lists, values } = read(json);
	const text = values.find(named('embedding'));
	const usual = lists.filter(({ isUsual }) => isUsual);
	// A list of words or numbers beside that of the specification may look like vectors, too.
	const found =
		usual.find(({ entries }) => entries.some((entry) => isObject(entry) && hasVector(entry))) ??
		usual.find(({ entries }) => entries.some(hasVector)) ??
		lists.find(({ entries }) => entries.some(isVector)) ??
		(text && { entries: [text.value], path: text.names });
	if (found === undefined) throw new UnusableResponse(describeBody(response));
	const mayRepeat = found.entries.length > count || hasStrayIndexes(found.entries);
	const given = mayRepeat ? withoutRepetitions(found.entries) : found.entries;
	if (given.length !== count) {
		throw new UnusableResponse(`has ${given.length} vectors for ${count} texts`);
	}
	const entries = inOrder(given);
	const vectors = entries.map(vectorOf);
	const unequal = vectors.find((vector) => vector.length !== vectors[0].length);
	if (unequal) throw new UnusableResponse(unequalLengths(vectors[0].length, unequal.length));
	return {
		vectors,
		entries: entries.map((entry) => (isObject(entry) ? withoutVector(entry) : {})),
		fields: withRequestIds(isObject(json) ? without(json, found.path) : {}, response),
	};
}

const vectorNames = ['embedding', 'vector', 'values'];
const withoutVector = (entry: JsonObject) =>
	vectorNames.reduce((fields, name) => without(fields, [name]), entry);

/** The entry itself, or one of its fields. A list of one vector is that vector. */
function vectorIn(entry: unknown): unknown {
	const vector = isObject(entry)
		? vectorNames.map((name) => entry[name]).find((value) => value !== undefined)
		: entry;
	const isOne = Array.isArray(vector) && vector.length === 1 && Array.isArray(vector[0]);
	return isOne ? (vector[0] as unknown) : isObject(vector) ? vectorIn(vector) : vector;
}

function hasVector(entry: unknown): boolean {
	const vector = vectorIn(entry);
	// The beginning of a text shows whether it may be base64 or numbers.
	const isText =
		typeof vector === 'string' &&
		/^(?:[\w+/\r\n-]{5,}=*|\[?-?\d[^]*)$/.test(vector.slice(0, 99).trim());
	return Array.isArray(vector) || isText;
}

const isVector = (entry: unknown) =>
	Array.isArray(entry) && entry.length > 1 && entry.every(Number.isFinite);

const indexOf = (entry: unknown) =>
	asIndex(valueAt(entry, 'index') ?? valueAt(entry, 'text_index'));

/**
 * By their indexes, whatever the first of them is: servers may reorder vectors. Indexes that give no order are ignored:
 * the vectors are charged, and most servers keep the order.
 */
function inOrder(entries: readonly unknown[]): readonly unknown[] {
	const indexed = entries.map((entry) => ({ entry, index: indexOf(entry) ?? NaN }));
	const indexes = new Set(indexed.map(({ index }) => index));
	if (indexes.has(NaN) || indexes.size < entries.length) return entries;
	return indexed.sort((one, other) => one.index - other.index).map(({ entry }) => entry);
}

/** Whether an index comes again. Those of batches that a gateway has put together do so in turns. */
function hasStrayIndexes(entries: readonly unknown[]): boolean {
	const indexes = entries.map(indexOf);
	const length = indexes.indexOf(indexes[0], 1);
	const areInTurns = length > 0 && indexes.every((index, at) => index === indexes[at % length]);
	return !areInTurns && new Set(indexes).size < indexes.length;
}

/** A text may have the vector of another one, but not its index. */
function withoutRepetitions(entries: readonly unknown[]): readonly unknown[] {
	const known = new Set<string>();
	return entries.filter((entry) => {
		const json = JSON.stringify(entry);
		const isRepeated = indexOf(entry) !== undefined && known.has(json);
		known.add(json);
		return !isRepeated;
	});
}

export const unequalLengths = (one: number, other: number) =>
	`has vectors of ${one} and of ${other} numbers`;

function vectorOf(entry: unknown, index: number): number[] {
	const value = vectorIn(entry);
	const vector = typeof value === 'string' ? fromText(value) : asNumbers(value);
	const isUsable = Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite);
	if (!isUsable) throw new UnusableResponse(`has no vector at index ${index}`);
	return vector as number[];
}

/** Some services write numbers as texts. */
const asNumbers = (vector: unknown): unknown =>
	Array.isArray(vector) && typeof vector[0] === 'string' ? vector.map(Number) : vector;

/** In base64, as JSON, or with commas between the numbers. */
const fromText = (text: string): unknown =>
	/[[,]/.test(text) ? parseJson(text.startsWith('[') ? text : `[${text}]`) : fromBase64(text);

/** Only bytes that are no floats give a larger number: some models send integers of one byte, or bits. */
const maxNumber = 1e30;

/** Decodes little-endian 32-bit floats, perhaps in lines. */
function fromBase64(text: string): number[] | undefined {
	if (!/^[\w+/\r\n-]+=*$/.test(text.trim())) return undefined;
	const bytes = Buffer.from(text, 'base64');
	if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
	const numbers = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
	return numbers.every((number) => Math.abs(number) < maxNumber) ? numbers : undefined;
}
