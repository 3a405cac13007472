import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { modelGatewayApiTest } from '../shared/n8n/client/credentialCheck';
import { fields, keepRunningHint } from './fields';
import { durationHint, noInputHint } from './hints';
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
			'No input needed: unless it was stopped, the execution resumes by itself within a minute after the videos are ready, also after n8n restarts. Stop ends this wait, but no video: collect the videos by their job IDs.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelGatewayApi', required: true, testedBy: 'modelGatewayApiTest' }],
		hints: [
			durationHint,
			noInputHint,
			{
				message: keepRunningHint,
				displayCondition: "={{ $parameter.whileWaiting === 'hold' }}",
				whenToDisplay: 'beforeExecution',
				location: 'outputPane',
			},
		],
		builderHint: {
			searchHint:
				'It needs no loop, no Wait node and no Get Status: it polls, survives restarts and downloads by itself, and takes many items at once.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-model-gateway.modelGateway',
					relationHint: 'Creates the video: Reference Video: Create, or Video: Create',
				},
			],
		},
		properties: fields,
	};

	methods = { credentialTest: { modelGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await waitForVideos(this);
	}
}
