import type {
	INodeType,
	INodeTypeDescription,
	ISupplyDataFunctions,
	SupplyData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialCheck';
import { subNodeError } from '../shared/n8n/errors/nodeError';
import { searchModels } from '../shared/n8n/parameters/model';
import { embeddingsOf } from './embeddings';
import { properties } from './settings';

export class EmbeddingsModelGateway implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Embeddings Model Gateway',
		name: 'embeddingsModelGateway',
		icon: {
			light: 'file:../ModelGateway/modelGateway.svg',
			dark: 'file:../ModelGateway/modelGateway.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["model"] }}',
		description: 'Use the embedding models of your Model Gateway in a vector store',
		defaults: { name: 'Embeddings Model Gateway' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiEmbedding],
		outputNames: ['Embeddings'],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		properties,
	};

	methods = { listSearch: { searchModels }, credentialTest: { modelGatewayApiTest } };

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		try {
			return { response: await embeddingsOf(this, itemIndex) };
		} catch (error) {
			throw subNodeError(this.getNode(), error);
		}
	}
}
