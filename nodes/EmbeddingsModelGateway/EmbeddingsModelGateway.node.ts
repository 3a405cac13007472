import type {
	INodeType,
	INodeTypeDescription,
	ISupplyDataFunctions,
	SupplyData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { endpoints } from '../shared/gateway/protocol/endpoints';
import { modelField, searchModels } from '../shared/n8n/parameters/model';
import { batchSizeOption, optionsField, timeoutOption } from '../shared/n8n/parameters/options';
import { embeddingsOf } from './embeddings';

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
		description: 'Give a vector store the embedding models of your Model Gateway',
		defaults: { name: 'Embeddings Model Gateway' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiEmbedding],
		outputNames: ['Embeddings'],
		credentials: [{ name: 'modelGatewayApi', required: true }],
		properties: [
			modelField(),
			optionsField([
				batchSizeOption,
				{
					displayName: 'Dimensions',
					name: 'dimensions',
					type: 'number',
					default: 1024,
					typeOptions: { minValue: 1 },
					description:
						'How many numbers each vector has, for models that let you choose. Vectors of another length are refused.',
				},
				{
					displayName: 'Strip New Lines',
					name: 'stripNewLines',
					type: 'boolean',
					default: true,
					description: 'Whether to turn line breaks into spaces before a text is embedded',
				},
				timeoutOption(endpoints.embedding),
			]),
		],
	};

	methods = { listSearch: { searchModels } };

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return { response: await embeddingsOf(this, itemIndex) };
	}
}
