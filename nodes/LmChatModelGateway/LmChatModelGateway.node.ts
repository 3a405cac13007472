import type {
	INodeType,
	INodeTypeDescription,
	ISupplyDataFunctions,
	SupplyData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialCheck';
import { createGateway } from '../shared/n8n/client/gateway';
import { subNodeError } from '../shared/n8n/errors/nodeError';
import { searchModels } from '../shared/n8n/parameters/model';
import { valueAt } from '../shared/service/json';
import { aiNodeSdk } from './aiNodeSdk';
import { GatewayChatModel } from './chatModel';
import { patchLangChainModel, type LangChainModel } from './langChainModel';
import { properties, settingsOf } from './settings';

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
		const toNodeError = (error: unknown) => subNodeError(this.getNode(), error);
		try {
			const settings = settingsOf(this, itemIndex);
			const sdk = aiNodeSdk();
			const gateway = await createGateway(this);
			const schemaOf = sdk.getParametersJsonSchema;
			const model = new GatewayChatModel(settings, { gateway, schemaOf, toNodeError });
			const supplied = sdk.supplyModel(this, model).response as LangChainModel;
			const response = patchLangChainModel(supplied);
			// Makes the Basic LLM Chain parse the text as JSON and output the object.
			const format = valueAt(settings.fields.response_format, 'type');
			if (format === 'json_object' || format === 'json_schema')
				response.metadata = { output_format: 'json' };
			return { response };
		} catch (error) {
			throw toNodeError(error);
		}
	}
}
