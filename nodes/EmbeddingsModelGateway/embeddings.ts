import type { IDataObject, ISupplyDataFunctions } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { AdaptiveLimit } from '../shared/service/client/adaptiveLimit';
import { embed, maxParallelBatches, usageOf, vectorsOf } from '../shared/service/embeddings/embed';
import { GatewayError } from '../shared/service/errors/gatewayError';
import { withoutUndefined } from '../shared/service/json';
import { tokenUsageOf } from '../shared/n8n/agent/tokenUsage';
import { createGateway, type N8nGateway } from '../shared/n8n/client/gateway';
import { joinFirst } from '../shared/n8n/errors/badInput';
import { subNodeError } from '../shared/n8n/errors/nodeError';
import { settingsOf, type Settings } from './settings';

/** As n8n's vector stores call it. */
export interface Embeddings {
	embedDocuments(documents: string[]): Promise<number[][]>;
	embedQuery(query: string): Promise<number[]>;
}

const connection = NodeConnectionTypes.AiEmbedding;

/** @throws GatewayError when a parameter or the credential cannot be used */
export async function embeddingsOf(
	context: ISupplyDataFunctions,
	item: number,
): Promise<Embeddings> {
	const settings = settingsOf(context, item);
	const gateway = await createGateway(context, { limiter: new AdaptiveLimit(maxParallelBatches) });
	return {
		embedDocuments: async (documents) =>
			await withRunLog(context, { documents }, async () => {
				checkDocuments(documents);
				const { vectors, usage } = await embedTexts(gateway, documents, settings);
				return { response: vectors, usage };
			}),
		embedQuery: async (query) =>
			await withRunLog(context, { query }, async () => {
				if (isEmpty(query)) throw emptyTextError('The query is empty');
				const { vectors, usage } = await embedTexts(gateway, [query], settings);
				return { response: vectors[0], usage };
			}),
	};
}

async function embedTexts(
	gateway: N8nGateway,
	texts: string[],
	{ stripNewLines, ...embedding }: Settings,
): Promise<{ vectors: number[][]; usage: unknown }> {
	const input = stripNewLines ? texts.map((text) => text.replace(/\r?\n/g, ' ')) : texts;
	const batches = await embed(gateway, input, embedding);
	return { vectors: vectorsOf(batches), usage: usageOf(batches) };
}

function checkDocuments(documents: string[]): void {
	const empty = documents.flatMap((text, index) => (isEmpty(text) ? [String(index + 1)] : []));
	if (empty.length === 0) return;
	throw emptyTextError(`Of ${documents.length} documents, these are empty: ${joinFirst(empty)}`);
}

/** Takes `unknown`, because an expression or an agent can pass anything. */
function isEmpty(text: unknown): boolean {
	return typeof text !== 'string' || text.trim() === '';
}

function emptyTextError(message: string): GatewayError {
	return new GatewayError({
		message,
		advice:
			'Nothing was sent and nothing was charged. There is no embedding of an empty text: leave it out before this step, for example with a Filter node, and check the expression or the tool call that it comes from.',
	});
}

/** Shows the input, output and tokens of a call in n8n's run log. */
async function withRunLog<T extends number[] | number[][]>(
	context: ISupplyDataFunctions,
	payload: IDataObject,
	run: () => Promise<{ response: T; usage: unknown }>,
): Promise<T> {
	const { index } = context.addInputData(connection, [[{ json: payload }]]);
	try {
		const { response, usage } = await run();
		const tokenUsage = tokenUsageOf(usage);
		const json = withoutUndefined({ response, tokenUsage }) as IDataObject;
		context.addOutputData(connection, index, [[{ json }]]);
		return response;
	} catch (error) {
		const nodeError = subNodeError(context.getNode(), error);
		context.addOutputData(connection, index, nodeError);
		throw nodeError;
	}
}
