import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { linkNames } from '../shared/gateway/links';
import { fields, wiring } from './fields';
import { park } from './park';
import { hold } from './waitForVideo';

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
		outputs: `={{ $parameter.whileWaiting === 'park' ? [{ type: 'main', displayName: 'Still Running' }, { type: 'main', displayName: 'Completed' }] : ['main'] }}`,
		credentials: [{ name: 'modelGatewayApi', required: true }],
		sensitiveOutputFields: linkNames,
		hints: [
			{
				message: wiring,
				displayCondition: "={{ $parameter.whileWaiting === 'park' }}",
				whenToDisplay: 'beforeExecution',
				location: 'outputPane',
			},
		],
		properties: fields,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const isParked = this.getNodeParameter('whileWaiting', 0, 'hold') === 'park';
		return await (isParked ? park(this) : hold(this));
	}
}
