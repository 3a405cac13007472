import { AdaptiveLimit } from '../client/adaptiveLimit';
import { type Gateway } from '../client/gateway';
import { UnusableResponse } from '../client/response';
import { type JsonObject } from '../json';
import { endpoints } from '../protocol/endpoints';
import { embeddingList, unequalLengths, type EmbeddingList } from './responses';

/** How texts are to be embedded. */
export interface Embedding {
	/**
	 * The request without its texts. Of its fields, `model` and `dimensions` are read here, too: the latter is the
	 * length of each vector, which is not in the specification, but many models accept it.
	 */
	fields: JsonObject;
	/** Maximum number of texts in one request. */
	batchSize: number;
	/** Milliseconds for one request. */
	timeout?: number;
	/** The vector length of each model, shared by calls whose vectors must be comparable. */
	lengths?: Map<string, number>;
}

/** Maximum number of requests in flight for one list of texts. */
export const maxParallelBatches = 5;

/**
 * The embeddings of any number of texts ("Endpoints" 6), in their order: one request for each batch, a few at a
 * time. When one fails, no more are sent and those in flight are aborted, since an incomplete list is of no use.
 * @throws GatewayError also when vectors of different responses differ in length
 */
export async function embed(
	gateway: Gateway,
	texts: string[],
	{ fields, batchSize, timeout, lengths = new Map() }: Embedding,
): Promise<EmbeddingList[]> {
	const abort = new AbortController();
	const { signal } = gateway.runtime;
	const abortableGateway = gateway.withSignal(
		signal ? AbortSignal.any([signal, abort.signal]) : abort.signal,
	);
	const { dimensions } = fields;
	const model = String(fields.model);
	const embedBatch = async (input: string[]) =>
		await abortableGateway.call({
			endpoint: endpoints.embedding,
			purpose: 'create the embeddings',
			body: { ...fields, input },
			timeout,
			parse(response) {
				const list = embeddingList(response, input.length);
				const foundLength = list.vectors[0].length;
				if (typeof dimensions === 'number' && foundLength !== dimensions) {
					throw new UnusableResponse(
						`has vectors of ${foundLength} numbers although dimensions is ${dimensions}: set what the model gives, or none`,
					);
				}
				// Whoever asks for a length has vectors that need not fit those of others.
				if (dimensions === undefined) {
					const length = lengths.get(model) ?? foundLength;
					if (foundLength !== length)
						throw new UnusableResponse(unequalLengths(length, foundLength));
					lengths.set(model, length);
				}
				return list;
			},
		});
	const limiter = new AdaptiveLimit(maxParallelBatches);
	const embedInTurn = async (input: string[]) =>
		await limiter.run(
			async () =>
				await embedBatch(input).catch((error: unknown) => {
					// Abort before the limiter starts the next batch, so that it is not sent.
					abort.abort(error);
					throw error;
				}),
		);
	return await Promise.all(batchesOf(texts, batchSize).map(embedInTurn));
}

function batchesOf<T>(entries: T[], size: number): T[][] {
	const count = Math.ceil(entries.length / size);
	return Array.from({ length: count }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}
