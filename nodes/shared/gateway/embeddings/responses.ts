import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { isObject, asIndex, describeValue, textAt, valueAt } from '../json';

export interface EmbeddingList {
	/** In the order of the texts that were sent. */
	vectors: number[][];
	model?: string;
	usage?: unknown;
	requestId?: string;
}

/**
 * The vectors of an answer ("Endpoints" 6). Servers reorder, so `index` decides; numbers and base64 are
 * both taken, whichever was asked for.
 * @throws Unusable unless there is one vector for each of `count` texts, all of the same length
 */
export function embeddingList(answer: ServiceResponse, count: number): EmbeddingList {
	const entries = valueAt(answer.json, 'data');
	if (!Array.isArray(entries)) throw new UnusableResponse(describeBody(answer));
	if (entries.length !== count) {
		throw new UnusableResponse(`has ${entries.length} vectors for ${count} texts`);
	}
	const vectors = new Array<number[] | undefined>(count).fill(undefined);
	entries.forEach((entry, position) => {
		const given = isObject(entry) ? (entry.index ?? position) : position;
		const index = asIndex(given) ?? -1;
		if (!(index in vectors) || vectors[index] !== undefined) {
			const shown = describeValue(given);
			throw new UnusableResponse(
				`has no clear order: index ${shown} is out of range or there twice`,
			);
		}
		vectors[index] = vectorOf(isObject(entry) ? entry.embedding : entry, index);
	});
	const whole = vectors as number[][];
	const odd = whole.findIndex((vector) => vector.length !== whole[0].length);
	if (odd !== -1) {
		throw new UnusableResponse(unequal(whole[0].length, whole[odd].length));
	}
	return {
		vectors: whole,
		model: textAt(answer.json, 'model'),
		usage: valueAt(answer.json, 'usage'),
		requestId: answer.requestId,
	};
}

export const unequal = (one: number, other: number) =>
	`has vectors of ${one} and of ${other} numbers`;

function vectorOf(value: unknown, index: number): number[] {
	const vector = typeof value === 'string' ? fromBase64(value) : value;
	const isVector = Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite);
	if (!isVector) throw new UnusableResponse(`has no vector at index ${index}`);
	return vector as number[];
}

/** Little-endian 32-bit floats. Undefined when the text is not a whole number of them. */
export function fromBase64(text: string): number[] | undefined {
	if (!/^[\w+/-]+=*$/.test(text)) return undefined;
	const bytes = Buffer.from(text, 'base64');
	if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
	return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
