import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { asIndex, isObject, valueAt, without, withoutUndefined, type JsonObject } from '../json';

export interface EmbeddingList {
	/** In the order of the texts that were sent. */
	vectors: number[][];
	/** What the service says about each vector, in the same order. */
	entries: JsonObject[];
	/** The response without its vectors. */
	fields: ResponseFields;
}

/**
 * The vectors of a response ("Endpoints" 6). Servers may reorder them, so `index` decides; numbers and base64 are
 * both accepted, whichever was requested.
 * @throws UnusableResponse unless there is one vector for each of `count` texts, all of the same length
 */
export function embeddingList(response: ServiceResponse, count: number): EmbeddingList {
	const received = valueAt(response.json, 'data');
	if (!Array.isArray(received)) throw new UnusableResponse(describeBody(response));
	if (received.length !== count) {
		throw new UnusableResponse(`has ${received.length} vectors for ${count} texts`);
	}
	const entries = inOrder(received).map((entry) =>
		isObject(entry) ? entry : { embedding: entry },
	);
	const vectors = entries.map(({ embedding }, index) => vectorOf(embedding, index));
	const unequal = vectors.find((vector) => vector.length !== vectors[0].length);
	if (unequal) throw new UnusableResponse(unequalLengths(vectors[0].length, unequal.length));
	const fields = withoutUndefined({ ...(response.json as JsonObject), data: undefined });
	return {
		vectors,
		entries: entries.map((entry) => without(entry, ['embedding'])),
		fields: withRequestIds(fields, response),
	};
}

/**
 * The entries of a list in the order of their texts: by their indexes, whatever the first of them is. When these give no
 * order, it is that of arrival: the vectors are charged, and most servers keep the order.
 */
function inOrder(entries: unknown[]): unknown[] {
	const indexed = entries.map((entry) => ({
		entry,
		index: asIndex(valueAt(entry, 'index')) ?? NaN,
	}));
	const indexes = new Set(indexed.map(({ index }) => index));
	if (indexes.has(NaN) || indexes.size < entries.length) return entries;
	return indexed.sort((one, other) => one.index - other.index).map(({ entry }) => entry);
}

/**
 * The total usage of several responses: the sums of the fields that are numbers in all of them. Undefined when one of
 * the responses has no usage, because the sum would be too low.
 */
export function sumOfUsages(usages: unknown[]): unknown {
	if (usages.length < 2) return usages[0];
	if (!usages.every(isObject)) return undefined;
	const names = Object.keys(usages[0]).filter((name) =>
		usages.every((usage) => Number.isFinite(usage[name])),
	);
	const sumOf = (name: string) => usages.reduce((sum, usage) => sum + Number(usage[name]), 0);
	return Object.fromEntries(names.map((name) => [name, sumOf(name)]));
}

export const unequalLengths = (one: number, other: number) =>
	`has vectors of ${one} and of ${other} numbers`;

function vectorOf(value: unknown, index: number): number[] {
	const vector = typeof value === 'string' ? fromBase64(value) : value;
	const isVector = Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite);
	if (!isVector) throw new UnusableResponse(`has no vector at index ${index}`);
	return vector as number[];
}

/** Decodes little-endian 32-bit floats; undefined when the text is not a whole number of them. */
function fromBase64(text: string): number[] | undefined {
	if (!/^[\w+/-]+=*$/.test(text)) return undefined;
	const bytes = Buffer.from(text, 'base64');
	if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
	return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
