import { AdaptiveLimit } from '../client/adaptiveLimit';
import { anySignal } from '../client/timeouts';
import type { Gateway } from '../client/gateway';
import { UnusableResponse } from '../client/response';
import { GatewayError } from '../errors/gatewayError';
import { isObject, type JsonObject } from '../json';
import { endpoints } from '../protocol/endpoints';
import { embeddingList, unequalLengths, type EmbeddingList } from './responses';

export interface EmbedOptions {
	/**
	 * The request without its texts, unless the user gave them in another form as `input`. Many models accept
	 * `dimensions`, the length of each vector, which the specification does not have.
	 */
	fields: JsonObject;
	batchSize: number;
	/** Milliseconds for one request. */
	timeout?: number;
	/** The vector length of each model, for calls whose vectors must be comparable. */
	lengths?: Map<string, number>;
	/**
	 * The batches of an earlier try, whose texts are not sent again. New ones are added as they arrive, so that the caller
	 * has what was charged when a request fails.
	 */
	batches?: EmbeddedBatch[];
}

export interface EmbeddedBatch extends EmbeddingList {
	/** The places of its texts among all texts. */
	positions: number[];
}

/** Requests in flight for one list of texts. */
export const maxParallelBatches = 5;

/**
 * The embeddings of any number of texts ("Endpoints" 6), in their order. When a request fails, no more are sent. Those
 * in flight may finish when their batches are kept; otherwise they are aborted, because an incomplete list is useless.
 * @throws GatewayError also when vectors of different responses differ in length
 */
export async function embed(
	gateway: Gateway,
	texts: unknown[],
	{ fields, batchSize, timeout, lengths = new Map(), batches }: EmbedOptions,
): Promise<EmbeddedBatch[]> {
	const abort = new AbortController();
	const abortable = gateway.with({ signal: anySignal(gateway.runtime.signal, abort.signal) });
	const model = String(fields.model);
	const received = batches ?? [];
	if (received.length > 0 && fields.dimensions === undefined && !lengths.has(model)) {
		lengths.set(model, received[0].vectors[0].length);
	}
	const present = new Set(received.flatMap(({ positions }) => positions));
	const missing = [...texts.keys()].filter((position) => !present.has(position));
	const failures: unknown[] = [];
	const limiter = new AdaptiveLimit(maxParallelBatches);
	await limiter.forEach(batchesOf(missing, batchSize), async (positions) => {
		if (failures.length > 0) return;
		try {
			const list = await abortable.call({
				endpoint: endpoints.embedding,
				purpose: 'create the embeddings',
				body: { input: positions.map((position) => texts[position]), ...fields },
				timeout,
				parse(response) {
					const parsed = embeddingList(response, positions.length);
					checkLength(parsed.vectors[0].length, fields, lengths);
					return parsed;
				},
			});
			received.push({ ...list, positions });
		} catch (error) {
			failures.push(error);
			if (!batches) abort.abort(error);
		}
	});
	// A failure that may be charged is the one to report, so that no later try sends its request again.
	const failure = (batches && failures.find(mayBeBilled)) ?? failures[0];
	if (failure !== undefined) throw failure;
	return [...received].sort((one, other) => one.positions[0] - other.positions[0]);
}

/** @throws UnusableResponse when the length of vectors is not `dimensions`, or not that of the responses before */
function checkLength(
	found: number,
	{ model, dimensions }: JsonObject,
	lengths: Map<string, number>,
): void {
	if (typeof dimensions === 'number' && found !== dimensions) {
		throw new UnusableResponse(
			`has vectors of ${found} numbers although dimensions is ${dimensions}: set what the model gives, or none`,
		);
	}
	// With `dimensions` set, the vectors need not have the length of the others.
	if (dimensions !== undefined) return;
	const length = lengths.get(String(model)) ?? found;
	if (found !== length) throw new UnusableResponse(unequalLengths(length, found));
	lengths.set(String(model), length);
}

const mayBeBilled = (error: unknown) =>
	error instanceof GatewayError && error.failure.billed !== 'no';

/** The vectors of all batches, in the order of their texts. */
export function vectorsOf(batches: EmbeddedBatch[]): number[][] {
	const vectors: number[][] = [];
	for (const batch of batches) {
		batch.positions.forEach((position, index) => (vectors[position] = batch.vectors[index]));
	}
	return vectors;
}

/**
 * The total usage of all batches: the sums of the fields that are numbers in all of them. Undefined when a batch has no
 * usage, because the sum would be too low.
 */
export function usageOf(batches: EmbeddedBatch[]): unknown {
	const usages = batches.map(({ fields }) => fields.usage);
	if (usages.length < 2) return usages[0];
	if (!usages.every(isObject)) return undefined;
	const names = Object.keys(usages[0]).filter((name) =>
		usages.every((usage) => Number.isFinite(usage[name])),
	);
	const sumOf = (name: string) => usages.reduce((sum, usage) => sum + Number(usage[name]), 0);
	return Object.fromEntries(names.map((name) => [name, sumOf(name)]));
}

function batchesOf<T>(entries: T[], size: number): T[][] {
	const count = Math.ceil(entries.length / size);
	return Array.from({ length: count }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}
