import { complaint } from './answers';
import { defined, isObject, placeAt, shownAs, textAt, valueAt } from './json';
import { endpoints } from './protocol';
import { Slots } from './slots';
import { Unusable, type Answer, type Gateway } from './transport';

/** How texts are to be embedded. */
export interface Embedding {
	model: string;
	/** Sent only when set, as are the dimensions: answers are read in either form. */
	encodingFormat?: string;
	/** Length of each vector. The specification does not know the field; many models do. */
	dimensions?: number;
	/** Most texts in one request. */
	batchSize: number;
	/** Milliseconds for one request. */
	timeout?: number;
	/** The length of each model's vectors, for calls whose vectors belong together. */
	lengths?: Map<string, number>;
}

/** Requests for the texts of one list that are in flight at most. */
export const parallelBatches = 5;

/**
 * The answers for any number of texts ("Endpoints" 6), in their order: as many requests as the batch
 * size makes necessary, a few at a time. When one fails no more are sent, and those under way are given up:
 * their vectors are of no use alone.
 * @throws GatewayError also when vectors of different answers differ in length
 */
export async function embed(
	gateway: Gateway,
	texts: string[],
	{
		model,
		encodingFormat: encoding_format,
		dimensions,
		batchSize,
		timeout,
		lengths = new Map(),
	}: Embedding,
): Promise<EmbeddingList[]> {
	const failure = new AbortController();
	const { signal } = gateway.world;
	const own = gateway.withSignal(
		signal ? AbortSignal.any([signal, failure.signal]) : failure.signal,
	);
	const request = async (input: string[]) =>
		await own.call({
			endpoint: endpoints.embedding,
			purpose: 'create the embeddings',
			body: { model, input, ...defined({ encoding_format, dimensions }) },
			timeout,
			parse(answer) {
				const list = embeddingList(answer, input.length);
				const found = list.vectors[0].length;
				if (dimensions !== undefined && found !== dimensions) {
					throw new Unusable(
						`has vectors of ${found} numbers although Dimensions is ${dimensions}: set what the model gives, or take the option away`,
					);
				}
				const length = lengths.get(model) ?? found;
				if (found !== length) throw new Unusable(unequal(length, found));
				lengths.set(model, length);
				return list;
			},
		});
	const slots = new Slots(parallelBatches);
	const inTurn = async (input: string[]) =>
		await slots.run(
			async () =>
				await request(input).catch((error: unknown) => {
					// Before the slot is free: whoever is next must not be sent.
					failure.abort(error);
					throw error;
				}),
		);
	return await Promise.all(chunks(texts, batchSize).map(inTurn));
}

function chunks<T>(entries: T[], size: number): T[][] {
	const count = Math.ceil(entries.length / size);
	return Array.from({ length: count }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}

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
export function embeddingList(answer: Answer, count: number): EmbeddingList {
	const entries = valueAt(answer.json, 'data');
	if (!Array.isArray(entries)) throw new Unusable(complaint(answer));
	if (entries.length !== count) {
		throw new Unusable(`has ${entries.length} vectors for ${count} texts`);
	}
	const vectors = new Array<number[] | undefined>(count).fill(undefined);
	entries.forEach((entry, position) => {
		const given = isObject(entry) ? (entry.index ?? position) : position;
		const index = placeAt(given) ?? -1;
		if (!(index in vectors) || vectors[index] !== undefined) {
			const shown = shownAs(given);
			throw new Unusable(`has no clear order: index ${shown} is out of range or there twice`);
		}
		vectors[index] = vectorOf(isObject(entry) ? entry.embedding : entry, index);
	});
	const whole = vectors as number[][];
	const odd = whole.findIndex((vector) => vector.length !== whole[0].length);
	if (odd !== -1) {
		throw new Unusable(unequal(whole[0].length, whole[odd].length));
	}
	return {
		vectors: whole,
		model: textAt(answer.json, 'model'),
		usage: valueAt(answer.json, 'usage'),
		requestId: answer.requestId,
	};
}

const unequal = (one: number, other: number) => `has vectors of ${one} and of ${other} numbers`;

function vectorOf(value: unknown, index: number): number[] {
	const vector = typeof value === 'string' ? fromBase64(value) : value;
	const isVector = Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite);
	if (!isVector) throw new Unusable(`has no vector at index ${index}`);
	return vector as number[];
}

/** Little-endian 32-bit floats. Undefined when the text is not a whole number of them. */
export function fromBase64(text: string): number[] | undefined {
	if (!/^[\w+/-]+=*$/.test(text)) return undefined;
	const bytes = Buffer.from(text, 'base64');
	if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
	return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
