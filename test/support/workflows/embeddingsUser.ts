import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import type { Embeddings } from '../../../nodes/EmbeddingsModelGateway/embeddings';

/** A node `test.store` that uses its connected embeddings as a vector store does. @param use returns its output */
export const embeddingsUser = (
	use: (embeddings: Embeddings, input: IDataObject) => Promise<IDataObject>,
): INodeType => ({
	description: {
		...{ displayName: 'Store', name: 'store', group: ['transform'], version: 1 },
		...{ description: 'Asks for embeddings', defaults: { name: 'Store' } },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiEmbedding, required: true, maxConnections: 1 },
		],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute(this: IExecuteFunctions) {
		const connected = await this.getInputConnectionData(NodeConnectionTypes.AiEmbedding, 0);
		const [{ json }] = this.getInputData();
		return [[{ json: await use(connected as Embeddings, json) }]];
	},
});
