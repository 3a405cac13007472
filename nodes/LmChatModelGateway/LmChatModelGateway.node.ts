import type {
	INodeType,
	INodeTypeDescription,
	ISupplyDataFunctions,
	SupplyData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialCheck';
import { searchModels } from '../shared/n8n/parameters/model';
import { properties } from './settings';
import { supplyChatModel } from './supplyChatModel';

export class LmChatModelGateway implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Gateway Chat Model',
		name: 'lmChatModelGateway',
		icon: {
			light: 'file:../ModelGateway/modelGateway.svg',
			dark: 'file:../ModelGateway/modelGateway.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["model"] }}',
		description: 'Use the chat models of your Model Gateway in AI agents and chains',
		defaults: { name: 'Model Gateway Chat Model' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiLanguageModel],
		outputNames: ['Model'],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		properties,
	};

	methods = { listSearch: { searchModels }, credentialTest: { modelGatewayApiTest } };

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return await supplyChatModel(this, itemIndex);
	}
}
