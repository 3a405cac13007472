import type { IDataObject, INodeType } from 'n8n-workflow';
import type { Embeddings } from '../../../nodes/EmbeddingsModelGateway/embeddings';
import { testNode } from './testNode';

/** A node `test.store` that uses its connected embeddings as a vector store does. @param use returns its output */
export const embeddingsUser = (
	use: (embeddings: Embeddings, input: IDataObject) => Promise<IDataObject>,
): INodeType => {
	const input = { type: 'ai_embedding', required: true, maxConnections: 1 } as const;
	return testNode('store', { inputs: ['main', input] }, async function () {
		const connected = await this.getInputConnectionData('ai_embedding', 0);
		const [{ json }] = this.getInputData();
		return [[{ json: await use(connected as Embeddings, json) }]];
	});
};
