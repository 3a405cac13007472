import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { linkNames } from '../shared/gateway/links';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialTest';
import { nodeProperties } from '../shared/n8n/operations/description';
import { runOperation } from '../shared/n8n/operations/run';
import { searchModels } from '../shared/n8n/parameters/model';
import { operations } from './resources';

export class ModelGateway implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Gateway',
		name: 'modelGateway',
		icon: { light: 'file:modelGateway.svg', dark: 'file:modelGateway.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description: 'Create videos, and use all other models of your Model Gateway',
		defaults: { name: 'Model Gateway' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		sensitiveOutputFields: linkNames,
		properties: nodeProperties(operations),
	};

	methods = { listSearch: { searchModels }, credentialTest: { modelGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
