import { AdaptiveLimit } from '../client/adaptiveLimit';
import { type Gateway } from '../client/gateway';
import { UnusableResponse } from '../client/response';
import { withoutUndefined } from '../json';
import { endpoints } from '../protocol/endpoints';
import { embeddingList, unequal, type EmbeddingList } from './responses';

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
export const maxParallelBatches = 5;

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
	const { signal } = gateway.runtime;
	const own = gateway.withSignal(
		signal ? AbortSignal.any([signal, failure.signal]) : failure.signal,
	);
	const request = async (input: string[]) =>
		await own.call({
			endpoint: endpoints.embedding,
			purpose: 'create the embeddings',
			body: { model, input, ...withoutUndefined({ encoding_format, dimensions }) },
			timeout,
			parse(answer) {
				const list = embeddingList(answer, input.length);
				const found = list.vectors[0].length;
				if (dimensions !== undefined && found !== dimensions) {
					throw new UnusableResponse(
						`has vectors of ${found} numbers although dimensions is ${dimensions}: set what the model gives, or none`,
					);
				}
				const length = lengths.get(model) ?? found;
				if (found !== length) throw new UnusableResponse(unequal(length, found));
				lengths.set(model, length);
				return list;
			},
		});
	const slots = new AdaptiveLimit(maxParallelBatches);
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
