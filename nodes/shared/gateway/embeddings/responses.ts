import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import {
	asIndex,
	describeValue,
	isObject,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../json';

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
	const entries = valueAt(response.json, 'data');
	if (!Array.isArray(entries)) throw new UnusableResponse(describeBody(response));
	if (entries.length !== count) {
		throw new UnusableResponse(`has ${entries.length} vectors for ${count} texts`);
	}
	const vectors = new Array<number[] | undefined>(count).fill(undefined);
	const others = new Array<JsonObject>(count);
	entries.forEach((entry, position) => {
		const givenIndex = isObject(entry) ? (entry.index ?? position) : position;
		const index = asIndex(givenIndex) ?? -1;
		if (!(index in vectors) || vectors[index] !== undefined) {
			const describedIndex = describeValue(givenIndex);
			throw new UnusableResponse(
				`has no clear order: index ${describedIndex} is out of range or there twice`,
			);
		}
		const { embedding, ...other } = isObject(entry) ? entry : { embedding: entry };
		vectors[index] = vectorOf(embedding, index);
		others[index] = other;
	});
	const complete = vectors as number[][];
	const unequalIndex = complete.findIndex((vector) => vector.length !== complete[0].length);
	if (unequalIndex !== -1) {
		throw new UnusableResponse(unequalLengths(complete[0].length, complete[unequalIndex].length));
	}
	const fields = withoutUndefined({ ...(response.json as JsonObject), data: undefined });
	return { vectors: complete, entries: others, fields: withRequestIds(fields, response) };
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
export function fromBase64(text: string): number[] | undefined {
	if (!/^[\w+/-]+=*$/.test(text)) return undefined;
	const bytes = Buffer.from(text, 'base64');
	if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
	return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
