import { embeddingCreate } from '../../../../../../nodes/ModelGateway/resources/embedding/create';
import {
	usageOf,
	vectorsOf,
	type EmbeddedBatch,
} from '../../../../../../nodes/shared/gateway/embeddings/embed';
import { type Call } from '../../../../../../nodes/shared/gateway/client/gateway';
import { GatewayError } from '../../../../../../nodes/shared/gateway/errors/gatewayError';
import type { ItemRun } from '../../../../../../nodes/shared/n8n/items/work';
import { answerOf } from '../../../../../support/data/answers';
import { fc } from '../../../../../support/data/fuzz';

const list = (embeddings: unknown[]) => ({
	data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
});

describe('the embeddings of many items', () => {
	const numberOf = (text: string) => Number(text.slice(1));
	const refusal = () =>
		new GatewayError({
			...{ message: 'refused', remedies: [], reach: 'answered', status: 400 },
			...{ refusal: 'badRequest', billed: 'no', retry_can_help: false },
		});

	/** A gateway that refuses texts that start with "!", and returns the vectors in reverse order. */
	function gatewayWith(sent: string[][]) {
		const call = async ({ body, parse }: Call<unknown>) => {
			const { input } = body as { input: string[] };
			sent.push(input);
			await Promise.resolve();
			if (input.some((text) => text.startsWith('!'))) throw refusal();
			const { data } = list(input.map((text) => [numberOf(text), 1]));
			return parse(answerOf({ data: data.reverse(), usage: { total_tokens: input.length } }));
		};
		const gateway = { call, runtime: {}, withSignal: () => gateway };
		// A batch reads nothing else from a run.
		return { gateway, context: {} } as unknown as ItemRun;
	}

	const items = fc
		.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
		.map((refused) => {
			let count = 0;
			return refused.map((flags) =>
				flags.map((isRefused) => `${isRefused && count % 3 === 0 ? '!' : 't'}${count++}`),
			);
		});
	const requestOf = (texts: string[], batchSize: number) => ({
		fields: { model: 'embed-1' },
		texts,
		isList: true,
		simplify: true,
		batchSize,
	});

	it('gives each item its own vectors, and fails only the items with refused texts', async () => {
		await fc.assert(
			fc.asyncProperty(items, fc.integer({ min: 1, max: 40 }), async (texts, batchSize) => {
				const sent: string[][] = [];
				const requests = texts.map((own) => requestOf(own, batchSize));
				const made = await embeddingCreate.batch?.perform(requests, gatewayWith(sent));
				expect(made).toHaveLength(texts.length);
				made?.forEach((outcome, item) => {
					if (texts[item].some((text) => text.startsWith('!'))) {
						expect(outcome).toBeInstanceOf(GatewayError);
					} else {
						expect(vectorsOf(outcome as EmbeddedBatch[])).toEqual(
							texts[item].map((text) => [numberOf(text), 1]),
						);
					}
				});
				expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(batchSize);
			}),
		);
	});

	it('sends the texts of all items in one request, and reports its tokens on the first item', async () => {
		const sent: string[][] = [];
		const requests = [['t1'], ['t2', 't3']].map((own) => requestOf(own, 100));
		const made = await embeddingCreate.batch?.perform(requests, gatewayWith(sent));
		expect(sent).toEqual([['t1', 't2', 't3']]);
		const usages = made?.map((outcome) => usageOf(outcome as EmbeddedBatch[]));
		expect(usages).toEqual([{ total_tokens: 3 }, undefined]);
	});

	it('reports the tokens of an item that is sent alone', async () => {
		const batches = await embeddingCreate.perform(requestOf(['t1', 't2'], 100), gatewayWith([]));
		expect(batches).toMatchObject([
			{
				vectors: [
					[1, 1],
					[2, 1],
				],
				fields: { usage: { total_tokens: 2 } },
			},
		]);
	});
});
