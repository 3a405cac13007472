import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { runItems } from '../shared/n8n/items';
import { fields } from './fields';
import { waitForVideo } from './waitForVideo';

export class ModelGatewayWaitForVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Wait for Video',
		name: 'modelGatewayWaitForVideo',
		icon: {
			light: 'file:modelGatewayWaitForVideo.svg',
			dark: 'file:modelGatewayWaitForVideo.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["download"] ? "and download it" : "link only" }}',
		description: 'Wait until videos of your Model Gateway are finished, and download them',
		defaults: { name: 'Wait for Video' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelGatewayApi', required: true }],
		properties: fields,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		// All jobs run at the service anyway: none of them is to wait for another one here.
		return await runItems(this, waitForVideo(this), Infinity);
	}
}
