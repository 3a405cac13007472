import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { linkNames } from '../shared/gateway/links';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialTest';
import { fields, keepRunningHint } from './fields';
import { waitForVideos } from './waitForVideo';

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
		waitingNodeTooltip:
			'The videos are being made. n8n looks for them once a minute, and may be restarted meanwhile.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		sensitiveOutputFields: linkNames,
		hints: [
			{
				message: keepRunningHint,
				displayCondition: "={{ $parameter.whileWaiting === 'hold' }}",
				whenToDisplay: 'beforeExecution',
				location: 'outputPane',
			},
		],
		properties: fields,
	};

	methods = { credentialTest: { modelGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await waitForVideos(this);
	}
}
