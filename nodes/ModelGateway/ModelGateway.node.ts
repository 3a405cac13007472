import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialCheck';
import { nodeProperties, orderHint, subtitleOf } from '../shared/n8n/operations/description';
import { runOperation } from '../shared/n8n/operations/operation';
import { searchModels } from '../shared/n8n/parameters/model';
import { operations } from './resources';
import { missingMediaHint } from './resources/referenceVideo/create';

export class ModelGateway implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Gateway',
		name: 'modelGateway',
		icon: { light: 'file:modelGateway.svg', dark: 'file:modelGateway.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: subtitleOf(operations),
		description: 'Create videos, and use all other models of your Model Gateway',
		defaults: { name: 'Model Gateway' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		hints: [orderHint, missingMediaHint],
		builderHint: {
			searchHint:
				'Reference Video: Create (from images and clips) and Video: Create (from text) only start a paid job. Never create again to look at a job.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-model-gateway.modelGatewayWaitForVideo',
					relationHint:
						'Directly behind a Create of a video: waits until it is finished, and downloads it',
				},
			],
		},
		properties: nodeProperties(operations),
	};

	methods = { listSearch: { searchModels }, credentialTest: { modelGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
